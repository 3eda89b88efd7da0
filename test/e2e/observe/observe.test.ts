// A whole stack under observation: its metrics, its traces, its logs, and what the dashboard and the alerts ask for.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '../../../src/cli/start/project-root.ts';
import { serve, type TestServer } from '../../activities/server.ts';
import { type Receiver, receiveTraces, type SeenSpan } from '../../observe/otlp.ts';
import { type DataFolder, dataFolder, type Stack, startStack, until } from '../../support/stack.ts';
import { type Answer, approvalDefinition, requestTo } from '../gateway/gateway-support.ts';

const CANARY = 'canary-of-a-secret-that-nobody-may-see';
const ADMIN = 'the-key-of-an-admin-for-this-test-only-1';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

let folder: DataFolder;
let stack: Stack;
let receiver: Receiver;
let other: TestServer;
let workerUrl: string;
let runId: string;

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
const ask = (method: string, path: string, json?: object, headers: Record<string, string> = {}): Promise<Answer> =>
  requestTo(stack.note.gateway?.url ?? '', method, path, {
    headers: { authorization: `Bearer ${ADMIN}`, ...headers },
    ...(json === undefined ? {} : { json: json as never }),
  });
const scraped = async (): Promise<string> => {
  const [gateway, worker] = await Promise.all([ask('GET', '/metrics'), fetch(`${workerUrl}/metrics`)]);
  expect(gateway.headers.get('content-type')).toContain('text/plain');
  return `${gateway.body as string}\n${await worker.text()}`;
};

beforeAll(async () => {
  receiver = await receiveTraces();
  let attempts = 0;
  other = await serve((_seen, response) => {
    attempts += 1;
    response.statusCode = attempts === 1 ? 503 : 200;
    response.setHeader('content-type', 'application/json').end('{}');
  });
  const port = await freePort();
  workerUrl = `http://127.0.0.1:${port}`;
  folder = dataFolder();
  stack = await startStack(folder.path, {
    SIGNALBOX_ADMIN_KEY: ADMIN,
    SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8',
    SIGNALBOX_WORKER_PORT: String(port),
    SIGNALBOX_LOG_LEVEL: 'debug',
    // The headers of Temporal are readable whatever is encrypted.
    SIGNALBOX_CODEC: '1',
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '200',
  });
}, 120_000);
afterAll(async () => {
  await stack.end('SIGTERM');
  await receiver.close();
  await other.close();
  folder.remove();
});

