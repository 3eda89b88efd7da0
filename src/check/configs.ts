/** Each step's config against the schema of its kind. */

import type { z } from 'zod';
import type { Problem } from '../definition/document/types.ts';
import { zodProblems } from '../definition/document/zod-problems.ts';
import type { JsonObject } from '../json/json.ts';
import type { StepKind } from '../steps/kind.ts';
import { actionOf } from '../steps/kinds/built-in-actions.ts';
import { kindOf } from '../steps/kinds/table.ts';
import type { Analysis } from './analysis.ts';
import type { Host } from './host.ts';
import { templatedProblems } from './templated-values.ts';

/** Built on first use, one for each kind. */
const schemas = new Map<string, z.ZodType>();

export function configProblems({ steps }: Analysis, { actions }: Host): Problem[] {
  const problems: Problem[] = [];
  for (const { at, kind, written } of steps.values()) {
    if (kind !== undefined) problems.push(...kindConfigProblems(kind, written.config ?? {}, `${at}/config`, actions));
    const rollback = written.rollback === undefined ? undefined : kindOf(written.rollback.stepType);
    if (rollback === undefined) continue;
    problems.push(...kindConfigProblems(rollback, written.rollback?.config ?? {}, `${at}/rollback/config`, actions));
    // The compiler accepts it: runs that began with one continue, and report it when they roll back.
    if (rollback.startsRuns === true)
      problems.push({
        pointer: `${at}/rollback/stepType`,
        code: 'rollback_kind',
        message: `A rollback cannot start runs. Use an effect such as 'action' or 'http', not '${rollback.type}'.`,
      });
  }
  return problems;
}

function kindConfigProblems(kind: StepKind, config: JsonObject, at: string, actions: Host['actions']): Problem[] {
  const problems = zodProblems(schemaOf(kind.type, kind.schema), config, at);
  if (problems.length > 0) return problems;
  return (kind.needs?.(config).actions ?? []).flatMap(({ type, parameters }) => {
    if (typeof type !== 'string' || parameters === undefined) return [];
    const { value } = parameters;
    const pointer = `${at}${parameters.at}`;
    const action = actionOf(type);
    if (action !== undefined) return zodProblems(schemaOf(`action ${action.type}`, action.schema), value, pointer);
    const offered = actions?.get(type);
    return offered === undefined ? [] : templatedProblems(offered.input, value, pointer);
  });
}

function schemaOf(name: string, build: () => z.ZodType): z.ZodType {
  const known = schemas.get(name);
  if (known !== undefined) return known;
  const schema = build();
  schemas.set(name, schema);
  return schema;
}
