// run_code and bash through the gateway and a worker: where they run, what goes wrong, and what nobody may find.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { sharedGateway, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

const CANARY = 'canary/7f3a "quoted" ü';
const folder = mkdtempSync(join(tmpdir(), 'signalbox-code-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const body = (statements: string): string => `export default function (input) { ${statements} }`;
const code = (statements: string, config: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  stepType: 'run_code',
  config: { code: body(statements), ...config },
  ...more,
});
const busy = (ms: number): string => `const end = Date.now() + ${ms}; while (Date.now() < end); return input;`;

async function ended(gateway: TestGateway, steps: JsonObject, more: JsonObject = {}, input: Json = {}) {
  const definition = { name: unique('code'), steps, ...more };
  const started = await gateway.request('POST', '/api/executions', { json: { definition, input } });
  expect(started.status, JSON.stringify(started.body)).toBe(201);
  const id: string = started.body.executionId;
  const { body } = await gateway.request('GET', `/api/executions/${id}/result?wait=40`);
  return { ...body, id };
}

async function historyOf(gateway: TestGateway, id: string): Promise<{ kinds: string[]; text: string }> {
  const { events } = await gateway.server.client.workflow.getHandle(id).fetchHistory();
  const kinds = (events ?? []).map((event) => Object.keys(event).find((key) => key.endsWith('Attributes')) ?? '');
  const raw = JSON.stringify(events);
  const payloads = [...raw.matchAll(/"data":"([^"]+)"/g)].map(([, data]) => Buffer.from(data!, 'base64').toString());
  return { kinds, text: `${raw} ${payloads.join(' ')}` };
}

describe('run_code', () => {
  const gateway = sharedGateway();
  const isActivity = async (id: string): Promise<boolean> =>
    (await historyOf(gateway, id)).kinds.includes('activityTaskScheduledEventAttributes');

  it('runs within the task of the run, and its console is in the trace', async () => {
    const run = await ended(
      gateway,
      {
        sum: code('console.log("adding", input.n.length); return input.n.reduce((a, b) => a + b);', {
          input: { n: '{{ input.numbers }}' },
        }),
      },
      {},
      { numbers: [1, 2, 3] },
    );
    expect(run).toMatchObject({ status: 'completed', output: 6 });
    expect(await isActivity(run.id)).toBe(false);
    const steps = await gateway.request('GET', `/api/executions/${run.id}/steps`);
    expect(steps.body.items).toMatchObject([
      {
        path: 'sum',
        attempts: 1,
        output: { data: 6, meta: { console: [{ level: 'log', text: 'adding 3' }], durationMs: expect.any(Number) } },
      },
    ]);
  });

  it('is repeated as an activity of its own where it takes long, even if it may not be tried again', async () => {
    const run = await ended(gateway, { slow: code(busy(2_500), { input: 7 }, { retry: { maxAttempts: 1 } }) });
    expect(run).toMatchObject({ status: 'completed', output: 7 });
    expect(await isActivity(run.id)).toBe(true);
  });

  it('is an activity of its own in parallel with other branches where it says fuse: false', async () => {
    const run = await ended(gateway, {
      both: { stepType: 'parallel', nextSteps: { a: 'one', b: 'two' } },
      one: code('return 1', {}, { fuse: false }),
      two: code('return 2', { language: 'typescript' }, { fuse: false }),
    });
    expect(run).toMatchObject({ status: 'completed', output: { a: 1, b: 2 } });
    expect(await isActivity(run.id)).toBe(true);
  });

  it('takes its error port with what it threw', async () => {
    const run = await ended(gateway, {
      bad: code('throw new RangeError("too far")', {}, { nextSteps: { error: 'tell' } }),
      tell: { stepType: 'finish', config: { output: '{{ error.code }}: {{ error.message }}' } },
    });
    expect(run.output).toBe('script_error: RangeError: too far');
  });

  it('ends with its timeout, and is let go when the run is cancelled', async () => {
    const late = await ended(gateway, { late: code('for (;;);', { timeoutMs: 200 }) });
    expect(late).toMatchObject({ status: 'failed', error: { code: 'script_timeout', path: 'late' } });
    const definition = {
      name: unique('code'),
      steps: { late: code('for (;;);', { timeoutMs: 600_000 }, { local: false }) },
    };
    const { body } = await gateway.request('POST', '/api/executions', { json: { definition } });
    await gateway.request('POST', `/api/executions/${body.executionId}/cancel`, { json: {} });
    await gateway.until(`/api/executions/${body.executionId}`, (answer) => answer.body.status === 'cancelled');
    expect((await ended(gateway, { next: code('return 1') })).output).toBe(1);
  });

  it('has no secrets: the checker refuses them', async () => {
    const definition = { name: unique('code'), steps: { a: code('return input', { input: '{{ secrets.KEY }}' }) } };
    const answer = await gateway.request('POST', '/api/workflows', { json: definition });
    expect(answer.status).toBe(422);
    expect(answer.body.problems).toMatchObject([{ pointer: '/steps/a/config/input', code: 'secret_not_allowed' }]);
  });
});

describe('bash where it is not allowed', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await testGateway();
  });
  afterAll(() => gateway.close());

  it('is refused when it is stored, and typed when it is run past the gateway', async () => {
    const definition = {
      name: 'Shell',
      slug: unique('shell'),
      steps: { a: { stepType: 'bash', config: { command: 'id' } } },
    };
    const answer = await gateway.request('POST', '/api/workflows', { json: definition });
    expect(answer.status).toBe(422);
    expect(answer.body.problems).toMatchObject([{ pointer: '/steps/a/stepType', code: 'bash_disabled' }]);
    const byAgentOps = { steps: [{ id: 'a', type: 'tool', tool: 'bash', arguments: { command: 'id' } }] };
    const imported = await gateway.request('POST', '/api/workflows/validate?dialect=002', { json: byAgentOps });
    expect(imported.body.problems).toEqual([expect.objectContaining({ code: 'bash_disabled' })]);
    const { client, taskQueue } = gateway.server;
    const run = client.workflow.execute('run', {
      taskQueue,
      workflowId: unique('run.default.shell'),
      args: [{ definition }],
    });
    await expect(run).rejects.toMatchObject({ cause: { type: 'bash_disabled' } });
  });
});

