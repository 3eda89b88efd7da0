import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draftGraphOf, type Graph, graphOf } from '../../src/check/graph.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { blocksWithChildren, definitionOf } from '../history/programs.ts';

function graph(steps: Definition['steps'], more: Partial<Definition> = {}): Graph {
  const result = graphOf({ name: 'Graph', slug: 'graph', steps, ...more });
  if ('problems' in result) throw new Error(JSON.stringify(result.problems));
  return result.graph;
}

describe('the graph of a definition', () => {
  it('has a node for each step, and an edge for each wired port', () => {
    const { flow, start, nodes, edges } = graph({
      start: { stepType: 'trigger', nextSteps: { success: 'ask' } },
      ask: {
        name: 'Ask',
        stepType: 'approval',
        config: { message: '?' },
        nextSteps: { approved: 'end', rejected: '$end' },
      },
      end: { stepType: 'finish' },
    });
    expect({ flow, start }).toEqual({ flow: 'ports', start: 'start' });
    expect(nodes).toEqual([
      { id: 'start', name: 'start', stepType: 'trigger', kind: 'trigger', class: 'pure', ports: ['success', 'error'] },
      {
        id: 'ask',
        name: 'Ask',
        stepType: 'approval',
        kind: 'approval',
        class: 'wait',
        ports: ['approved', 'rejected', 'timeout', 'error'],
      },
      { id: 'end', name: 'end', stepType: 'finish', kind: 'finish', class: 'end', ports: [] },
      { id: '$end', name: 'End', stepType: '$end', kind: '$end', class: 'end', ports: [] },
    ]);
    expect(edges).toEqual([
      { from: 'start', to: 'ask', port: 'success' },
      { from: 'ask', to: 'end', port: 'approved' },
      { from: 'ask', to: '$end', port: 'rejected' },
    ]);
  });

  it('says in which container and branch a step stands', () => {
    const { nodes } = graph({
      each: { stepType: 'loop', config: { items: [1] }, nextSteps: { loop: 'both', done: 'end' } },
      both: { stepType: 'parallel', nextSteps: { a: 'one', b: 'two' } },
      one: { stepType: 'checkpoint' },
      two: { stepType: 'checkpoint' },
      end: { stepType: 'finish' },
    });
    expect(nodes.map(({ id, container, branch }) => [id, container, branch])).toEqual([
      ['each', undefined, undefined],
      ['both', 'each', 'loop'],
      ['one', 'both', 'a'],
      ['two', 'both', 'b'],
      ['end', undefined, undefined],
    ]);
  });

  it('has dependencies as edges where there are no ports', () => {
    const set = (value: string) => ({ stepType: 'set', config: { values: { a: value } } });
    const { flow, start, nodes, edges } = graph(
      {
        one: set('1'),
        two: { ...set('{{ steps.one.output.data }}'), forEach: { items: '{{ steps.three.output.data }}' } },
        three: { ...set('3'), dependsOn: ['one'] },
      },
      { flow: 'dag' },
    );
    expect({ flow, start }).toEqual({ flow: 'dag', start: undefined });
    expect(nodes.map(({ id, container }) => [id, container])).toEqual([
      ['one', undefined],
      ['two', undefined],
      ['three', undefined],
    ]);
    expect(edges.map(({ from, to }) => `${from} ${to}`).sort()).toEqual(['one three', 'one two', 'three two']);
  });

  it('is refused for what cannot be walked', () => {
    const steps: Definition['steps'] = { a: { stepType: 'trigger', nextSteps: { success: 'nowhere' } } };
    expect(graphOf({ name: 'Broken', slug: 'broken', steps })).toHaveProperty('problems');
  });

  it('has the ports into a body first, and the kind that an alias means', () => {
    const { nodes } = graph({
      both: { stepType: 'parallel', nextSteps: { a: 'one', done: '$end' } },
      one: { stepType: 'checkpoint', when: 'true' },
    });
    expect(nodes[0]).toMatchObject({ kind: 'parallel', branches: ['a'], ports: ['a', 'done', 'error'] });
    expect(nodes[1]).toMatchObject({ ports: ['success', 'error', 'skipped'] });
  });
});

describe('the graph of a draft', () => {
  it('leaves out what leads nowhere, and keeps steps of unknown kinds', () => {
    const { start, nodes, edges } = draftGraphOf({
      start: 'first',
      steps: {
        first: { stepType: 'sett', nextSteps: { success: 'each', error: 'nowhere', odd: 3 } },
        each: { stepType: 'forEach', config: { itemz: 1 }, nextSteps: { item: 'inner' } },
        inner: {},
        text: 'not a step',
      },
    });
    expect(start).toBe('first');
    expect(nodes.map(({ id, kind, container }) => [id, kind, container])).toEqual([
      ['first', 'unknown', undefined],
      ['each', 'forEach', undefined],
      ['inner', 'unknown', 'each'],
    ]);
    expect(edges).toEqual([
      { from: 'first', to: 'each', port: 'success' },
      { from: 'each', to: 'inner', port: 'item' },
    ]);
  });

  it('never throws, and draws what compiles as graphOf does', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.object({ maxDepth: 2 }));
    const step = fc.dictionary(
      fc.constantFrom('stepType', 'name', 'config', 'nextSteps', 'when', 'forEach', 'dependsOn'),
      value,
    );
    const document = fc.record(
      { steps: fc.oneof(value, fc.dictionary(fc.string(), fc.oneof(value, step))), start: value, flow: value },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(document, (given) => {
        const { nodes, edges } = draftGraphOf(given as JsonObject);
        const ids = new Set(nodes.map(({ id }) => id));
        expect(edges.every(({ from, to }) => ids.has(from) && ids.has(to))).toBe(true);
      }),
    );
    fc.assert(
      fc.property(blocksWithChildren, (list) => {
        const definition = definitionOf(list);
        const whole = graphOf(definition);
        if ('graph' in whole) expect(draftGraphOf(definition as unknown as JsonObject)).toEqual(whole.graph);
      }),
    );
  });
});
