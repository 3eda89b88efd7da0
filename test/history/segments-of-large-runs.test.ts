// Segments of runs that have done many light effects: their state is measured, in the run and in the fold alike.
import { describe, expect, it } from 'vitest';
import {
  buildIdOf,
  dataBytesOf,
  encodesFailures,
  hasMark,
  historyLimitOf,
  MARKS,
} from '../../src/contract/build-id.ts';
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import { MAX_SEGMENT_STATE_BYTES } from '../../src/engine/segment.ts';
import { serialize } from '../../src/engine/state/serialize.ts';
import { Fold } from '../../src/history/fold.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import { Model, WORKFLOW_ID } from './model.ts';

const light: StepDefinition = { stepType: 'action', config: { type: 'test.light', parameters: {} } };
const definitionOf = (steps: Definition['steps']): Definition => ({ name: 'Grown', slug: 'grown', steps });
const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** Plays the run to its end. `ends`: the most effects of a segment. */
function played(definition: Definition, ends: number) {
  const model = new Model(definition, {}, [{ local: false, ends, fails: [] }]);
  let charged = 0;
  let measured = 0;
  let { bytes: before, correctedBytes: last } = model.state;
  while (!model.ended) {
    model.task();
    const { bytes, correctedBytes } = model.state;
    charged += Math.max(0, bytes - before);
    if (correctedBytes !== undefined && correctedBytes !== last) {
      measured += correctedBytes;
      last = correctedBytes;
      charged += Math.max(0, before - bytes);
    }
    before = bytes;
    if (model.openActivities > 0) model.completeActivity(0);
  }
  model.close();
  const events = model.histories.flat();
  const segments = events.filter((event) => event.type === 'activityScheduled' && event.activityId === '$segment');
  const fold = new Fold(WORKFLOW_ID);
  for (const event of events) fold.push(event);
  return { model, events, segments: segments.length, trace: fold.finish(), charged, measured };
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const EFFECTS = 3_000;

describe('a run that has done thousands of light effects', () => {
  it.each<[string, Definition['steps']]>([
    [
      'in a loop',
      {
        each: {
          stepType: 'loop',
          config: {
            initial: 0,
            next: '{{ loop.carry + 1 }}',
            while: `loop.carry < ${EFFECTS}`,
            maxIterations: EFFECTS,
          },
          nextSteps: { loop: 'get' },
        },
        get: light,
      },
    ],
    [
      'over a list, a hundred at a time',
      {
        each: {
          stepType: 'forEach',
          config: { items: numbers(EFFECTS), concurrency: 100 },
          nextSteps: { item: 'get' },
        },
        get: light,
      },
    ],
  ])('did them in segments: %s', (_, steps) => {
    const { model, events, trace } = played(definitionOf(steps), 500);
    expect(model.state.ending?.status).toBe('completed');
    expect(events.length / EFFECTS).toBeLessThan(0.02);
    expect(plain(trace.state)).toEqual(plain(model.state));
    expect(trace.count).toBeGreaterThan(EFFECTS);
    expect(trace.guesses).toEqual([]);
  });
});

describe('a run whose state outgrows segments', () => {
  const growing = definitionOf({
    each: { stepType: 'forEach', config: { items: numbers(1_500), concurrency: 1 }, nextSteps: { item: 'get' } },
    get: { ...light, nextSteps: { success: 'keep' } },
    keep: { stepType: 'set', config: { values: { kept: `{{ item }} ${'x'.repeat(300)}` } } },
  });

  it('has them as long as its state is small, and folds to the live state (E6)', () => {
    const { model, segments, trace } = played(growing, 40);
    expect(model.state.ending?.status).toBe('completed');
    expect(jsonBytes(serialize(model.program, model.state))).toBeGreaterThan(MAX_SEGMENT_STATE_BYTES);
    // Its state is small for about half of its effects.
    expect(segments).toBeGreaterThan(15);
    expect(segments).toBeLessThan(30);
    expect(plain(trace.state)).toEqual(plain(model.state));
    expect(trace.guesses).toEqual([]);
  });

  it('is measured in proportion to what it was charged', () => {
    const { measured, charged } = played(growing, 40);
    expect(measured).toBeGreaterThan(0);
    expect(measured).toBeLessThan(9 * charged);
  });
});

describe('the build id of a worker', () => {
  const stamp = { historyLimit: 30, dataBytes: 16_000_000, encodes: true, codeHash: '0123456789abcdef' };

  it('names the marks of its code after its settings', () => {
    const buildId = buildIdOf(stamp);
    expect(buildId).toBe(`history-30-data-16000000-${MARKS.join('-')}-encoded-code-0123456789ab`);
    expect(MARKS.map((mark) => hasMark(buildId, mark))).toEqual(MARKS.map(() => true));
    expect([historyLimitOf(buildId), dataBytesOf(buildId), encodesFailures(buildId)]).toEqual([30, 16_000_000, true]);
  });

  it('of an earlier version has the marks of that version only', () => {
    const earlier = 'history-1000-data-1800000-segments';
    expect([hasMark(earlier, 'segments'), hasMark(earlier, 'segments2')]).toEqual([true, false]);
    expect(MARKS.map((mark) => hasMark('history-1000-data-1800000', mark))).toEqual(MARKS.map(() => false));
    expect([historyLimitOf(earlier), dataBytesOf(earlier), encodesFailures(earlier)]).toEqual([
      1_000,
      1_800_000,
      false,
    ]);
    expect(hasMark(undefined, 'segments')).toBe(false);
  });
});