describe('a stack under observation', { timeout: 120_000 }, () => {
  it('does what is counted', async () => {
    expect((await ask('PUT', '/api/secrets/pay', { value: CANARY })).status).toBe(201);
    const definition = {
      name: 'Pay',
      slug: 'pay',
      config: { secrets: { PAY: 'pay' } },
      start: 'call',
      steps: {
        call: {
          stepType: 'http',
          retry: { maxAttempts: 3, initialInterval: '50ms' },
          config: { url: `${other.url}/pay`, auth: { type: 'bearer', token: '{{ secrets.PAY }}' } },
          nextSteps: { success: 'child' },
        },
        child: { stepType: 'run_workflow', config: { workflow: 'told' }, nextSteps: { success: 'end' } },
        end: { stepType: 'finish', config: { output: 'done' } },
      },
    };
    // A light step, which runs in a segment.
    const code = { language: 'javascript', code: 'export default function () { return 1; }' };
    const told = {
      name: 'Told',
      slug: 'told',
      steps: {
        one: { stepType: 'run_code', config: code, nextSteps: { success: 'end' } },
        end: { stepType: 'finish', config: { output: 1 } },
      },
    };
    for (const one of [told, definition])
      expect(await ask('PUT', `/api/workflows/${one.slug}`, one)).toMatchObject({ status: 201 });
    const traceparent = `00-${TRACE}-${CALLER}-01`;
    const started = await ask('POST', '/api/triggers/manual/run', { workflowId: 'pay', input: {} }, { traceparent });
    expect(started.status).toBe(201);
    runId = started.body.executionId;
    const result = await ask('GET', `/api/executions/${runId}/result?wait=30`);
    expect(result.body).toMatchObject({ status: 'completed', output: 'done' });
    expect(other.seen.map(({ headers }) => headers['authorization'])).toContain(`Bearer ${CANARY}`);

    // A delivery that is refused, one that starts a run, and a limiter that lets a run wait.
    const hooked = approvalDefinition('limited', {
      config: { concurrency: { limit: 1, overflow: 'queue' } },
      triggers: [{ name: 'in', type: 'webhook', config: { path: 'in', scheme: 'api_key', secret: CANARY } }],
    });
    expect(await ask('PUT', '/api/workflows/limited', hooked)).toMatchObject({ status: 201 });
    expect((await ask('POST', '/webhooks/in', {}, { authorization: '', 'x-api-key': 'wrong' })).status).toBe(401);
    const ids: string[] = [];
    for (let n = 0; n < 2; n++) {
      const delivery = await ask('POST', '/webhooks/in', { amount: n }, { authorization: '', 'x-api-key': CANARY });
      expect(delivery.status, JSON.stringify(delivery.body)).toBe(202);
      ids.push(delivery.body.executionId as string);
      await until('the run is known', 30_000, async () => {
        const { body } = await ask('GET', `/api/executions/${ids[n]}`);
        return body.status === (n === 0 ? 'waiting' : 'pending');
      });
    }
    await until('both are counted as open', 30_000, async () => {
      const text = await scraped();
      return sample(text, 'signalbox_runs_open{status="waiting"}') === 1 && sample(text, PENDING) === 1;
    });
    await until('what waits for a person is counted', 30_000, async () => {
      return sample(await scraped(), 'signalbox_waits_open{kind="approval"}') === 1;
    });
    expect(sample(await scraped(), 'signalbox_waits_open{kind="message"}')).toBe(0);
    for (const id of ids) {
      await until('it waits for a person', 30_000, async () => {
        const { body } = await ask('GET', `/api/executions/${id}`);
        return body.status === 'waiting';
      });
      expect((await ask('POST', `/api/executions/${id}/approve`, { approve: true })).status).toBe(200);
      await ask('GET', `/api/executions/${id}/result?wait=20`);
    }
    const failing = { name: 'Fails', slug: 'fails', steps: { no: { stepType: 'fail', config: { message: 'No.' } } } };
    const failed = await ask('POST', '/api/executions', { definition: failing });
    await ask('GET', `/api/executions/${failed.body.executionId}/result?wait=20`);
    // A workflow that no worker knows: its tasks fail and are retried.
    await stack.client.workflow.start('nobody', { taskQueue: 'signalbox', workflowId: 'nobody' });
  });

  it('shows metrics of both processes, for keys of the organization default only', async () => {
    await until('all is counted', 30_000, async () => {
      const text = await scraped();
      return sample(text, 'temporal_workflow_task_execution_failed_total{') > 0 && started(text) >= 5;
    });
    const text = await scraped();
    expect(sample(text, /signalbox_runs_started_total\{.*trigger="webhook"/)).toBe(2);
    expect(sample(text, /signalbox_runs_started_total\{.*trigger="subworkflow"/)).toBe(1);
    expect(sample(text, /signalbox_runs_ended_total\{.*status="completed"/)).toBe(4);
    expect(sample(text, /signalbox_runs_ended_total\{.*status="failed"/)).toBe(1);
    expect(sample(text, /signalbox_limiter_grants_total\{/)).toBe(1);
    expect(sample(text, 'signalbox_step_duration_seconds_count{kind="http",outcome="ok"}')).toBe(1);
    expect(sample(text, 'signalbox_step_duration_seconds_count{kind="http",outcome="retryable"}')).toBe(1);
    expect(sample(text, 'signalbox_step_duration_seconds_count{kind="run_code",outcome="ok"}')).toBe(1);
    expect(sample(text, /signalbox_webhook_deliveries_total\{.*verdict="started"/)).toBe(2);
    expect(sample(text, /signalbox_webhook_deliveries_total\{.*verdict="signature_invalid"/)).toBe(1);
    expect(sample(text, 'signalbox_refusals_total{code="signature_invalid"}')).toBe(1);
    expect(sample(text, 'signalbox_task_queue_pollers{type="workflow"}')).toBeGreaterThan(0);
    expect(sample(text, 'signalbox_temporal_up')).toBe(1);

    expect((await ask('GET', '/metrics', undefined, { authorization: 'Bearer wrong' })).status).toBe(401);
    const made = await ask('POST', '/api/keys', { name: 'other', role: 'admin', organization: 'acme' });
    expect(made.status).toBe(201);
    const theirs = { authorization: `Bearer ${made.body.key as string}` };
    expect((await ask('GET', '/metrics', undefined, theirs)).status).toBe(404);
    const viewer = await ask('POST', '/api/keys', { name: 'prometheus', role: 'viewer' });
    const ours = { authorization: `Bearer ${viewer.body.key as string}` };
    expect((await ask('GET', '/metrics', undefined, ours)).status).toBe(200);
  });

  it('serves probes on the port of the worker', async () => {
    expect((await fetch(`${workerUrl}/health`)).status).toBe(200);
    const ready = await fetch(`${workerUrl}/ready`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }]);
    expect((await fetch(`${workerUrl}/other`)).status).toBe(404);
    expect((await fetch(`${workerUrl}/metrics`, { method: 'POST' })).status).toBe(405);
  });

  it('has every metric that the dashboard and the alerts name, in queries that can be read', async () => {
    const text = await scraped();
    const names = new Set([...text.matchAll(/^([a-z_0-9]+)(?:\{| )/gm)].map(([, name]) => name!));
    const queries = [...queriesIn(readJson('deploy/grafana/dashboard.json')), ...queriesIn(alerts())];
    expect(queries.length).toBeGreaterThan(20);
    const rules = [
      ...readFileSync(join(projectRoot(), 'deploy/grafana/alerts.yaml'), 'utf8').matchAll(/alert: (\w+)/g),
    ];
    expect(rules.map(([, name]) => name)).toEqual([...new Set(rules.map(([, name]) => name))]);
    expect(queries.filter(isBroken)).toEqual([]);
    const named = new Set(queries.flatMap((query) => query.match(/\b(signalbox|temporal|process|nodejs)_\w+/g) ?? []));
    expect(named.size).toBeGreaterThan(15);
    // It is there once Temporal has refused something (refused-tasks.long.test.ts).
    named.delete('temporal_request_failure_total');
    expect([...named].filter((name) => !names.has(name))).toEqual([]);
    expect(isBroken('sum(rate(x[5m])')).toBe(true);
  });

  it('traces a request through its run and its steps', async () => {
    const ofTrace = () => receiver.spans.filter(({ traceId }) => traceId === TRACE);
    await until('all spans came', 30_000, () => ofTrace().filter(({ name }) => name === 'run').length === 2);
    const named = (name: string): SeenSpan[] => ofTrace().filter((span) => span.name === name);
    const [request] = named('POST /api/triggers/manual/run');
    expect(request).toMatchObject({
      service: 'signalbox-gateway',
      parentSpanId: CALLER,
      attributes: { 'http.response.status_code': 201, 'signalbox.execution_id': runId },
    });
    const run = named('run').find(({ attributes }) => attributes['signalbox.execution_id'] === runId)!;
    expect(run).toMatchObject({ service: 'signalbox-worker', parentSpanId: request!.spanId, failed: false });
    const attempts = named('http');
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([run.spanId, run.spanId]);
    expect(attempts.map(({ failed }) => failed).sort()).toEqual([false, true]);
    const child = named('run').find((span) => span !== run)!;
    expect(child.parentSpanId).toBe(run.spanId);
    expect([...receiver.types]).toEqual(['/v1/traces application/x-protobuf']);
    // A run without a caller's trace has one of its own.
    const alone = () =>
      receiver.spans.find(({ name, attributes }) => name === 'run' && attributes['signalbox.workflow'] === 'fails');
    await until('the span of the run that fails came', 30_000, () => alone() !== undefined);
    expect(alone()).toMatchObject({ failed: true, attributes: { 'signalbox.outcome': 'failed' } });
  });

  it('names run, step, organization and trace in the logs', async () => {
    const lines = linesOf('worker.log').filter((line) => line['executionId'] === runId);
    expect(lines.find(({ msg, outcome }) => msg === 'activity' && outcome === 'retryable')).toMatchObject({
      kind: 'http',
      step: 'call',
      organizationId: 'default',
      traceId: TRACE,
    });
    expect(lines.find(({ msg }) => msg === 'Workflow completed')).toMatchObject({ traceId: TRACE });
    const request = linesOf('gateway.log').find(({ route }) => route === '/api/triggers/manual/run');
    expect(request).toMatchObject({ executionId: runId, traceId: TRACE, organizationId: 'default' });
    expect(request?.['requestId']).toBeDefined();
    expect(linesOf('worker.log').filter((line) => 'taskToken' in line)).toEqual([]);
  });

  it('shows no secrets anywhere, and no ids of runs in labels', async () => {
    const text = await scraped();
    for (const secret of [CANARY, ADMIN]) {
      expect(text).not.toContain(secret);
      expect(receiver.bodies.filter((body) => body.includes(secret))).toEqual([]);
      for (const name of readdirSync(join(folder.path, 'logs')))
        expect(readFileSync(join(folder.path, 'logs', name), 'utf8').includes(secret), name).toBe(false);
    }
    expect(text).not.toMatch(/run\.default\./);
  });
});

const PENDING = 'signalbox_runs_open{status="pending"}';
const started = (text: string): number =>
  [...text.matchAll(/^signalbox_runs_started_total\{.*\} (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);

/** The value of the first sample that begins with the text, or matches. */
function sample(text: string, wanted: string | RegExp): number {
  const fits = (line: string) => (typeof wanted === 'string' ? line.startsWith(wanted) : wanted.test(line));
  const line = text.split('\n').find(fits);
  return line === undefined ? Number.NaN : Number(line.slice(line.lastIndexOf(' ') + 1));
}

function linesOf(name: string): { readonly [member: string]: unknown }[] {
  const lines = readFileSync(join(folder.path, 'logs', name), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as { [member: string]: unknown });
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(join(projectRoot(), file), 'utf8'));
const alerts = (): unknown => parse(readFileSync(join(projectRoot(), 'deploy/grafana/alerts.yaml'), 'utf8'));

/** The values of all members `expr`. */
function queriesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'expr' && typeof member === 'string' ? [member] : queriesIn(member),
  );
}

function isBroken(query: string): boolean {
  let broken = false;
  parser.parse(query).iterate({
    enter: ({ type }) => {
      broken ||= type.isError;
    },
  });
  return broken;
}
