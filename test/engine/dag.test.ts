import { describe, expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import { simulate } from '../../src/engine/simulate.ts';
import type { Json } from '../../src/json/json.ts';
import { compile } from '../../src/steps/compile/program.ts';
import { programOf } from '../support/program.ts';

function walk(steps: Definition['steps'], input: Json = {}, answers: { [slug: string]: Json } = {}) {
  const program = programOf({ name: 'Graph', slug: 'graph', flow: 'dag', steps });
  const begun: string[] = [];
  const runs = [false, true].map((serializesAlways) =>
    simulate(program, {
      genesis: {
        executionId: 'run.default.graph.1',
        organizationId: 'default',
        input,
        presets: {},
        trigger: { type: 'manual' },
        depth: 0,
        startedAt: 0,
      },
      effect: (command) => {
        if (!serializesAlways) begun.push(command.id);
        return {
          result: { data: answers[command.stepSlug] ?? command.config },
          afterMs: command.stepSlug === 'slow' ? 50 : 10,
        };
      },
      serializesAlways,
    }),
  );
  expect(runs[1]!.trace).toEqual(runs[0]!.trace);
  return {
    ...runs[0]!,
    begun,
    paths: runs[0]!.trace.flatMap((line) => (line.t === 'begin' ? [`${line.path}@${line.at}`] : [])),
  };
}

const http = (url: string) => ({ stepType: 'http', config: { url } });

describe('flow: dag', () => {
  it('begins all ready steps concurrently, and the others when their dependencies have ended', () => {
    const run = walk(
      {
        a: http('http://x/a'),
        b: http('http://x/b'),
        c: http('http://x/{{ steps.a.output.data }}/{{ steps.b.output.data }}'),
      },
      {},
      { a: 1, b: 2 },
    );
    expect(run.paths).toEqual(['a@0', 'b@0', 'c@10']);
    expect(run.output).toMatchObject({ url: 'http://x/1/2' });
  });

  it('gives the outputs of all terminal steps by slug when there are several', () => {
    const run = walk(
      {
        a: http('http://x/a'),
        b: { ...http('http://x/b'), dependsOn: ['a'] },
        c: { ...http('http://x/c'), dependsOn: ['a'] },
      },
      {},
      { b: 'B', c: 'C' },
    );
    expect(run.output).toEqual({ b: 'B', c: 'C' });
    expect(run.paths).toEqual(['a@0', 'b@10', 'c@10']);
  });

  it('gives null for a skipped step, and skips what asks for its truth', () => {
    const run = walk({
      check: { stepType: 'mapping', config: { output: { ok: false } } },
      send: { ...http('http://x'), when: { ref: 'steps.check.output.data.ok' } },
      log: { ...http('http://y'), when: { ref: 'steps.send.output.data' } },
      end: {
        stepType: 'mapping',
        config: { output: { sent: '{{ steps.send.output.data }}', logged: '{{ steps.log.output.data }}' } },
      },
    });
    expect(run.output).toEqual({ sent: null, logged: null });
    expect(run.begun).toEqual([]);
  });

  it('iterates a step with forEach', () => {
    const run = walk(
      {
        each: { ...http('http://x/{{ item }}'), forEach: { items: '{{ input.ids }}', concurrency: 2 } },
        end: { stepType: 'mapping', config: { output: '{{ steps.each.output.data }}' } },
      },
      { ids: [1, 2, 3] },
      { each: 'ok' },
    );
    expect(run.output).toEqual(['ok', 'ok', 'ok']);
    expect(run.paths).toEqual(['each@0', 'each[0]/each@0', 'each[1]/each@0', 'each[2]/each@10', 'end@20']);
  });

  it('ends early by bail, and by return', () => {
    const bailed = walk({
      first: { stepType: 'mapping', config: { output: { stop: true } }, bail: { ref: 'steps.first.output.data.stop' } },
      second: { ...http('http://x'), dependsOn: ['first'] },
    });
    expect([bailed.output, bailed.begun]).toEqual([{ stop: true }, []]);
    const returned = walk({
      slow: http('http://slow'),
      quick: http('http://quick'),
      out: { stepType: 'return', config: { output: 'early' }, dependsOn: ['quick'] },
      after: { ...http('http://x'), dependsOn: ['quick'] },
      last: { ...http('http://x'), dependsOn: ['slow'] },
    });
    // What was in flight ends, and nothing new begins.
    expect([returned.status, returned.output, returned.state.now]).toEqual(['completed', 'early', 50]);
    expect(returned.begun).toEqual(['slow', 'quick']);
  });

  it('neither ends with a skipped step that bails nor iterates over its output', () => {
    const steps: Definition['steps'] = {
      reject: { stepType: 'mapping', when: 'false', bail: true, config: { output: 1 } },
      each: { ...http('http://x'), forEach: { ref: 'steps.reject.output.data' } },
    };
    const { output, status, begun } = walk(steps);
    expect([status, output, begun]).toEqual(['completed', null, []]);
  });

  it('refuses a cycle with its path', () => {
    const compiled = compile({
      name: 'Ring',
      slug: 'ring',
      flow: 'dag',
      steps: { a: http('http://x/{{ steps.b.output.data }}'), b: http('http://x/{{ steps.a.output.data }}') },
    });
    expect(compiled).toMatchObject({
      problems: [{ code: 'circular_dependency', message: 'Circular dependency detected: a -> b -> a' }],
    });
  });

  it('fails the run when a step fails, and cancels the others', () => {
    const program = programOf({
      name: 'G',
      slug: 'g',
      flow: 'dag',
      steps: { a: http('http://a'), b: { stepType: 'fail', config: { code: 'no', message: 'No.' } } },
    });
    const run = simulate(program, {
      genesis: {
        executionId: 'r',
        organizationId: 'default',
        input: {},
        presets: {},
        trigger: { type: 'manual' },
        depth: 0,
        startedAt: 0,
      },
      effect: () => ({ result: { data: 1 }, afterMs: 10 }),
    });
    expect(run.error).toMatchObject({ code: 'no', path: 'b' });
    expect(run.state.openCommands).toEqual({});
  });
});
