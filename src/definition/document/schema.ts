/**
 * The schema of a canonical document (LANGUAGE.md §1). It is strict, so that a misspelled member is a problem. A step's
 * config is any object here, since each kind has its own schema for it. Schemas are built on first use.
 */

import { z } from 'zod';
import { DIALECT_NUMBERS, dialectNumber } from '../../compat/dialect-names.ts';
import { isObject, type Json } from '../../json/json.ts';
import { MAX_FOR_EACH_CONCURRENCY } from './limits.ts';
import { isSemver, isVisible, SLUG_PATTERN, STEP_SLUG_PATTERN, VISIBLE_NAME_EXPECTED } from './names.ts';
import { DURATION_TITLE } from './titles.ts';
import type { Problem } from './types.ts';
import { OVERFLOWS, TRIGGER_TYPES } from './types.ts';
import { zodProblems } from './zod-problems.ts';

let cachedSchema: z.ZodType | undefined;

/** The schema of the whole document. The JSON Schema for editors is generated from it. */
export function definitionSchema(): z.ZodType {
  cachedSchema ??= buildDefinition();
  return cachedSchema;
}

/** The problems of a document in the canonical form, with JSON pointers. */
export function schemaProblems(document: Json): Problem[] {
  const problems = zodProblems(definitionSchema(), document, '');
  // A document with a name needs no slug, since the slug is made from the name.
  const isNameless = problems.some(({ pointer }) => pointer === '/name');
  // The form is hashed, so that each dialect has one spelling in it.
  const number = isObject(document) ? dialectNumber(document['dialect']) : undefined;
  return problems
    .filter(({ pointer, code }) => !(isNameless && pointer === '/slug' && code === 'missing_member'))
    .map((one) =>
      number !== undefined && one.pointer === '/dialect' ? { ...one, hint: `Write its number: "${number}".` } : one,
    );
}

/** Any value. The document is JSON already, so that the value is not walked again. */
/** An optional member, with what the manual says about it. */
const optional = <T extends z.ZodType>(type: T, words: string) => type.optional().describe(words);
const json = (): z.ZodType => z.unknown();
const text = (limit: number) => z.string().max(limit);

const visibleName = () => z.string().min(1).max(200).refine(isVisible, { error: VISIBLE_NAME_EXPECTED });

function duration(): z.ZodType {
  return z
    .union([z.number().nonnegative(), z.string().min(1).max(100)])
    .meta({ title: DURATION_TITLE, description: 'Milliseconds, `2d` or `300ms`, or ISO 8601 (`PT5M`)' });
}

function retryPolicy(): z.ZodType {
  const written = z.strictObject({
    maxAttempts: optional(
      z.int().min(1).max(1_000_000),
      'The number of attempts, including the first one. Default: 3.',
    ),
    initialInterval: optional(duration(), 'The time before the second attempt. Default: 1s.'),
    backoffCoefficient: optional(
      z.number().min(1).max(1000),
      'Each interval is the previous one times this factor. Default: 2.',
    ),
    maximumInterval: optional(duration(), 'The longest interval. Default: 60s.'),
    nonRetryable: optional(z.array(text(200)).max(100), 'Error codes that are not retried.'),
  });
  const named = z
    .enum(['default', 'quick', 'none'])
    .describe(
      'A named policy. `default`: the defaults above. `quick`: three attempts, intervals from 200 ms to 30 s. ' +
        '`none`: one attempt.',
    );
  return z.union([written, named]);
}

const OPERATORS = ['eq', 'neq', 'gt', 'lt'] as const;

function when(): z.ZodType {
  const structured = z
    .strictObject({
      ref: z.string().min(1),
      eq: json().optional(),
      neq: json().optional(),
      gt: z.number().optional(),
      lt: z.number().optional(),
    })
    .superRefine((written, context) => {
      const [, second] = OPERATORS.filter((operator) => written[operator] !== undefined);
      if (second !== undefined)
        context.addIssue({
          code: 'custom',
          path: [second],
          message: 'a condition has one comparison: write an expression for more',
        });
    });
  return z.union([z.string().min(1), structured]).describe('An expression, or {ref, eq | neq | gt | lt}');
}

const config = () => z.record(z.string(), json());

