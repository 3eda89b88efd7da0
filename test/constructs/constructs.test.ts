/**
 * The own definitions and cases use each construct that those of other projects use (../shared/cases), so that a
 * checkout on its own proves as much. constructs.json lists them.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/json/json.ts';
import { CASES, TALE_DEFINITIONS } from '../compat/dialects/load.ts';
import { CRON_CASES, REFUSED_CRON } from '../definition/cron-cases.ts';
import { agentOpsCases, describeSharedCases, sharedCases, sharedCron, taleCases } from '../support/shared-cases.ts';
import { EXPRESSIONS, SCOPE, TEMPLATES, WRONG_EXPRESSIONS, WRONG_TEMPLATES } from '../template/language-cases.ts';
import { ofCron } from './cron-constructs.ts';
import { ofAgentOps, ofTale } from './definition-constructs.ts';
import { ofExpression, ofTemplate } from './expression-constructs.ts';

interface SharedExpression {
  readonly expression?: string;
  readonly template?: Json;
  readonly context: { readonly [name: string]: Json };
}

const collected = <T>(list: readonly T[], of: (one: T) => Iterable<string>): readonly string[] =>
  [...new Set(list.flatMap((one) => [...of(one)]))].sort();

const own: { readonly [room: string]: readonly string[] } = {
  tale: collected(TALE_DEFINITIONS, ({ document }) => ofTale(document)),
  'agent-ops': collected(CASES['002']!, ({ document }) => ofAgentOps(document)),
  expressions: collected(
    [
      ...[...EXPRESSIONS, ...WRONG_EXPRESSIONS].map(([source]) => ofExpression(source, SCOPE)),
      ...[...TEMPLATES, ...WRONG_TEMPLATES].map(([template]) => ofTemplate(template, SCOPE)),
    ],
    (one) => one,
  ),
  schedules: collected([...CRON_CASES, ...REFUSED_CRON.map((cron) => ({ cron }))], ofCron),
};

const theirs: typeof own = {
  tale: collected(taleCases, ({ document }) => ofTale(document)),
  'agent-ops': collected(agentOpsCases, ({ definition }) => ofAgentOps(definition)),
  expressions: collected(
    ['jexl', 'tale'].flatMap((file) => sharedCases<SharedExpression>(`expressions/${file}.json`)),
    ({ expression = '', template, context }) =>
      template === undefined ? ofExpression(expression, context) : ofTemplate(template, context),
  ),
  schedules: collected(sharedCron, ({ error, never, cron, ...rest }) =>
    ofCron(error === true || never === true ? { cron } : { cron, ...rest }),
  ),
};

const listed: typeof own = JSON.parse(readFileSync(new URL('constructs.json', import.meta.url), 'utf8'));

const lacking = (wanted: readonly string[] = [], held: readonly string[] = []): readonly string[] => {
  const known = new Set(held);
  return wanted.filter((one) => !known.has(one));
};

const rooms = Object.keys(own);

describe('each construct that is listed', () => {
  it.each(rooms)('is used by the own cases: %s', (room) => {
    expect(lacking(listed[room], own[room])).toEqual([]);
    expect(listed[room]!.length).toBeGreaterThan(50);
  });
});

describeSharedCases('the list', () => {
  it.each(rooms)('has each construct of the cases of other projects, and no other: %s', (room) => {
    expect(listed[room]).toEqual(theirs[room]);
  });
});
