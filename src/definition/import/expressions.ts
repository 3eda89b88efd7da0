/** The members of a step that are expressions, whose names importers convert too. */
import { isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';

/** `at`: the JSON pointer within the step. */
type ExpressionChange = (source: string, at: string) => string;

/** Changes every expression of a step in the canonical form. */
export function changeExpressions(step: JsonObject, change: ExpressionChange): void {
  const { when, saveToState, config } = step;
  if (typeof when === 'string') step['when'] = change(when, '/when');
  else if (isObject(when)) step['when'] = changeMembers(when, ['ref'], '/when', change);
  if (isObject(saveToState))
    step['saveToState'] = changeMembers(saveToState, Object.keys(saveToState), '/saveToState', change);
  if (!isObject(config)) return;
  if (step['stepType'] === 'loop') step['config'] = changeMembers(config, ['while', 'until'], '/config', change);
  if (step['stepType'] !== 'condition') return;
  const result = changeMembers(config, ['expression'], '/config', change);
  const { branches } = result;
  if (Array.isArray(branches))
    result['branches'] = branches.map((branch: Json, index) =>
      isObject(branch) ? changeMembers(branch, ['expression'], `/config/branches/${index}`, change) : branch,
    );
  step['config'] = result;
}

function changeMembers(
  object: JsonObject,
  members: readonly string[],
  at: string,
  change: ExpressionChange,
): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(object)) {
    const isExpression = typeof value === 'string' && members.includes(key);
    setOwn(result, key, isExpression ? change(value, childPointer(at, key)) : value);
  }
  return result;
}
