/** Each step's config against the schema of its kind. */

import type { z } from 'zod';
import { issueProblems } from '../definition/issues.ts';
import type { Problem } from '../definition/types.ts';
import { actionOf } from '../steps/actions.ts';
import type { StepKind } from '../steps/kind.ts';
import { kindOf } from '../steps/table.ts';
import type { Subject } from './subject.ts';

/** Schemas are built when first asked for, once a kind. */
const schemas = new Map<string, z.ZodType>();

export function configProblems({ steps }: Subject): Problem[] {
  const problems: Problem[] = [];
  for (const { at, kind, written } of steps.values()) {
    if (kind !== undefined) problems.push(...ofKind(kind, written.config ?? {}, `${at}/config`));
    const rollback = written.rollback === undefined ? undefined : kindOf(written.rollback.stepType);
    if (rollback !== undefined)
      problems.push(...ofKind(rollback, written.rollback?.config ?? {}, `${at}/rollback/config`));
  }
  return problems;
}

function ofKind(
  kind: StepKind,
  config: NonNullable<Subject['definition']['steps'][string]['config']>,
  at: string,
): Problem[] {
  const problems = issueProblems(schemaOf(kind.type, kind.schema), config, at);
  const action = kind.type === 'action' && typeof config['type'] === 'string' ? actionOf(config['type']) : undefined;
  if (action === undefined || problems.length > 0) return problems;
  return issueProblems(
    schemaOf(`action ${action.type}`, action.schema),
    config['parameters'] ?? {},
    `${at}/parameters`,
  );
}

function schemaOf(name: string, build: () => z.ZodType): z.ZodType {
  const known = schemas.get(name);
  if (known !== undefined) return known;
  const schema = build();
  schemas.set(name, schema);
  return schema;
}
