import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RunFilter, runQuery } from '../../src/client/runs/run-list.ts';
import { compare, queryOf } from '../../src/client/search-attributes/query.ts';
import { attributeValue, attributeValues } from '../../src/contract/search-attributes.ts';
import { eventTag, type Trigger } from '../../src/contract/triggers/trigger.ts';
import { triggerAttributes } from '../../workflows/actors/search-attributes.ts';

/** What the server's parser sees: texts replaced by one character, so that only names, operators and brackets stay. */
function skeleton(query: string): string {
  let text = '';
  for (let i = 0; i < query.length; i++) {
    if (query[i] !== "'") {
      text += query[i];
      continue;
    }
    for (i++; i < query.length && query[i] !== "'"; i++) if (query[i] === '\\') i++;
    text += '?';
  }
  return text;
}

const eventTrigger = (name: string): Trigger => ({
  id: 'w.t',
  workflow: 'w',
  name: 't',
  type: 'event',
  enabled: true,
  config: { name },
  source: { of: 'api' },
  revision: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
});

describe('queries of lists', () => {
  it('put organization and type outermost', () => {
    expect(queryOf('default', 'run', [compare('workflow', '=', 'a')])).toBe(
      "SignalboxOrg = 'default' AND WorkflowType = 'run' AND SignalboxWorkflow = 'a'",
    );
  });

  it.each([
    ['a list', undefined],
    ['cancelling and terminating', { open: true }],
    ['retrying', { failedBy: 86_400_000 }],
  ] as const)('quote whatever stands in a filter: %s', (_name, part) => {
    const hostile = fc.oneof(
      fc.string(),
      fc.constantFrom("'", "\\'", '\\', "' OR 1=1 --", '" OR ""="', "x\\' OR SignalboxOrg != '", '`', '\0'),
      fc.string({ unit: fc.constantFrom("'", '\\', '"', ' ', 'O', 'R') }),
    );
    const texts = [
      'workflowId',
      'executionId',
      'conversationId',
      'channel',
      'employeeId',
      'model',
      'triggerId',
      'triggerType',
      'tag',
    ] as const;
    const named = <T>(value: T) =>
      Object.fromEntries(texts.map((name) => [name, value])) as { [name in (typeof texts)[number]]: T };
    const filter = fc.record({
      ...named(hostile),
      state: fc.dictionary(hostile, hostile, { minKeys: 1, maxKeys: 1 }),
      waiting: fc.array(hostile, { minLength: 1, maxLength: 1 }),
    });
    const plain = skeleton(runQuery('default', { ...named('a'), state: { a: 'a' }, waiting: ['a'] }, part));
    expect(plain).toMatch(/^SignalboxOrg = \? AND WorkflowType = \? AND ExecutionStatus != \? AND /);
    fc.assert(fc.property(filter, (given) => skeleton(runQuery('default', given, part)) === plain));
  });

  it('put statuses and ranges in brackets of their own', () => {
    const filter: Omit<RunFilter, 'limit'> = {
      status: ['failed', 'running'],
      started: { gte: 0, lt: 86_400_000 },
      tokens: { gt: 5 },
    };
    expect(runQuery('o', filter)).toBe(
      "SignalboxOrg = 'o' AND WorkflowType = 'run' AND ExecutionStatus != 'ContinuedAsNew' AND " +
        "(((ExecutionStatus = 'Failed' AND (SignalboxStatus != 'aborted' OR SignalboxStatus IS NULL)) OR " +
        "ExecutionStatus = 'TimedOut') OR (ExecutionStatus = 'Running' AND (SignalboxStatus = 'running' OR " +
        'SignalboxStatus IS NULL))) AND ' +
        "SignalboxStarted >= '1969-12-31T23:59:59.999999999Z' AND SignalboxStarted < " +
        "'1970-01-01T23:59:59.999999999Z' AND SignalboxTokens > 5",
    );
  });

  it.each(['a', `${'long '.repeat(50)}text`, 'with "quotes"', `${'"long" '.repeat(50)}with quotes`])(
    'compare with values as they were written: %s',
    (text) => {
      expect(runQuery('o', { tag: text })).toContain(
        `SignalboxTags = '${attributeValues([text])[0]!.replaceAll("'", "\\'")}'`,
      );
      expect(runQuery('o', { channel: text })).toContain(
        `SignalboxChannel = '${attributeValue(text).replaceAll("'", "\\'")}'`,
      );
      expect(runQuery('o', { executionId: text })).toContain(`WorkflowId = '${text}'`);
      const tags = triggerAttributes('o', 'w', 'w.t', eventTrigger(text))['SignalboxTags'];
      expect(compare('tags', '=', eventTag(text)).text).toBe(
        `SignalboxTags = '${String(tags).replaceAll("'", "\\'")}'`,
      );
    },
  );

  it.each([
    [{ eq: 0 }, '((SignalboxTokens = 0) OR SignalboxTokens IS NULL)'],
    [{ lte: 100 }, '((SignalboxTokens <= 100) OR SignalboxTokens IS NULL)'],
    [{ gte: 0, lt: 5 }, '((SignalboxTokens >= 0 AND SignalboxTokens < 5) OR SignalboxTokens IS NULL)'],
    [{ gt: 0, lt: 5 }, 'SignalboxTokens > 0 AND SignalboxTokens < 5'],
    [{ eq: 7 }, 'SignalboxTokens = 7'],
  ])('take a run without a model for one without tokens: %j', (tokens, clause) => {
    expect(runQuery('o', { tokens }).split("'ContinuedAsNew' AND ")[1]).toBe(clause);
  });
});
