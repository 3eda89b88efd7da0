import { expect, it } from 'vitest';
import { sharedGateway, unique } from './gateway-support.ts';

const gateway = sharedGateway();

type Row = { path: string; startedAt: string; completedAt: string };

it('gives the steps of a loop times in their order, within the run, also where they are local activities', async () => {
  const steps = {
    each: {
      stepType: 'forEach',
      config: { items: '{{ [1, 2, 3, 4, 5] }}' },
      nextSteps: { item: 'script', done: 'end' },
    },
    script: {
      stepType: 'run_code',
      local: true,
      config: { code: 'export default () => 1' },
      nextSteps: { success: 'each' },
    },
    end: { stepType: 'finish', config: { output: true } },
  };
  const definition = { name: 'Times', slug: unique('times'), steps };
  const path = `/api/executions/${await gateway.startInline(definition)}`;
  await gateway.until(`${path}/result?wait=10`, (answer) => answer.status === 200);
  const run = (await gateway.until(path, (answer) => answer.body.completedAt !== undefined)).body;
  const rows: Row[] = (await gateway.request('GET', `${path}/steps`)).body.items;
  const scripts = rows.filter((row) => row.path.endsWith('script'));
  expect(scripts, JSON.stringify(rows)).toHaveLength(5);
  let before = Date.parse(run.startedAt);
  for (const { path, startedAt, completedAt } of scripts) {
    expect(Date.parse(startedAt), path).toBeGreaterThanOrEqual(before);
    expect(Date.parse(completedAt), path).toBeGreaterThanOrEqual(Date.parse(startedAt));
    before = Date.parse(completedAt);
  }
  const [loop] = rows;
  expect(loop).toMatchObject({ path: 'each' });
  expect(Date.parse(loop!.startedAt)).toBeLessThanOrEqual(Date.parse(scripts[0]!.startedAt));
  expect(Date.parse(loop!.completedAt)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(loop!.completedAt)).toBeLessThanOrEqual(Date.parse(run.completedAt));
});