function step(): z.ZodType {
  return z.strictObject({
    name: optional(text(200), 'For readers.'),
    description: optional(text(10_000), 'For readers.'),
    stepType: z.string().min(1).max(100).describe('The kind of the step.'),
    order: optional(z.number(), 'The step with the lowest order is the start if nothing else determines it.'),
    config: optional(config(), 'The config of the kind. Default: {}.'),
    nextSteps: optional(
      z.record(z.string(), z.string().min(1)),
      'Port → step. `$end` ends the run. A port without a target ends the tick, the iteration, the branch or ' +
        'the run.',
    ),
    when: optional(
      when(),
      'Evaluated first. False skips the step: it ends with `skipped`, or with its normal port if `skipped` ' +
        'has no target. An expression, or {ref, eq | neq | gt | lt}.',
    ),
    retry: optional(retryPolicy(), 'How the activity is retried. Missing members come from `config.retryPolicy`.'),
    timeout: optional(
      duration(),
      'The time limit of one attempt of an activity. Waits have a timeout in their config.',
    ),
    local: optional(
      z.union([z.boolean(), z.literal('auto')]),
      'Whether the activity is a local activity of Temporal. auto (default): light activities, while nothing ' +
        'else is open.',
    ),
    fuse: optional(
      z.boolean(),
      'false: the activity is never part of a segment (light activities that run together in one activity of ' +
        'Temporal). Default: true.',
    ),
    onError: optional(
      z.enum(['fail', 'continue']),
      "What an error does if the port `error` has no target: 'fail' (default) fails the frame, 'continue' " +
        'continues by the normal port with null.',
    ),
    saveToState: optional(
      z.union([z.string().min(1), z.record(z.string(), z.string())]),
      "The key of the state that receives the output's data; or key → expression, which also reads `output`.",
    ),
    outputVariable: optional(z.string().min(1).max(200), "The name under which `outputs` holds the output's data."),
    rollback: optional(
      z.strictObject({
        stepType: z.string().min(1).max(100).describe('The kind of the step that undoes this one: an effect.'),
        config: optional(config(), "The config, evaluated when the step ends. It also reads the step's output."),
        retry: optional(retryPolicy(), 'As `retry` of a step.'),
        timeout: optional(duration(), 'The time limit of one attempt.'),
      }),
      'Undoes the step when the run rolls back. Rollbacks run in reverse order of completion, back to the ' +
        'last checkpoint.',
    ),
    preset: optional(json(), 'The output if the step should not run: data, or {data, port?, meta?}.'),
    dependsOn: optional(
      z.array(z.string()),
      '`flow: dag` only: steps that must have ended, in addition to those that the step references.',
    ),
    forEach: optional(
      z.strictObject({
        ref: optional(z.string(), 'The path of the list.'),
        items: optional(json(), 'The list, or a template of one.'),
        concurrency: optional(
          z.int().min(1).max(MAX_FOR_EACH_CONCURRENCY),
          'How many items run at the same time. Default: 1.',
        ),
      }),
      '`flow: dag` only: runs the step for each item. Config and rollback read `item` and `index`. The step ' +
        'is skipped if a skipped step leaves it without a list.',
    ),
    bail: optional(
      z.union([z.literal(true), when()]),
      '`flow: dag` only: ends the run after this step, always or if the condition is true. A skipped step ' +
        'does not end the run.',
    ),
  });
}

function stateField(): z.ZodType {
  return z.strictObject({
    type: z.enum(['string', 'number', 'boolean']).describe('The type of the value.'),
    default: optional(z.union([z.string(), z.number(), z.boolean()]), 'The initial value.'),
    description: optional(text(10_000), 'For readers.'),
    searchable: optional(z.boolean(), 'Whether lists of runs can filter by it.'),
  });
}

function workflowConfig(): z.ZodType {
  return z
    .strictObject({
      timeout: optional(duration(), 'The time limit of the run. After it the run fails with `run_timeout`.'),
      retryPolicy: optional(retryPolicy(), 'How activities are retried whose step has no `retry`.'),
      variables: optional(
        config(),
        'Variables with their initial values. Expressions read them as `variables.name` and as `name`.',
      ),
      secrets: optional(
        z.record(z.string(), z.string().min(1).max(500)),
        "Name in `{{ secrets.NAME }}` → name in the organization's secret store.",
      ),
      fuse: optional(z.boolean(), 'false: no light activity of the run is part of a segment. Default: true.'),
      maxSteps: optional(
        z.int().min(1).max(1_000_000_000),
        'The most visits of steps in a run. One more is the error `max_steps_exceeded:n`. Default: 1000000.',
      ),
      mode: optional(
        z.enum(['parallel', 'restart']),
        'parallel (default): runs are independent. restart: a new run replaces the active one.',
      ),
      debounce: optional(
        z.strictObject({
          key: optional(
            z.string(),
            'A path into the payload, or a template. Payloads with the same key are debounced together.',
          ),
          seconds: optional(
            z.number().nonnegative().max(31_536_000),
            'The run starts once no payload has arrived for this time. With `mode: restart` it may be 0 or ' +
              'absent: each payload starts its run immediately.',
          ),
          maxWait: optional(duration(), 'The longest time from the first payload to the start of the run.'),
        }),
        'Many payloads within a time start one run, with the last payload.',
      ),
      concurrency: optional(
        z.strictObject({
          limit: z.int().min(1).max(100_000).describe('How many runs may be active.'),
          key: optional(z.string(), 'A template. Each value of the key has its own limit.'),
          overflow: optional(z.enum(OVERFLOWS), 'What happens to a run over the limit. Default: queue.'),
        }),
        'How many runs may be active at the same time.',
      ),
      publicStart: optional(
        z.boolean(),
        "true allows starts with the organization's public key (`POST /api/public/trigger/…`). Default: false.",
      ),
      onFailure: optional(
        z.enum(['fail', 'rollback']),
        "What an unhandled failure does: 'fail' (default) fails the run, 'rollback' first undoes what it did.",
      ),
    })
    .superRefine(({ mode, debounce }, context) => {
      if (debounce === undefined || debounce.seconds !== undefined || mode === 'restart') return;
      const message = 'expected the time to wait for more payloads; only `mode: restart` can use the key without it';
      context.addIssue({ code: 'custom', path: ['debounce', 'seconds'], message });
    });
}

