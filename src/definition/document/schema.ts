/**
 * The schema of a canonical document (LANGUAGE.md §1): strict, so that a misspelt member is a problem and not silence.
 * The config of a step is its kind's business and is only an object here. Schemas are built when first asked for.
 */

import { z } from 'zod';
import type { Json } from '../../json/json.ts';
import { issueProblems } from './issues.ts';
import { MOST_ITERATIONS_AT_ONCE } from './limits.ts';
import { isSemver, SLUG, STEP_SLUG } from './names.ts';
import { DURATION_TITLE } from './titles.ts';
import type { Problem } from './types.ts';
import { OVERFLOWS, TRIGGER_TYPES } from './types.ts';

let built: z.ZodType | undefined;

/** The schema of the whole document; also what the editor's JSON Schema is made from. */
export function definitionSchema(): z.ZodType {
  built ??= buildDefinition();
  return built;
}

/** What the schema finds wrong with a document in the canonical form, each with its JSON pointer. */
export function schemaProblems(document: Json): Problem[] {
  const problems = issueProblems(definitionSchema(), document, '');
  // Whoever gives a name needs no slug, since it is made from it.
  const isNameless = problems.some(({ pointer }) => pointer === '/name');
  return problems.filter(({ pointer, code }) => !(isNameless && pointer === '/slug' && code === 'missing_member'));
}

/** The document is JSON already: what is free is not walked again. */
const json = (): z.ZodType => z.unknown();
const text = (limit: number) => z.string().max(limit);

function duration(): z.ZodType {
  return z
    .union([z.number().nonnegative(), z.string().min(1).max(100)])
    .meta({ title: DURATION_TITLE, description: 'Milliseconds, `2d` or `300ms`, or ISO 8601 (`PT5M`)' });
}

function retryPolicy(): z.ZodType {
  const written = z.strictObject({
    maxAttempts: z.int().min(1).max(1_000_000).optional().describe('Attempts in all, the first included. Default: 3.'),
    initialInterval: duration().optional().describe('Before the second attempt. Default: 1s.'),
    backoffCoefficient: z
      .number()
      .min(1)
      .max(1000)
      .optional()
      .describe('Each interval is so many times the one before. Default: 2.'),
    maximumInterval: duration().optional().describe('No interval is longer. Default: 60s.'),
    nonRetryable: z
      .array(text(200))
      .max(100)
      .optional()
      .describe('Error codes after which no further attempt is made.'),
  });
  const named = z
    .enum(['default', 'quick', 'none'])
    .describe(
      'A policy by name: `default` as above; `quick` begins with 200 ms and waits 30 s at most, three attempts; `none` tries once.',
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
          message: 'a condition compares once: write an expression for more',
        });
    });
  return z.union([z.string().min(1), structured]).describe('An expression, or {ref, eq | neq | gt | lt}');
}

const config = () => z.record(z.string(), json());

