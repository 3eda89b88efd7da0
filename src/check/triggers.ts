/** The definition's triggers: what each type must say, and that no two have one name (language.md §10). */
import { z } from 'zod';
import { issueProblems } from '../definition/issues.ts';
import { below } from '../definition/pointer.ts';
import type { Definition, TriggerDefinition } from '../definition/types.ts';
import { parseExpression } from '../template/expression.ts';
import { parseTemplate } from '../template/template.ts';
import { TemplateError } from '../template/types.ts';
import { type Findings, problem } from './subject.ts';

let built: { readonly [type in TriggerDefinition['type']]: z.ZodType } | undefined;

/** The config of each type of trigger; secrets are references here (`{secretRef}`). */
export function triggerSchemas(): { readonly [type in TriggerDefinition['type']]: z.ZodType } {
  built ??= buildSchemas();
  return built;
}

export function checkTriggers({ triggers = [] }: Definition, { problems }: Findings): void {
  const names = new Set<string>();
  for (const [index, trigger] of triggers.entries()) {
    const at = below('/triggers', index);
    if (names.has(trigger.name))
      problems.push(
        problem(
          `${at}/name`,
          'duplicate_trigger',
          `There are two triggers "${trigger.name.slice(0, 80)}".`,
          'Give each a name of its own.',
        ),
      );
    names.add(trigger.name);
    problems.push(...issueProblems(triggerSchemas()[trigger.type], trigger.config ?? {}, `${at}/config`));
    const filter = trigger.config?.['filter'];
    if (typeof filter === 'string') parsed(() => parseExpression(filter), `${at}/config/filter`, problems);
    for (const [key, source] of Object.entries(trigger.variableMapping ?? {})) {
      const place = below(`${at}/variableMapping`, key);
      if (source.includes('{{')) parsed(() => parseTemplate(source), place, problems);
      else if (!/^\$(\.[^.[\]\s]+|\[\d+\])*$/.test(source)) {
        problems.push(
          problem(
            place,
            'invalid_value',
            `Expected a path such as $.order.id or a template, got "${source.slice(0, 80)}".`,
          ),
        );
      }
    }
  }
}

function parsed(parse: () => unknown, at: string, problems: Findings['problems']): void {
  try {
    parse();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    problems.push({
      pointer: at,
      code: error.code,
      message: error.message,
      ...(error.expected === undefined ? {} : { hint: error.expected }),
    });
  }
}

function buildSchemas(): { readonly [type in TriggerDefinition['type']]: z.ZodType } {
  const secret = z.union([z.string().min(1), z.strictObject({ secretRef: z.string().min(1) })]);
  const time = z.union([z.number().min(0), z.string().min(1)]);
  return {
    manual: z.strictObject({}),
    webhook: z.strictObject({
      path: z
        .string()
        .regex(/^[A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*$/, { error: 'expected a path such as orders or shop/orders' })
        .max(200),
      method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
      scheme: z.enum(['github', 'stripe', 'slack', 'standard', 'hmac', 'api_key', 'none']).optional(),
      secret: secret.optional(),
      secrets: z.array(secret).min(1).max(2).optional(),
      headers: z.record(z.string(), z.string()).optional(),
      respond: z.enum(['accepted', 'result']).optional(),
      // Of the schemes hmac and api_key.
      header: z
        .string()
        .regex(/^[A-Za-z0-9-]{1,100}$/, { error: 'expected the name of a header, such as X-Signature' })
        .optional(),
      algorithm: z.enum(['sha1', 'sha256', 'sha512']).optional(),
      encoding: z.enum(['hex', 'base64']).optional(),
      prefix: z.string().max(50).optional(),
      timestampHeader: z
        .string()
        .regex(/^[A-Za-z0-9-]{1,100}$/, { error: 'expected the name of a header, such as X-Timestamp' })
        .optional(),
    }),
    schedule: z.strictObject({
      cron: z
        .string()
        .refine(isCron, { error: 'expected five fields such as "0 9 * * 1-5", or a nickname such as @daily' }),
      timezone: z.string().min(1).max(100).optional(),
      overlap: z.enum(['skip', 'buffer_one', 'buffer_all', 'cancel_other', 'terminate_other', 'allow_all']).optional(),
      jitter: time.optional(),
      catchup: time.optional(),
      target: z.enum(['workflow', 'orchestrator']).optional(),
      prompt: z.string().optional(),
    }),
    event: z.strictObject({ name: z.string().min(1).max(200), filter: z.string().optional() }),
  };
}

/** The form only; whoever makes the schedule reads the fields. */
function isCron(pattern: string): boolean {
  if (/^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/i.test(pattern.trim())) return true;
  const fields = pattern.trim().split(/\s+/);
  return fields.length === 5 && fields.every((field) => /^[0-9A-Za-z*?,/#-]+$/.test(field));
}
