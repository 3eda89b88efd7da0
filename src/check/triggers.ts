/** Checks triggers: the config of each type, and that names are unique (LANGUAGE.md §10). */

import { z } from 'zod';
import { WEBHOOK_SCHEMES } from '../contract/triggers/webhook-scheme.ts';
import { overlongStep, parseCron } from '../definition/document/cron.ts';
import { timezoneProblem } from '../definition/document/time-zones.ts';
import type { Definition, TriggerDefinition } from '../definition/document/types.ts';
import { zodProblems } from '../definition/document/zod-problems.ts';
import { childPointer } from '../json/pointer.ts';
import { hintOf } from '../steps/compile/report.ts';
import { type CalendarDuration, parseDuration } from '../template/duration.ts';
import { type Expression, parseExpression } from '../template/expression.ts';
import { references } from '../template/references.ts';
import { parseTemplate, type Template } from '../template/template.ts';
import { TemplateError } from '../template/types.ts';
import type { Findings } from './analysis.ts';
import { FILTER_ROOTS, MAPPING_ROOTS, unavailableRootProblems } from './pre-run-roots.ts';

let cachedSchemas: { readonly [type in TriggerDefinition['type']]: z.ZodType } | undefined;

/** The config of each type of trigger; secrets are references here (`{secretRef}`). */
export function triggerSchemas(): { readonly [type in TriggerDefinition['type']]: z.ZodType } {
  cachedSchemas ??= buildSchemas();
  return cachedSchemas;
}