function step(): z.ZodType {
  return z.strictObject({
    name: text(200).optional().describe('For readers.'),
    description: text(10_000).optional().describe('For readers.'),
    stepType: z.string().min(1).max(100).describe('The kind of the step.'),
    order: z.number().optional().describe('Where nothing else says so, the step of the lowest order is the start.'),
    config: config().optional().describe('What the kind takes. Default: {}.'),
    nextSteps: z
      .record(z.string(), z.string().min(1))
      .optional()
      .describe(
        'Port → the step that it leads to; `$end` ends the run. A port that is left out ends the tick, the iteration, the branch or the run.',
      ),
    when: when()
      .optional()
      .describe(
        'Asked first. False: the step is skipped, and goes on by `skipped`, or by its normal port where that is not wired. An expression, or {ref, eq | neq | gt | lt}.',
      ),
    retry: retryPolicy()
      .optional()
      .describe('How an effect is tried again; what is left out is as in `config.retryPolicy`.'),
    timeout: duration()
      .optional()
      .describe('The limit of one attempt of an effect. Waits have a timeout of their own, in their config.'),
    local: z
      .union([z.boolean(), z.literal('auto')])
      .optional()
      .describe(
        'Whether an effect runs as a local activity of Temporal. auto (default): light ones, where nothing else goes on.',
      ),
    onError: z
      .enum(['fail', 'continue'])
      .optional()
      .describe(
        "What an error does whose port `error` is not wired: 'fail' (default) fails the frame, 'continue' goes on by the normal port with null.",
      ),
    saveToState: z
      .union([z.string().min(1), z.record(z.string(), z.string())])
      .optional()
      .describe("A key of the state that takes the output's data, or key → expression, which also reads `output`."),
    outputVariable: z.string().min(1).max(200).optional().describe("`outputs.NAME` becomes the output's data."),
    rollback: z
      .strictObject({
        stepType: z.string().min(1).max(100).describe('The kind that undoes the step: an effect.'),
        config: config().optional().describe("Evaluated as the step ends; it reads the step's own output too."),
        retry: retryPolicy().optional().describe('As of a step.'),
        timeout: duration().optional().describe('The limit of one attempt.'),
      })
      .optional()
      .describe(
        'What undoes the step when the run rolls back: in reverse order of completion, back to the last checkpoint.',
      ),
    preset: json().optional().describe('The output, set without running the step: data, or {data, port?, meta?}.'),
    dependsOn: z
      .array(z.string())
      .optional()
      .describe('`flow: dag` only: steps that must have ended, beside those that the step refers to.'),
    forEach: z
      .strictObject({
        ref: z.string().optional().describe('A path to the list.'),
        items: json().optional().describe('The list, or a template that gives one.'),
        concurrency: z.int().min(1).max(MOST_ITERATIONS_AT_ONCE).optional().describe('Items at once. Default: 1.'),
      })
      .optional()
      .describe(
        '`flow: dag` only: runs the step for each item, which its config and rollback read as `item`, with `index`; skipped where a skipped step leaves it without a list.',
      ),
    bail: z
      .union([z.literal(true), when()])
      .optional()
      .describe(
        '`flow: dag` only: ends the run after this step, always or if the condition holds; not where it was skipped.',
      ),
  });
}

function stateField(): z.ZodType {
  return z.strictObject({
    type: z.enum(['string', 'number', 'boolean']).describe('What it may hold.'),
    default: z.union([z.string(), z.number(), z.boolean()]).optional().describe('What it begins with.'),
    description: text(10_000).optional().describe('For readers.'),
    searchable: z.boolean().optional().describe('Lists of runs can be filtered by it.'),
  });
}

function workflowConfig(): z.ZodType {
  return z
    .strictObject({
      timeout: duration()
        .optional()
        .describe('The deadline of the whole run; past it the run fails with `run_timeout`.'),
      retryPolicy: retryPolicy().optional().describe('How effects are tried again whose steps do not say it.'),
      variables: config().optional().describe('What variables begin with: readable as `variables.name` and as `name`.'),
      secrets: z
        .record(z.string(), z.string().min(1).max(500))
        .optional()
        .describe("Name in `{{ secrets.NAME }}` → name in the organization's secret store."),
      maxSteps: z
        .int()
        .min(1)
        .max(1_000_000_000)
        .optional()
        .describe('Step visits in the whole run; one more is the error `max_steps_exceeded:n`. Default: 1000000.'),
      mode: z
        .enum(['parallel', 'restart'])
        .optional()
        .describe('Whether runs go beside one another (default), or a new one takes the place of the one that runs.'),
      debounce: z
        .strictObject({
          key: z.string().optional().describe('A path into the payload, or a template: payloads of one key are one.'),
          seconds: z
            .number()
            .nonnegative()
            .max(31_536_000)
            .optional()
            .describe(
              'The run begins when so long nothing more has come. With `mode: restart` it may be left out, or 0: each payload starts its run at once.',
            ),
          maxWait: duration().optional().describe('So long after the first payload the run begins though more come.'),
        })
        .optional()
        .describe('Many payloads within a time start one run, with the last of them.'),
      concurrency: z
        .strictObject({
          limit: z.int().min(1).max(100_000).describe('Runs at once.'),
          key: z.string().optional().describe('A template: runs of one key are counted together.'),
          overflow: z.enum(OVERFLOWS).optional().describe('What becomes of one too many. Default: queue.'),
        })
        .optional()
        .describe('How many runs may go at once.'),
      publicStart: z
        .boolean()
        .optional()
        .describe(
          "true lets whoever has the organization's public key start it (`POST /api/public/trigger/…`). Default: false.",
        ),
      onFailure: z
        .enum(['fail', 'rollback'])
        .optional()
        .describe(
          "What a failure does that nothing took: 'fail' (default), or 'rollback', which first undoes what was done.",
        ),
    })
    .superRefine(({ mode, debounce }, context) => {
      if (debounce === undefined || debounce.seconds !== undefined || mode === 'restart') return;
      const message = 'expected how long to wait for more; without it only `mode: restart` has a use for the key';
      context.addIssue({ code: 'custom', path: ['debounce', 'seconds'], message });
    });
}

