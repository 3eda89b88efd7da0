/**
 * The valid part of a run's memo. A run that was started through Temporal may have any memo, and any client may upsert
 * one. Members of another shape are omitted, so that lists do not fail.
 */

import { RUN_STATUSES, type RunMemo } from '../../contract/run/run.ts';
import { isObject } from '../../json/json.ts';

type Memo = { readonly [field: string]: unknown };
type Check = (value: unknown) => boolean;

const STATUSES: readonly unknown[] = RUN_STATUSES;
const isText: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number';
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isTime: Check = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const hasTexts =
  (...members: readonly string[]): Check =>
  (value) =>
    isObject(value) && members.every((member) => isText(value[member]));
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

const isWait: Check = (value) =>
  hasTexts('path', 'stepSlug', 'kind', 'since')(value) &&
  isObject(value) &&
  ['audience', 'notBy', 'names'].every((list) => value[list] === undefined || listOf(isText)(value[list])) &&
  ['message', 'name', 'until', 'gate'].every((member) => value[member] === undefined || isText(value[member]));
const isTrigger: Check = (value) =>
  hasTexts('type')(value) && isObject(value) && (value['id'] === undefined || isText(value['id']));
const isOrigin: Check = (value) => isObject(value) && Object.values(value).every(isText);
const isCost: Check = (value) => isObject(value) && isNumber(value['input_tokens']) && isNumber(value['output_tokens']);

/** The checks of the shapes. Other members of the memo are not the run's: their readers check them themselves. */
const CHECKS = {
  workflow: isText,
  version: isText,
  hash: isText,
  organizationId: isText,
  status: (value) => STATUSES.includes(value),
  waitingFor: listOf(isWait),
  unread: isCount,
  dropped: isCount,
  paused: (value) => value === null || isTime(value),
  trigger: isTrigger,
  startedAt: isTime,
  decided: (value) => isObject(value) && isTime(value['at']),
  inline: (value) => typeof value === 'boolean',
  initiator: isText,
  owner: isText,
  parentId: isText,
  forkOf: hasTexts('executionId', 'path'),
  origin: isOrigin,
  costs: listOf(isCost),
} satisfies Record<keyof RunMemo, Check>;

const isMember = (field: string): field is keyof RunMemo => Object.hasOwn(CHECKS, field);

export function validMemo(memo: Memo): Memo & Partial<RunMemo> {
  const isValid = ([field, value]: [string, unknown]) => !isMember(field) || CHECKS[field](value);
  const fields = Object.entries(memo);
  return fields.every(isValid) ? memo : Object.fromEntries(fields.filter(isValid));
}
