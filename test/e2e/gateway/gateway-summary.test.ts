import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../../src/gateway/answers/run-trace.ts';
import type { Json } from '../../../src/json/json.ts';
import { sharedGateway, unique } from './gateway-support.ts';

const gateway = sharedGateway();

async function start(steps: { [slug: string]: Json }, input: Json = {}): Promise<string> {
  const definition = { name: 'Sum', slug: unique('sum'), steps };
  return `/api/executions/${await gateway.startInline(definition, input)}`;
}

const summaryOf = async (path: string, query = ''): Promise<RunSummary> => {
  const { status, body } = await gateway.request('GET', `${path}/summary${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

const stepOf = ({ steps }: RunSummary, slug: string) => steps.find(({ stepSlug }) => stepSlug === slug);

/** Ten orders with three lines each; the fourth order has a line that fails, and continues. */
const orders: { [slug: string]: Json } = {
  orders: {
    stepType: 'forEach',
    config: { items: '{{ input.orders }}' },
    nextSteps: { item: 'lines', done: 'ask' },
  },
  lines: {
    stepType: 'forEach',
    config: { items: '{{ item.lines }}', as: 'line' },
    nextSteps: { item: 'check' },
  },
  check: {
    stepType: 'condition',
    config: { expression: 'line > 0' },
    nextSteps: { true: 'good', false: 'bad' },
  },
  good: { stepType: 'set', config: { values: { seen: '{{ line }}' } } },
  bad: { stepType: 'fail', config: { message: 'No.' } },
  ask: { stepType: 'approval', config: { message: 'Go on?' } },
};

describe('the summary of a run', () => {
  it('counts steps, ports and iterations, of the whole run and of one iteration', async () => {
    const given = Array.from({ length: 10 }, (_, n) => ({ lines: n === 3 ? [1, 0, 1] : [1, 1, 1] }));
    const steps = {
      ...orders,
      lines: { ...(orders['lines'] as object), config: { items: '{{ item.lines }}', as: 'line', onError: 'continue' } },
    };
    const path = await start(steps, { orders: given });
    await gateway.until(path, ({ body }) => body.waitingFor?.length > 0);
    const whole = await summaryOf(path);
    const rows = (await gateway.request('GET', `${path}/steps`)).body.items as {
      stepSlug: string;
      status: string;
      frame?: string;
    }[];
    expect(whole).toMatchObject({ total: rows.length, counted: rows.length, uncertain: false });
    expect(stepOf(whole, 'check')).toMatchObject({ visits: 30, ports: { true: 29, false: 1 }, retries: 0 });
    expect(stepOf(whole, 'bad')).toMatchObject({ visits: 1, statuses: { failed: 1 } });
    expect(stepOf(whole, 'bad')?.failed?.frame).toBe('orders[3]/lines[1]');
    expect(stepOf(whole, 'ask')).toMatchObject({ statuses: { waiting: 1 }, open: { path: 'ask', status: 'waiting' } });
    const [outer, inner] = ['orders', 'lines'].map((slug) =>
      whole.containers.find(({ stepSlug }) => stepSlug === slug),
    );
    expect(outer).toMatchObject({ kind: 'iterations', iterations: 10, failed: 1, visits: 1, path: 'orders' });
    expect(outer?.ranges[3]).toMatchObject({ from: 3, to: 3, index: 3, frame: 'orders[3]', worst: 'failed' });
    expect(inner).toMatchObject({ iterations: 30, visits: 10, failed: 1 });
    expect(inner!.ranges.length).toBeLessThanOrEqual(24);

    const fourth = await summaryOf(path, '?within=orders[3]');
    expect(stepOf(fourth, 'check')).toMatchObject({ visits: 3, ports: { true: 2, false: 1 } });
    expect(stepOf(fourth, 'ask')).toBeUndefined();
    expect(fourth.counted).toBe(rows.filter(({ frame }) => frame?.startsWith('orders[3]')).length);
    expect(fourth.containers).toMatchObject([{ stepSlug: 'lines', visits: 1, iterations: 3, failed: 1 }]);

    const few = await summaryOf(path, '?ranges=2&container=orders&from=2&to=5');
    expect(few.containers).toMatchObject([
      {
        stepSlug: 'orders',
        ranges: [
          { from: 2, to: 3, worst: 'failed', statuses: { failed: 1, completed: 1 }, firstFailed: { ordinal: 3 } },
          { from: 4, to: 5, worst: 'completed' },
        ],
      },
    ]);
    await gateway.request('POST', `${path}/terminate`);
  });

  it('refuses what it does not know', async () => {
    expect((await gateway.request('GET', '/api/executions/run.default.none.1/summary')).body.code).toBe('not_found');
    const path = await start({ end: { stepType: 'finish' } });
    for (const [query, pointer] of [
      ['?ranges=0', '/ranges'],
      ['?ranges=201', '/ranges'],
      ['?from=1', '/container'],
      ['?container=a&from=3&to=2', '/to'],
      ['?inside=a', '/inside'],
    ]) {
      const { status, body } = await gateway.request('GET', `${path}/summary${query}`);
      expect([status, body.code], query).toEqual([400, 'invalid_request']);
      expect(body.problems[0].pointer, query).toBe(pointer);
    }
  });
});
