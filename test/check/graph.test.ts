import { describe, expect, it } from 'vitest';
import { type Graph, graphOf } from '../../src/check/graph.ts';
import type { Definition } from '../../src/definition/document/types.ts';

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
      { id: 'start', name: 'start', stepType: 'trigger', class: 'pure' },
      { id: 'ask', name: 'Ask', stepType: 'approval', class: 'wait' },
      { id: 'end', name: 'end', stepType: 'finish', class: 'end' },
      { id: '$end', name: 'End', stepType: '$end', class: 'end' },
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
});
