import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { decodeHistoryEvent } from '../../src/client/history/event-decoder.ts';
import { RUN_WORKFLOW } from '../../src/contract/run/run.ts';
import { resumedState } from '../../src/engine/resume/rewind.ts';
import type { HistoryEvent } from '../../src/history/events.ts';
import { Fold, type FoldOptions } from '../../src/history/fold.ts';
import { RequestTargets } from '../../src/history/request-targets.ts';
import { RetryPlan } from '../../src/history/retry-plan.ts';
import type { RunTrace } from '../../src/history/run-trace.ts';
import { historyFromJSON } from '../support/sdk.ts';

// Every stored history of a run folds as it is now. Retry and fork fold it twice, and the second walk names the visits
// that the first one found: it comes to the same state.

const WORKFLOW_ID = 'run.default.recorded.1';
const root = fileURLToPath(new URL('../histories', import.meta.url));
const converter = {
  payloadConverter: defaultPayloadConverter,
  failureConverter: defaultFailureConverter,
  payloadCodecs: [],
};

async function eventsOf(file: string): Promise<HistoryEvent[]> {
  const { events } = historyFromJSON(JSON.parse(readFileSync(join(root, file), 'utf8')));
  return Promise.all((events ?? []).map((event) => decodeHistoryEvent(converter, event)));
}

const isOfRun = (file: string): boolean => {
  const [first] = JSON.parse(readFileSync(join(root, file), 'utf8')).events;
  return first.workflowExecutionStartedEventAttributes.workflowType.name === RUN_WORKFLOW;
};
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.json') && isOfRun(file))
  .sort();

function folded(events: readonly HistoryEvent[], options: FoldOptions = {}): RunTrace {
  const fold = new Fold(WORKFLOW_ID, undefined, options);
  for (const event of events) fold.push(event);
  return fold.finish();
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

describe('a recorded history of a run', () => {
  it('is there in several kinds', () => expect(files.length).toBeGreaterThan(20));

  it.each(files)('folds, and to the same state again with its requests by path: %s', async (file) => {
    const events = await eventsOf(file);
    const targets = new RequestTargets();
    const first = folded(events, {
      mapEvent: (event, { program, state, place }) => {
        targets.note(program, state, event, place);
        return event;
      },
    });
    expect(first.unreadable).toBeUndefined();
    expect(first.rows.length).toBeGreaterThan(0);
    if (!file.includes('-1.json')) expect(first.state?.ending).toBeDefined();
    const second = folded(events, { mapEvent: (event, { place }) => targets.withTarget(event, place) });
    expect(plain(second.state)).toEqual(plain(first.state));
  });
});

it.each([
  ['0.4.0/formats-unmarked.json', { code: 'abcd', host: '1.2.3' }],
  ['0.4.0/formats.json', { code: 'ABC', host: '1.2.3.4' }],
])('patterns and newer formats are applied where the worker applied them: %s', async (file, output) => {
  expect(folded(await eventsOf(file)).state?.ending).toMatchObject({ status: 'completed', output });
});

it('a run whose agent had two open asks is armed again where it failed', async () => {
  const events = await eventsOf('0.4.0/asks.json');
  const { state } = folded(events);
  if (state?.ending?.status !== 'failed') throw new Error('It has not failed.');
  const plan = new RetryPlan(state.ending.error);
  folded(events, plan.searchOptions('run'));
  const { program, state: without } = folded(events, plan.replayOptions('run'));
  const armed = resumedState(program!, plan.checkedState(without), {
    work: plan.postponed,
    at: 2_000_000_000_000,
    limiters: [],
  });
  expect(Object.keys(armed.openCommands)).toEqual(['end']);
});

it('decisions of earlier workers are in the trace, and in no list', async () => {
  const { rows, state } = folded(await eventsOf('0.4.0/asks.json'));
  expect(rows.filter(({ decision }) => decision !== undefined).map(({ path, decision }) => [path, decision])).toEqual(
    ['work/turn[0]/tool[0]', 'work/turn[0]/tool[1]'].map((path) => [
      path,
      expect.objectContaining({ status: 'approved', by: 'ann', message: 'Refund?' }),
    ]),
  );
  expect(state).not.toHaveProperty('decided');
});

it('decisions are values of the searchable state', async () => {
  const { state } = folded(await eventsOf('0.4.0/decided.json'));
  expect(state?.decided).toEqual([
    'decided:approved',
    'approval:ann',
    'resource:order/7',
    'approval:bob',
    'resource:invoice',
  ]);
});

it.each([
  ['0.4.0/joins.json', { total: 'failed', ended: 'done' }],
  ['0.4.0/joins-unmarked.json', { total: 'completed', ended: 'rest' }],
])('texts are joined and cut as by the worker of the run: %s', async (file, { total, ended }) => {
  const { rows } = folded(await eventsOf(file));
  expect(rows.find(({ path }) => path === 'total')?.status).toBe(total);
  expect(rows.map(({ path }) => path)).toContain(ended);
});