function trigger(): z.ZodType {
  return z.strictObject({
    name: z.string().min(1).max(200).describe('Unique in the definition.'),
    type: z.enum(TRIGGER_TYPES).describe('What it listens to.'),
    enabled: z.boolean().optional().describe('Default: true.'),
    config: config().optional().describe('What its type takes.'),
    variableMapping: z
      .record(z.string(), z.string())
      .optional()
      .describe(
        "The run's input, key by key: a path such as `$.order.id` into the body, or a template over `body`, `query`, `headers` and `params`. Without it the payload is the input.",
      ),
    targetState: config().optional().describe('What the state begins with.'),
  });
}

function buildDefinition(): z.ZodType {
  return z.strictObject({
    name: z.string().min(1).max(200).describe('For people. Default: the slug.'),
    slug: z
      .string()
      .regex(SLUG, { error: 'expected lower-case letters, digits and hyphens, at most 63' })
      .describe('Unique in its organization: lower-case letters, digits and hyphens. Without it, made from the name.'),
    type: z
      .enum(['structured', 'agent', 'employee'])
      .optional()
      .describe('structured (default); agent and employee tell lists and `run_employee` what it is.'),
    version: z
      .string()
      .refine(isSemver, { error: 'expected a semantic version such as "1.0.0"' })
      .optional()
      .describe('Semantic version. A changed body bumps the patch unless the author bumped it.'),
    enabled: z.boolean().optional().describe('False: no new run is started. Default: true.'),
    description: text(100_000).optional().describe('For readers.'),
    tags: z.array(z.string().min(1).max(100)).max(100).optional().describe('For lists.'),
    flow: z
      .enum(['ports', 'dag'])
      .optional()
      .describe(
        'ports (default): steps lead on by `nextSteps`. dag: a step runs as soon as the steps that it refers to have ended.',
      ),
    start: z
      .string()
      .optional()
      .describe(
        'The first step. Default: the only trigger, else the step of the lowest `order`, else the first as written.',
      ),
    input: config()
      .optional()
      .describe(
        'What a run is started with: a JSON Schema, or the short form, name → type or {type, description, required}; types are string, number, boolean, date, datetime, object, array.',
      ),
    state: z
      .record(z.string(), stateField())
      .optional()
      .describe('Typed values that steps write and lists can search: name → type, or {type, default, searchable}.'),
    config: workflowConfig().optional().describe('Limits, variables, secrets and policies of the runs.'),
    constraints: z
      .strictObject({
        allowSelfModification: z
          .boolean()
          .optional()
          .describe('Whether changes of it may be proposed, by its own runs too. Default: false.'),
        proposerMayReview: z
          .boolean()
          .optional()
          .describe('Whether whoever proposed a change may review it. Default: false.'),
      })
      .optional()
      .describe('How it may be changed.'),
    triggers: z.array(trigger()).max(1000).optional().describe('What starts runs; created with the definition.'),
    output: json()
      .optional()
      .describe("The run's output, a template. Default: what `finish` gave, else the data of the last step."),
    dialect: z
      .enum(['000', '001', '002', '004'])
      .optional()
      .describe('Which dialect it was written in, where that changes how it is read. Importers set it.'),
    steps: z
      .record(
        z
          .string()
          .regex(STEP_SLUG, { error: 'expected a step slug: a letter or _, then letters, digits, _ or -, at most 64' }),
        step(),
      )
      .refine((steps) => Object.keys(steps).length > 0, { error: 'expected at least one step' })
      .describe('Name → step.'),
  });
}
