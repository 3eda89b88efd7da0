/**
 * The schema of a canonical document (language.md §1): strict, so that a misspelt member is a problem and not silence.
 * The config of a step is its kind's business and is only an object here. Schemas are built when first asked for.
 */
import { z } from 'zod';
import type { Json } from '../template/types.ts';
import { issueProblems } from './issues.ts';
import { isSemver, SLUG, STEP_SLUG } from './names.ts';
import type { Problem } from './types.ts';

let built: z.ZodType | undefined;

/** The schema of the whole document; also what the editor's JSON Schema is made from. */
export function definitionSchema(): z.ZodType {
  built ??= buildDefinition();
  return built;
}

/** What the schema finds wrong with a document in the canonical form, each with its JSON pointer. */
export function schemaProblems(document: Json): Problem[] {
  return issueProblems(definitionSchema(), document, '');
}

/** The document is JSON already: what is free is not walked again. */
const json = (): z.ZodType => z.unknown();
const text = (limit: number) => z.string().max(limit);

function duration(): z.ZodType {
  return z
    .union([z.number().nonnegative(), z.string().min(1).max(100)])
    .describe('Milliseconds, `2d` or `300ms`, or ISO 8601 (`PT5M`)');
}

function retryPolicy(): z.ZodType {
  return z.strictObject({
    maxAttempts: z.int().min(1).max(1_000_000).optional(),
    initialInterval: duration().optional(),
    backoffCoefficient: z.number().min(1).max(1000).optional(),
    maximumInterval: duration().optional(),
    nonRetryable: z.array(text(200)).max(100).optional(),
  });
}

function when(): z.ZodType {
  return z
    .union([
      z.string().min(1),
      z.strictObject({
        ref: z.string().min(1),
        eq: json().optional(),
        neq: json().optional(),
        gt: z.number().optional(),
        lt: z.number().optional(),
      }),
    ])
    .describe('An expression, or {ref, eq | neq | gt | lt}');
}

const config = () => z.record(z.string(), json());

function step(): z.ZodType {
  return z.strictObject({
    name: text(200).optional(),
    description: text(10_000).optional(),
    stepType: z.string().min(1).max(100),
    order: z.number().optional(),
    config: config().optional(),
    nextSteps: z.record(z.string(), z.string().min(1)).optional(),
    when: when().optional(),
    retry: retryPolicy().optional(),
    timeout: duration().optional(),
    local: z.union([z.boolean(), z.literal('auto')]).optional(),
    onError: z.enum(['fail', 'continue']).optional(),
    saveToState: z.union([z.string().min(1), z.record(z.string(), z.string())]).optional(),
    outputVariable: z.string().min(1).max(200).optional(),
    rollback: z
      .strictObject({
        stepType: z.string().min(1).max(100),
        config: config().optional(),
        retry: retryPolicy().optional(),
        timeout: duration().optional(),
      })
      .optional(),
    preset: json().optional(),
    dependsOn: z.array(z.string()).optional(),
    forEach: z
      .strictObject({
        ref: z.string().optional(),
        items: json().optional(),
        concurrency: z.int().min(1).max(10_000).optional(),
      })
      .optional(),
    bail: z.union([z.literal(true), when()]).optional(),
  });
}

function stateField(): z.ZodType {
  return z.strictObject({
    type: z.enum(['string', 'number', 'boolean']),
    default: z.union([z.string(), z.number(), z.boolean()]).optional(),
    description: text(10_000).optional(),
    searchable: z.boolean().optional(),
  });
}

function workflowConfig(): z.ZodType {
  return z.strictObject({
    timeout: duration().optional(),
    retryPolicy: retryPolicy().optional(),
    variables: config().optional(),
    secrets: z.record(z.string(), z.string().min(1).max(500)).optional(),
    maxSteps: z.int().min(1).max(1_000_000_000).optional(),
    mode: z.enum(['parallel', 'restart']).optional(),
    debounce: z
      .strictObject({ key: z.string().optional(), seconds: z.number().nonnegative().max(31_536_000) })
      .optional(),
    concurrency: z
      .strictObject({
        limit: z.int().min(1).max(100_000),
        key: z.string().optional(),
        overflow: z.enum(['queue', 'reject', 'cancel-oldest', 'cancel-newest']).optional(),
      })
      .optional(),
    onFailure: z.enum(['fail', 'rollback']).optional(),
  });
}

function trigger(): z.ZodType {
  return z.strictObject({
    name: z.string().min(1).max(200),
    type: z.enum(['manual', 'webhook', 'schedule', 'event']),
    enabled: z.boolean().optional(),
    config: config().optional(),
    variableMapping: z.record(z.string(), z.string()).optional(),
    targetState: config().optional(),
  });
}

function buildDefinition(): z.ZodType {
  return z.strictObject({
    name: z.string().min(1).max(200),
    slug: z.string().regex(SLUG, { error: 'expected lower-case letters, digits and hyphens, at most 63' }),
    type: z.enum(['structured', 'agent', 'employee']).optional(),
    version: z.string().refine(isSemver, { error: 'expected a semantic version such as "1.0.0"' }).optional(),
    enabled: z.boolean().optional(),
    description: text(100_000).optional(),
    tags: z.array(z.string().min(1).max(100)).max(100).optional(),
    flow: z.enum(['ports', 'dag']).optional(),
    start: z.string().optional(),
    input: config().optional(),
    state: z.record(z.string(), stateField()).optional(),
    config: workflowConfig().optional(),
    constraints: z.strictObject({ allowSelfModification: z.boolean().optional() }).optional(),
    triggers: z.array(trigger()).max(1000).optional(),
    output: json().optional(),
    dialect: z.enum(['000', '001', '002', '004']).optional(),
    steps: z
      .record(
        z
          .string()
          .regex(STEP_SLUG, { error: 'expected a step slug: a letter or _, then letters, digits, _ or -, at most 64' }),
        step(),
      )
      .refine((steps) => Object.keys(steps).length > 0, { error: 'expected at least one step' }),
  });
}
