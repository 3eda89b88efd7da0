// What continue-as-new carries (src/engine/state/serialize.ts, E2).

import { describe, expect, it } from 'vitest';
import type { StepDefinition } from '../../src/definition/document/types.ts';
import { MAX_OPEN_EFFECTS } from '../../src/engine/state/limits.ts';
import { restore, serialize } from '../../src/engine/state/serialize.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import type { Json } from '../../src/json/json.ts';
import { carriedBytes, http, listening, start, text } from './large-runs.ts';

describe('what is carried', () => {
  it('writes a value once, however often it is referred to', () => {
    const rows = Array.from({ length: 500 }, (_, i) => ({ id: i, text: text(200) }));
    const run = start(
      {
        start: { stepType: 'trigger', nextSteps: { success: 'rows' } },
        rows: { stepType: 'loop', config: { items: '{{ input }}' }, nextSteps: { loop: 'each' } },
        each: {
          stepType: 'forEach',
          config: { items: '{{ loop.items }}', concurrency: 500 },
          nextSteps: { item: 'keep' },
        },
        keep: { stepType: 'mapping', config: { output: '{{ item }}' }, nextSteps: { success: 'call' } },
        call: http(),
      },
      rows,
    );
    expect(run.state.sentCount).toBe(MAX_OPEN_EFFECTS);
    const once = jsonBytes(rows);
    // 500 frames and commands of their own, besides the rows.
    expect(carriedBytes(run)).toBeLessThan(once + 500 * 1_500);
    const again = restore(JSON.parse(JSON.stringify(serialize(run.program, run.state))));
    expect(JSON.stringify(serialize(run.program, again))).toBe(JSON.stringify(serialize(run.program, run.state)));
  });

  it('keeps data that looks like a reference, or like a prototype', () => {
    const odd = JSON.parse(
      '{"$shared": 0, "list": [{"$shared": 1}, {"$shared": {"$shared": 0}}], "__proto__": {"a": 1}}',
    ) as Json;
    const run = start(
      {
        start: { stepType: 'trigger', nextSteps: { success: 'keep' } },
        keep: {
          stepType: 'set',
          config: { values: { odd: '{{ input }}', same: '{{ input.list }}' } },
          nextSteps: { success: 'wait' },
        },
        wait: { stepType: 'sleep', config: { duration: '1h' } },
      },
      odd,
    );
    const again = restore(JSON.parse(JSON.stringify(serialize(run.program, run.state))));
    expect(JSON.stringify(again.variables)).toBe(JSON.stringify(run.state.variables));
    expect(JSON.stringify(again.genesis)).toBe(JSON.stringify(run.state.genesis));
  });

  it('leaves behind the outputs that no reachable step can refer to (§12)', () => {
    const count = 60;
    const steps: { [slug: string]: StepDefinition } = {};
    for (let i = 0; i < count; i++)
      steps[`s${i}`] = {
        ...http(i === 0 ? {} : { body: `{{ steps.s${i - 1}.output.data|length }}` }),
        ...(i % 2 === 0 ? { outputVariable: `v${i}` } : {}),
        nextSteps: { success: `s${i + 1}` },
      };
    steps[`s${count}`] = {
      stepType: 'mapping',
      config: { output: '{{ steps.s7.output.data|length + outputs.v8|length }}' },
    };
    const run = start(steps);
    for (let i = 0; i < count; i++) {
      const [answered] = run.feed({ type: 'completed', id: `s${i}`, result: { data: text(100_000) } });
      if (i < count - 1) expect(answered).toMatchObject({ config: { body: 100_000 } });
      if (run.state.ending === undefined) expect(carriedBytes(run)).toBeLessThan(500_000);
    }
    expect(run.state.ending).toEqual({ status: 'completed', output: 200_000 });
  });

  it('is not read by an interpreter of another version', () => {
    const run = start(listening);
    expect(() => restore({ ...(serialize(run.program, run.state) as object), version: 99 })).toThrow(/version/);
    expect(() => restore(null)).toThrow(/no state/);
  });
});