export function checkTriggers({ triggers = [], config = {} }: Definition, { problems, warnings }: Findings): void {
  // The compiler does not see these templates, which belong to no step.
  for (const member of ['concurrency', 'debounce'] as const) {
    const key = config[member]?.key;
    if (key?.includes('{{') === true) checkSource(() => parseTemplate(key), `/config/${member}/key`, problems);
  }
  const names = new Set<string>();
  for (const [index, trigger] of triggers.entries()) {
    const at = childPointer('/triggers', index);
    if (names.has(trigger.name))
      problems.add(
        `${at}/name`,
        'duplicate_trigger',
        `Two triggers have the name "${trigger.name.slice(0, 80)}".`,
        'Give each trigger a unique name.',
      );
    names.add(trigger.name);
    problems.push(...zodProblems(triggerSchemas()[trigger.type], trigger.config ?? {}, `${at}/config`));
    const cron = trigger.config?.['cron'];
    const step = typeof cron === 'string' && trigger.type === 'schedule' ? overlongStep(cron) : undefined;
    if (step !== undefined)
      warnings.add(
        `${at}/config/cron`,
        'overlong_step',
        `The step of ${step.slice(0, 40)} is longer than its field, so only the first value matches.`,
        'A pattern cannot say every 90 minutes. Write the values, such as 0 and 30, or one value.',
      );
    const filter = trigger.config?.['filter'];
    if (typeof filter === 'string' && trigger.type === 'event')
      checkSource(() => parseExpression(filter), `${at}/config/filter`, problems, FILTER_ROOTS);
    for (const [key, source] of Object.entries(trigger.variableMapping ?? {})) {
      const place = childPointer(`${at}/variableMapping`, key);
      if (source.includes('{{')) checkSource(() => parseTemplate(source), place, problems, MAPPING_ROOTS);
      else if (!/^\$(\.[^.[\]\s]+|\[\d+\]|\['[^']*'\]|\["[^"]*"\])*$/.test(source)) {
        problems.add(
          place,
          'invalid_value',
          `Expected a path such as $.order.id or a template, got "${source.slice(0, 80)}".`,
        );
      }
    }
  }
}

/** `roots`: the roots that exist, if no other check looks at them. */
function checkSource(
  parse: () => Expression | Template,
  at: string,
  problems: Findings['problems'],
  roots?: readonly string[],
): void {
  try {
    const read = references(parse());
    if (roots !== undefined) problems.push(...unavailableRootProblems(read, roots, at));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    problems.add(at, error.code, error.message, hintOf(error));
  }
}

const MAX_SPAN_MS = 366 * 24 * 60 * 60 * 1000;

const MAX_REPLAY_WINDOW_MS = 30 * 24 * 60 * 60 * 1000;

const isReplayWindow = (duration: CalendarDuration | undefined): boolean =>
  duration !== undefined && duration.months === 0 && duration.ms >= 1_000 && duration.ms <= MAX_REPLAY_WINDOW_MS;

const isSpan = (duration: CalendarDuration | undefined): boolean =>
  duration !== undefined && duration.months === 0 && duration.ms >= 0 && duration.ms <= MAX_SPAN_MS;

function buildSchemas(): { readonly [type in TriggerDefinition['type']]: z.ZodType } {
  const secret = z.union([z.string().min(1), z.strictObject({ secretRef: z.string().min(1) })]);
  const time = z.union([z.number(), z.string()]).refine((value) => isSpan(parseDuration(value)), {
    error: "expected a duration such as '5m' or PT5M, at most a year, without months and years",
  });
  return {
    manual: z.strictObject({}),
    webhook: z.strictObject({
      path: z
        .string()
        .regex(/^[A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*$/, { error: 'expected a path such as orders or shop/orders' })
        .max(200)
        .describe('The address: `/webhooks/PATH`. Unique in the organization.'),
      method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional().describe('Default: POST.'),
      scheme: z
        .enum(WEBHOOK_SCHEMES)
        .optional()
        .describe('How deliveries are authenticated. Default: hmac with a secret, none without.'),
      secret: secret
        .optional()
        .describe('In clear: it is removed from the document, stored encrypted, and never returned.'),
      secrets: z.array(secret).min(1).max(2).optional().describe('Two secrets, while they are rotated.'),
      headers: z
        .record(z.string(), z.string())
        .optional()
        .describe('Headers that a delivery must have, with these values; `*` takes any.'),
      respond: z
        .enum(['accepted', 'result'])
        .optional()
        .describe("accepted (default) answers 202 immediately; result waits for the run's output, up to 30 seconds."),
      // Of the schemes hmac and api_key.
      header: z
        .string()
        .regex(/^[A-Za-z0-9-]{1,100}$/, { error: 'expected the name of a header, such as X-Signature' })
        .optional()
        .describe('hmac and api_key: the header with the signature or the key.'),
      algorithm: z.enum(['sha1', 'sha256', 'sha512']).optional().describe('hmac. Default: sha256.'),
      encoding: z.enum(['hex', 'base64']).optional().describe('hmac. Default: hex.'),
      prefix: z.string().max(50).optional().describe('hmac: the text before the signature, such as `sha256=`.'),
      timestampHeader: z
        .string()
        .regex(/^[A-Za-z0-9-]{1,100}$/, { error: 'expected the name of a header, such as X-Timestamp' })
        .optional()
        .describe('hmac: the header with the time in seconds, which is signed too and must be recent.'),
      replayWindow: z
        .union([z.number(), z.string()])
        .refine((value) => isReplayWindow(parseDuration(value)), {
          error: "expected a duration such as '10m' or PT24H, from one second to 30 days",
        })
        .optional()
        .describe('How long equal bytes are a repeat. Default: 24 hours for github, else 5 minutes; not for standard.'),
    }),
    schedule: z
      .strictObject({
        cron: z
          .string()
          .superRefine((pattern, context) => {
            const parsed = parseCron(pattern);
            if ('problem' in parsed) context.addIssue({ code: 'custom', message: parsed.problem });
          })
          .describe('Minute, hour, day of month, month, day of week; or a nickname such as @daily.'),
        timezone: z
          .string()
          .max(100)
          .superRefine((name, context) => {
            const message = timezoneProblem(name);
            if (message !== undefined) context.addIssue({ code: 'custom', message });
          })
          .optional()
          .describe('A name of tzdata such as Europe/Berlin, in any case. Default: UTC.'),
        overlap: z
          .enum(['skip', 'buffer_one', 'buffer_all', 'cancel_other', 'terminate_other', 'allow_all'])
          .optional()
          .describe('What happens when the previous run is still open. Default: skip.'),
        jitter: time.optional().describe('The longest random delay of a run.'),
        catchup: time.optional().describe('How late a missed run is still started. Default: a year.'),
        target: z
          .enum(['workflow', 'orchestrator'])
          .optional()
          .describe(
            'The workflow (default), or an agent with the prompt: this workflow if it is one, else `orchestrator`.',
          ),
        prompt: z.string().min(1).max(50_000).optional().describe('The prompt of the agent.'),
      })
      .refine(({ target, prompt }) => target !== 'orchestrator' || prompt !== undefined, {
        error: 'expected a prompt for the orchestrator',
        path: ['prompt'],
      }),
    event: z.strictObject({
      name: z.string().min(1).max(200).describe("The event's name."),
      filter: z.string().optional().describe('An expression over the event. If it is false, no run is started.'),
    }),
  };
}
