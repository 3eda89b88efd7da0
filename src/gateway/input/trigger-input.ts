/** Triggers given to the API: checked like a definition's triggers, with their secrets taken out. */

import { z } from 'zod';
import { emptyFindings } from '../../check/analysis.ts';
import { checkTriggers } from '../../check/triggers.ts';
import { hookProblems } from '../../client/triggers/hook-config.ts';
import type { TriggerSpec } from '../../contract/triggers/trigger.ts';
import { type ClearSecret, extractSecrets } from '../../definition/document/extract-secrets.ts';
import { withCanonicalTimezone } from '../../definition/document/time-zones.ts';
import type { Definition, Problem } from '../../definition/document/types.ts';
import { TRIGGER_TYPES } from '../../definition/document/types.ts';
import { asJson } from '../../json/json.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { anyJson, nameText, shownName, slugText } from '../validation/validation.ts';

const types = z.enum(TRIGGER_TYPES);
const members = z.record(nameText(200), anyJson);

const shared = {
  enabled: z.boolean().optional().describe('Default: true.'),
  config: members
    .optional()
    .describe('The config of its type, as in a definition. A secret in clear is stored encrypted and never returned.'),
  variableMapping: z
    .record(nameText(200), z.string().max(50_000))
    .nullish()
    .describe("The run's input, key by key: `$.a.b`, or a template over body, query, headers and params."),
  targetState: members.nullish().describe('Initial values of the state.'),
};

/** A JSON Schema: `config` has these members. */
const inConfig = (properties: { readonly [name: string]: object }) => ({
  required: ['config'],
  properties: { config: { required: Object.keys(properties), properties } },
});

export const triggerBody = z
  .strictObject({
    workflowId: slugText
      .nullish()
      .describe(
        'The workflow that it starts. A schedule whose target is the orchestrator needs none; null means absent.',
      ),
    name: shownName(200).describe('Unique among the triggers of its workflow; its id is made of both.'),
    type: types.optional().describe('The type may be here or in `config`.'),
    ...shared,
  })
  .meta({
    allOf: [
      { anyOf: [{ required: ['type'] }, inConfig({ type: { enum: [...TRIGGER_TYPES] } })] },
      {
        anyOf: [
          { required: ['workflowId'], properties: { workflowId: { type: 'string' } } },
          inConfig({ target: { const: 'orchestrator' } }),
        ],
      },
    ],
  });

export const triggerPatch = z.strictObject({
  name: shownName(200).optional().describe('The displayed name. Changing it does not change the id.'),
  ...shared,
  config: members
    .optional()
    .describe(
      'The members to change, as a JSON merge patch (RFC 7396): others stay, also within objects, and null ' +
        'removes a member. A secret in clear is stored encrypted and never returned.',
    ),
});

type TriggerMembers = z.infer<typeof triggerPatch>;

/** A valid trigger, and the secrets to store before it. */
interface CheckedTrigger {
  readonly spec: TriggerSpec;
  readonly secrets: readonly ClearSecret[];
}

/** The type of a trigger, which agent-ops writes into its config. @throws HttpProblem `invalid_trigger`. */
export function typeOf(body: z.infer<typeof triggerBody>): TriggerSpec['type'] {
  const given = types.safeParse(body.type ?? body.config?.['type']);
  if (given.success) return given.data;
  throw refused([{ pointer: '/type', code: 'invalid_value', message: `Expected one of ${types.options.join(', ')}.` }]);
}

/**
 * The changed trigger: the given members replace the present ones. Null removes a member.
 * @throws HttpProblem `invalid_trigger` with the problems. Their pointers are relative to the trigger.
 */
export function checkTrigger(
  workflow: string,
  before: Pick<TriggerSpec, 'type' | 'name'> & Partial<TriggerSpec>,
  given: TriggerMembers,
): CheckedTrigger {
  const { config, variableMapping, targetState } = { ...before, ...given };
  const { type: _type, ...rest } = config ?? {};
  const written = {
    name: given.name ?? before.name,
    type: before.type,
    enabled: given.enabled ?? before.enabled ?? true,
    config: rest,
    ...(variableMapping == null ? {} : { variableMapping }),
    ...(targetState == null ? {} : { targetState }),
  };
  const {
    document,
    secrets,
    problems: unstorable,
  } = extractSecrets({ slug: workflow, triggers: [withCanonicalTimezone(asJson(written))] });
  const [spec] = document['triggers'] as unknown as [TriggerSpec];
  const problems = [...problemsOf(spec), ...relativeToTrigger(unstorable)];
  if (problems.length > 0) throw refused(problems);
  return { spec, secrets };
}

function problemsOf(spec: TriggerSpec): Problem[] {
  const asDefinition = { name: 'a trigger', slug: 'a-trigger', steps: {}, triggers: [spec] } satisfies Definition;
  const found = emptyFindings();
  checkTriggers(asDefinition, found);
  const { problems } = found;
  if (problems.length === 0) problems.push(...hookProblems(asDefinition));
  return relativeToTrigger(problems);
}

const relativeToTrigger = (problems: readonly Problem[]): Problem[] =>
  problems.map((one) => ({ ...one, pointer: one.pointer.replace(/^\/triggers\/0/, '') }));

function refused(problems: readonly Problem[]): HttpProblem {
  const [first] = problems;
  const detail = first === undefined ? 'It cannot be read.' : `${first.message} (${first.pointer || '/'})`;
  return new HttpProblem('invalid_trigger', `The trigger has problems: ${detail}`, { problems });
}
