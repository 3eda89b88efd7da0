import { expect, it } from 'vitest';
import { simulate } from '../../src/engine/simulate.ts';
import { type FoldedRun, sliceOf } from '../../src/history/chain.ts';
import { Rows } from '../../src/history/trace-rows.ts';
import { programOf } from '../support/program.ts';

const START = 1_768_473_000_000;

it('shows next and result of a loop as they were evaluated last, and not as they read before the first tick', () => {
  const run = simulate(
    programOf({
      name: 'Pages',
      slug: 'pages',
      steps: {
        pages: {
          stepType: 'loop',
          config: {
            initial: { n: 0 },
            while: 'loop.carry.n < 2',
            next: { n: '{{ loop.carry.n + 1 }}', last: '{{ steps.page.output.data }}' },
            result: '{{ loop.carry.last }}',
          },
          nextSteps: { loop: 'page' },
        },
        page: { stepType: 'mapping', config: { output: 'page {{ loop.carry.n }}' } },
      },
    }),
    {
      genesis: {
        executionId: 'run.default.pages.1',
        organizationId: 'default',
        input: {},
        presets: {},
        trigger: { type: 'manual' },
        depth: 0,
        startedAt: START,
      },
      effect: () => ({ result: { data: null } }),
    },
  );
  expect(run.output).toEqual({ state: expect.anything(), batch: null, value: 'page 1' });
  const rows = new Rows({ from: 0, to: 10 });
  for (const line of run.trace) rows.addLine(line);
  expect(rows.rows[0]?.input).toEqual({
    initial: { n: 0 },
    while: 'loop.carry.n < 2',
    next: { n: 2, last: 'page 1' },
    result: 'page 1',
  });
  // Before the first tick is over nothing of them is known: they stand as they are written.
  const early = new Rows({ from: 0, to: 10 });
  for (const line of run.trace.slice(
    0,
    run.trace.findIndex(({ t }) => t === 'evaluated'),
  ))
    early.addLine(line);
  expect(early.rows[0]?.input).toMatchObject({ next: { last: '{{ steps.page.output.data }}' } });
});

it('keeps the rest of the input where a later run of the chain evaluates a member', () => {
  const first = new Rows({ from: 0, to: 10 });
  first.addLine({ t: 'begin', path: 'pages', slug: 'pages', stepType: 'loop', at: START });
  first.addLine({ t: 'input', path: 'pages', input: { initial: 0, next: '{{ loop.carry + 1 }}' } });
  const second = new Rows({ from: 0, to: 10 });
  second.addLine({ t: 'evaluated', path: 'pages', member: 'next', value: 1 });
  second.addLine({ t: 'evaluated', path: 'pages', member: 'next', value: 2 });
  const page = sliceOf([folded('a', first), folded('b', second)], 0, 10);
  expect(page.rows).toEqual([expect.objectContaining({ path: 'pages', input: { initial: 0, next: 2 } })]);
});

function folded(runId: string, rows: Rows): FoldedRun {
  return {
    runId,
    window: rows.window,
    rows: rows.rows,
    bytes: rows.bytes,
    ends: rows.ends,
    briefs: rows.briefs,
    count: rows.count,
    waiting: new Set(),
    inherited: [],
    guesses: [],
    closed: undefined,
    continuedFrom: undefined,
    restarted: false,
  };
}
