import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import type { JsonObject } from '../../src/json/json.ts';

const set = (name: string, next?: string): JsonObject => ({
  stepType: 'set',
  config: { values: { [name]: 1 } },
  ...(next === undefined ? {} : { nextSteps: { success: next } }),
});

function warned(steps: JsonObject): string[] {
  const { problems, warnings } = check({ name: 'X', slug: 'x', start: Object.keys(steps)[0] ?? '', steps });
  expect(problems).toEqual([]);
  return warnings.map(({ pointer, code, message }) => `${pointer} ${code} ${/"(\w+)"/.exec(message)?.[1] ?? ''}`);
}

describe('wiring', () => {
  it('warns of steps that no walk comes to', () => {
    expect(warned({ a: set('v'), b: set('w', 'c'), c: set('x') })).toEqual([
      '/steps/b unreachable_step a',
      '/steps/c unreachable_step a',
    ]);
  });

  it('warns of ports that lead nowhere, but for the one by which a kind ends', () => {
    expect(warned({ a: set('v') })).toEqual([]);
    expect(
      warned({ a: { stepType: 'condition', config: { expression: 'input.x' }, nextSteps: { true: '$end' } } }),
    ).toEqual(['/steps/a/nextSteps port_not_wired false']);
    expect(warned({ a: { stepType: 'approval', config: { message: 'm' }, nextSteps: { approved: '$end' } } })).toEqual([
      '/steps/a/nextSteps port_not_wired rejected',
    ]);
    expect(
      warned({
        a: {
          stepType: 'approval',
          config: { message: 'm', timeout: '1d' },
          nextSteps: { approved: '$end', rejected: '$end' },
        },
      }),
    ).toEqual(['/steps/a/nextSteps port_not_wired timeout']);
  });

  it('asks for no port that the config rules out', () => {
    const approval = (more: JsonObject, next: JsonObject): JsonObject => ({
      stepType: 'approval',
      config: { message: 'm', timeout: '1d', ...more },
      nextSteps: next,
    });
    const decided = { approved: '$end', rejected: '$end' };
    expect(warned({ a: approval({ onTimeout: 'approved' }, decided) })).toEqual([]);
    expect(warned({ a: approval({ onTimeout: 'rejected', onReject: 'cancel' }, { approved: '$end' }) })).toEqual([]);
    expect(warned({ a: { stepType: 'approval', config: { message: 'm', onReject: 'cancel' } } })).toEqual([
      '/steps/a port_not_wired approved',
    ]);
  });

  it('warns of modifiers of effects on steps that have none', () => {
    const retry = { maxAttempts: 2 };
    expect(
      warned({
        a: { ...set('v', 'b'), retry, timeout: '1s' },
        b: { stepType: 'sleep', config: { duration: '1s' }, local: true, nextSteps: { success: 'c' } },
        c: { stepType: 'http', config: { url: 'https://x.y' }, retry, timeout: '1s', local: true },
      }),
    ).toEqual([
      '/steps/a/retry modifier_without_effect retry',
      '/steps/a/timeout modifier_without_effect timeout',
      '/steps/b/local modifier_without_effect local',
    ]);
  });

  it('warns of onError where no step can follow', () => {
    const onError = 'continue';
    const config = { message: 'x' };
    expect(
      warned({
        a: { stepType: 'set', config: { values: { v: '1' } }, onError, nextSteps: { success: 'b' } },
        b: { stepType: 'condition', config: { expression: 'input.x' }, nextSteps: { true: 'c', false: 'd' } },
        c: { stepType: 'fail', config, onError, retry: { maxAttempts: 2 } },
        d: { stepType: 'return', config: { output: '1' }, onError },
      }),
    ).toEqual([
      '/steps/c/onError modifier_without_effect onError',
      '/steps/c/retry modifier_without_effect retry',
      '/steps/d/onError modifier_without_effect onError',
    ]);
    expect(warned({ a: { stepType: 'fail', config, onError: 'fail' } })).toEqual([]);
  });

  it('warns of a body that is none, since the other ports reach it too', () => {
    const loop = (next: JsonObject): JsonObject => ({ stepType: 'loop', config: { items: [1] }, nextSteps: next });
    expect(warned({ l: loop({ loop: 'b', done: 'b' }), b: set('v') })).toEqual([
      '/steps/l/nextSteps/loop no_branches loop',
    ]);
    expect(warned({ l: loop({ loop: 'b', done: 'e' }), b: set('v', 'l'), e: set('w') })).toEqual([]);
    const stop = { stepType: 'fail', config: { message: 'x' } };
    expect(warned({ l: loop({ loop: 'stop', done: 'stop' }), stop })).toEqual([]);
  });

  it('warns of containers without a body', () => {
    expect(warned({ a: { stepType: 'parallel', nextSteps: { done: '$end' } } })).toEqual(['/steps/a no_branches a']);
    expect(warned({ a: { stepType: 'loop', config: { items: [1] } } })).toEqual(['/steps/a no_branches a']);
  });

  it('warns of branches that write the same key', () => {
    const parallel = { stepType: 'parallel', nextSteps: { left: 'a', right: 'b' } };
    expect(warned({ p: parallel, a: set('v', 'p'), b: set('w', 'p') })).toEqual([]);
    expect(warned({ p: parallel, a: set('v', 'p'), b: set('v', 'p') })).toEqual([
      '/steps/b/config/values concurrent_write left',
    ]);
    expect(
      warned({
        p: parallel,
        a: { ...set('v', 'p'), saveToState: 'k' },
        b: { ...set('w', 'p'), saveToState: { k: '1' } },
      }),
    ).toEqual(['/steps/b/saveToState/k concurrent_write left']);
  });

  it('warns of iterations that run at once and write the same key', () => {
    const each = (concurrency: number): JsonObject => ({
      f: { stepType: 'forEach', config: { items: [1], concurrency }, nextSteps: { item: 'a' } },
      a: { ...set('v', 'f'), outputVariable: 'o' },
    });
    expect(warned(each(1))).toEqual([]);
    expect(warned(each(2))).toEqual([
      '/steps/a/outputVariable concurrent_write f',
      '/steps/a/config/values concurrent_write f',
    ]);
  });
});