function trigger(): z.ZodType {
  return z.strictObject({
    name: visibleName().describe('Unique in the definition.'),
    type: z.enum(TRIGGER_TYPES).describe('What starts a run.'),
    enabled: optional(z.boolean(), 'Default: true.'),
    config: optional(config(), 'The config of its type.'),
    variableMapping: optional(
      z.record(z.string(), z.string()),
      "The run's input by key: a path into the body such as `$.order.id`, or a template over `body`, `query`, " +
        '`headers` and `params`. Without a mapping the payload is the input.',
    ),
    targetState: optional(config(), 'The initial state.'),
  });
}

function buildDefinition(): z.ZodType {
  return z.strictObject({
    name: visibleName().describe('The name for readers. Default: the slug.'),
    slug: z
      .string()
      .regex(SLUG_PATTERN, { error: 'expected lower-case letters, digits and hyphens, at most 63' })
      .describe('Unique in its organization: lower-case letters, digits and hyphens. Default: derived from the name.'),
    type: optional(
      z.enum(['structured', 'agent', 'employee']),
      'structured (default), or agent or employee, which lists and `run_employee` use.',
    ),
    version: optional(
      z.string().refine(isSemver, { error: 'expected a semantic version such as "1.0.0"' }),
      'The semantic version. A change increases the patch version unless the author increased the version.',
    ),
    enabled: optional(z.boolean(), 'false prevents new runs. Default: true.'),
    description: optional(text(100_000), 'For readers.'),
    tags: optional(z.array(z.string().min(1).max(100)).max(100), 'For lists.'),
    flow: optional(
      z.enum(['ports', 'dag']),
      'ports (default): `nextSteps` lead from step to step. dag: a step runs once the steps that it ' +
        'references have ended.',
    ),
    start: optional(
      z.string(),
      'The first step. Default: the only trigger, otherwise the step with the lowest `order`, otherwise the ' +
        'first one in the document.',
    ),
    input: optional(
      config(),
      'The input of a run: a JSON Schema, or the short form: name → type or {type, description, required}. ' +
        'Types are string, number, boolean, date, datetime, object, array.',
    ),
    state: optional(
      z.record(z.string(), stateField()),
      'Typed values that steps write and lists can filter by: name → type, or {type, default, searchable}.',
    ),
    config: optional(workflowConfig(), 'Limits, variables, secrets and policies of the runs.'),
    constraints: optional(
      z.strictObject({
        allowSelfModification: optional(
          z.boolean(),
          'Whether changes may be proposed, also by its own runs. Default: false.',
        ),
        proposerMayReview: optional(
          z.boolean(),
          'Whether the person who proposed a change may review it. Default: false.',
        ),
      }),
      'How the definition may be changed.',
    ),
    triggers: optional(z.array(trigger()).max(1000), 'What starts runs. Triggers are created with the definition.'),
    output: optional(
      json(),
      "The run's output, a template. Default: the output of `finish`, otherwise the data of the last step.",
    ),
    dialect: optional(
      z.enum(DIALECT_NUMBERS),
      'The dialect of the document, if it changes how the definition is read. Importers set it.',
    ),
    steps: z
      .record(
        z.string().regex(STEP_SLUG_PATTERN, {
          error: 'expected a step slug: a letter or _, then letters, digits, _ or -, at most 64',
        }),
        step(),
      )
      .refine((steps) => Object.keys(steps).length > 0, { error: 'expected at least one step' })
      .describe('Name → step.'),
  });
}