describe('bash where it is allowed', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await testGateway({ SIGNALBOX_BASH: 'unsafe' });
  });
  afterAll(() => gateway.close());
  const shell = (config: JsonObject, more: JsonObject = {}): JsonObject => ({ stepType: 'bash', config, ...more });

  it('gives its output, and goes by its error port', async () => {
    const run = await ended(
      gateway,
      {
        a: shell(
          { command: 'echo "$NAME"', env: { NAME: '{{ input.name }}; $(id)' } },
          { nextSteps: { success: 'b' } },
        ),
        b: shell({ command: 'echo oh >&2; exit 4' }, { nextSteps: { error: 'c' } }),
        c: {
          stepType: 'finish',
          config: { output: ['{{ steps.a.output.data.stdout }}', '{{ error.code }}', '{{ error.details.stderr }}'] },
        },
      },
      {},
      { name: 'Ann' },
    );
    expect(run.output).toEqual(['Ann; $(id)\n', 'bash_exit_code:4', 'oh\n']);
  });

  it('is tried again only where the step says so', async () => {
    const command = `echo x >> ${join(folder, '$N')}; test $(wc -l < ${join(folder, '$N')}) -ge 3`;
    const once = await ended(gateway, { a: shell({ command, env: { N: 'once' } }) });
    expect(once).toMatchObject({ status: 'failed', error: { code: 'bash_exit_code:1', attempts: 1 } });
    const retry = { maxAttempts: 5, initialInterval: '10ms' };
    const again = await ended(gateway, { a: shell({ command, env: { N: 'again' } }, { retry }) });
    expect(again.status).toBe('completed');
    expect(readFileSync(join(folder, 'again'), 'utf8')).toBe('x\nx\nx\n');
  });

  it('is ended with its processes when the run is cancelled', async () => {
    const file = join(folder, 'pid');
    const command = `sleep 100 & echo $! > ${file}; wait`;
    const definition = { name: unique('shell'), steps: { a: shell({ command }) } };
    const { body } = await gateway.request('POST', '/api/executions', { json: { definition } });
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8') !== '').toBe(true);
    await gateway.request('POST', `/api/executions/${body.executionId}/cancel`, { json: {} });
    const pid = readFileSync(file, 'utf8').trim();
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  });

  it('has secrets that occur nowhere, even when the command reveals them', async () => {
    const name = unique('bash');
    await gateway.request('PUT', `/api/secrets/${name}`, { json: { value: CANARY } });
    const config = { secrets: { KEY: name } };
    const command = 'echo "key: $KEY"; printf %s "$KEY" | base64; echo "bad $KEY" >&2; exit $CODE';
    const env = (CODE: number) => ({ KEY: '{{ secrets.KEY }}', CODE });
    const fine = await ended(gateway, { a: shell({ command, env: env(0) }) }, { config });
    expect(fine.output.stdout).toContain('key: [secret]');
    const bad = await ended(gateway, { a: shell({ command, env: env(2) }) }, { config });
    expect(bad.error).toMatchObject({ code: 'bash_exit_code:2', message: expect.stringContaining('bad [secret]') });
    for (const { id, ...answer } of [fine, bad]) {
      const steps = await gateway.request('GET', `/api/executions/${id}/steps`);
      const { text } = await historyOf(gateway, id);
      for (const one of [text, JSON.stringify([answer, steps.body])])
        expect(one).not.toMatch(/canary|(?<![0-9a-f])7f3a(?![0-9a-f])|Y2FuYXJ5/);
    }
  });
});