describe('the hint for a port that leads nowhere', () => {
  const asking = { stepType: 'listen', config: { name: 'go', timeout: '10s' }, nextSteps: { received: 'end' } };
  const hintOf = (steps: JsonObject): string | undefined =>
    check({ name: 'X', slug: 'x', start: Object.keys(steps)[0] ?? '', steps }).warnings.find(
      ({ code }) => code === 'port_not_wired',
    )?.hint;

  it('leads to the end of the run only where nothing else runs at the same time', () => {
    expect(hintOf({ ask: asking, end: set('v') })).toBe('Wire it, or wire it to "$end" to end the run here.');
    const kinds = { parallel: 'branch', race: 'branch', forEach: 'iteration', loop: 'tick' };
    for (const [stepType, ends] of Object.entries(kinds)) {
      const port = { parallel: 'a', race: 'a', forEach: 'item', loop: 'loop' }[stepType] ?? '';
      const config = stepType === 'forEach' || stepType === 'loop' ? { config: { items: [1] } } : {};
      const steps = { both: { stepType, ...config, nextSteps: { [port]: 'ask' } }, ask: asking, end: set('v') };
      const hint = `Wire it, or wire it to "both" to end this ${ends} here. ("$end" would end the whole run.)`;
      expect(hintOf(steps)).toBe(hint);
      // As the hint says, the port is wired, and nothing else is said.
      const mended = { ...steps, ask: { ...asking, nextSteps: { received: 'end', timeout: 'both' } } };
      expect(warned(mended)).toEqual([]);
    }
  });

  it('warns of a branch with the name of a port that every step has', () => {
    const race = (port: string): JsonObject => ({
      race: { stepType: 'race', nextSteps: { work: 'work', [port]: 'other', done: '$end' } },
      work: set('v', 'race'),
      other: set('w', 'race'),
    });
    expect(warned(race('timeout'))).toEqual([]);
    for (const port of ['error', 'skipped'])
      expect(warned(race(port))).toEqual([`/steps/race/nextSteps/${port} reserved_port ${port}`]);
    const handled = { ...race('error'), other: set('w', '$end') };
    expect(warned(handled)).toEqual([]);
  });
});
