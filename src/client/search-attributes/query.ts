/**
 * Builds all Visibility queries. Every value is quoted, every name comes from a list, and the organization is the
 * outermost condition: no filter can reach another organization's runs.
 */

import { NAMESPACE_DIVISION_ATTRIBUTE } from '../../contract/namespace-division.ts';
import { ATTRIBUTES, attributeValue, listValue } from '../../contract/search-attributes.ts';

/** Temporal's own attributes, whose values are not shortened. */
const TEMPORAL_NAMES = {
  executionStatus: 'ExecutionStatus',
  workflowType: 'WorkflowType',
  workflowId: 'WorkflowId',
  closeTime: 'CloseTime',
  taskQueue: 'TaskQueue',
  division: NAMESPACE_DIVISION_ATTRIBUTE,
} as const;

const NAMES: { readonly [name in AttributeName]: string } = { ...ATTRIBUTES, ...TEMPORAL_NAMES };

/** Lists of keywords, whose values have an encoding of their own. */
const KEYWORD_LISTS: ReadonlySet<string> = new Set<keyof typeof ATTRIBUTES>(['tags', 'state', 'waiting']);

export type AttributeName = keyof typeof ATTRIBUTES | keyof typeof TEMPORAL_NAMES;
export type Operator = '=' | '!=' | '>' | '>=' | '<' | '<=';

/** A condition; made only by the functions of this file. */
export interface Clause {
  readonly text: string;
}

/** The value is given whole, and shortened as it was when it was written. */
export const compare = (name: AttributeName, operator: Operator, value: string | number): Clause => ({
  text: `${NAMES[name]} ${operator} ${typeof value === 'number' ? numeral(value) : quoted(written(name, value))}`,
});

/** @throws RangeError for an empty list of values. */
export const oneOf = (name: AttributeName, values: readonly string[]): Clause => {
  if (values.length === 0) throw new RangeError('A clause needs at least one value.');
  return { text: `${NAMES[name]} IN (${values.map(quoted).join(', ')})` };
};

export const isNull = (name: AttributeName): Clause => ({ text: `${NAMES[name]} IS NULL` });

export const all = (...clauses: readonly Clause[]): Clause => joined(clauses, 'AND');

export const any = (...clauses: readonly Clause[]): Clause => joined(clauses, 'OR');

/** The whole query: the condition of `clauses`, within one organization and one type of workflow. */
export function queryOf(org: string, workflowType: string, clauses: readonly Clause[]): string {
  const within = [compare('org', '=', org), compare('workflowType', '=', workflowType), ...clauses];
  return within.map((clause) => clause.text).join(' AND ');
}

/** A query across organizations, for the host alone. It must not contain values of callers. */
export const hostQuery = (clauses: readonly Clause[]): string => clauses.map((clause) => clause.text).join(' AND ');

function joined(clauses: readonly Clause[], word: 'AND' | 'OR'): Clause {
  if (clauses.length === 0) throw new RangeError('A clause joins at least one other.');
  return { text: `(${clauses.map((clause) => clause.text).join(` ${word} `)})` };
}

function written(name: AttributeName, value: string): string {
  if (name in TEMPORAL_NAMES) return value;
  return KEYWORD_LISTS.has(name) ? listValue(value) : attributeValue(value);
}

/** The server's parser is MySQL's: backslash escapes, and either quote ends a text. */
function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function numeral(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError('A query compares with finite numbers only.');
  return Number.isInteger(value) ? String(value) : value.toFixed(6);
}
