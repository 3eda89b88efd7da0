import type { WorkflowInfo } from '@temporalio/workflow';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import {
  parseTraceparent,
  spanIdOfRun,
  type TraceContext,
  traceIdOfRun,
  traceparentOf,
} from '../../src/contract/run/trace.ts';
import { startTracing, tracer } from '../../src/observe/tracing.ts';
import { workerObservers } from '../../workers/observers.ts';
import { receiveTraces, receiveTracesByGrpc } from './otlp.ts';

const RUN = '01a2090a-60bc-75df-8bbd-68a75358ea2d';
const silent = pino({ enabled: false });
const before = { ...process.env };

function given(env: { readonly [name: string]: string }): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name];
  Object.assign(process.env, env);
}
afterEach(async () => {
  await tracer()?.close();
  given({});
  Object.assign(process.env, before);
});

it('reads and writes the context of a trace', () => {
  const text = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const context: TraceContext = {
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: '00f067aa0ba902b7',
    isSampled: true,
  };
  expect(parseTraceparent(text)).toEqual(context);
  expect(traceparentOf(context)).toBe(text);
  expect(parseTraceparent(text.replace(/01$/, '00'))).toEqual({ ...context, isSampled: false });
  const none = [
    undefined,
    7,
    '',
    'no',
    text.replace('00-', 'ff-'),
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    text.slice(0, -4),
  ];
  for (const one of none) expect(parseTraceparent(one)).toBeUndefined();
});

it('exports over gRPC where the environment says so', async () => {
  const receiver = await receiveTracesByGrpc();
  given({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc',
    OTEL_SERVICE_NAME: 'mine',
  });
  const made = (await startTracing('worker', silent))!;
  made.begin('http', { kind: 'internal', parent: made.runContext(RUN) }).end({ code: 'http_status' });
  await made.close();
  expect([...receiver.types]).toEqual(['/opentelemetry.proto.collector.trace.v1.TraceService/Export application/grpc']);
  expect(receiver.spans).toMatchObject([
    { service: 'mine', name: 'http', traceId: traceIdOfRun(RUN), parentSpanId: spanIdOfRun(RUN), failed: true },
  ]);
  await receiver.close();
});

it('exports JSON where the environment says so, with the run above its steps', async () => {
  const receiver = await receiveTraces();
  given({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_SERVICE_NAME: 'mine',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
  });
  const made = (await startTracing('worker', silent))!;
  const step = made.begin('http', { kind: 'internal', parent: made.runContext(RUN) });
  step.end({ code: 'http_status' });
  const run = {
    outcome: 'completed',
    startedAt: 1_000,
    endedAt: 2_000,
    organizationId: 'default',
    workflow: 'w',
  } as const;
  made.record(RUN, 'run.default.w.1', run);
  // Ids of a run are only for its span.
  const other = made.begin('other', { kind: 'internal' });
  other.end({});
  await made.close();
  expect([...receiver.types]).toEqual(['/v1/traces application/json']);
  const span = (name: string) => receiver.spans.find((one) => one.name === name);
  expect(span('run')).toMatchObject({
    service: 'mine',
    traceId: traceIdOfRun(RUN),
    spanId: spanIdOfRun(RUN),
    parentSpanId: '',
    failed: false,
  });
  expect(span('http')).toMatchObject({
    traceId: traceIdOfRun(RUN),
    parentSpanId: spanIdOfRun(RUN),
    failed: true,
    attributes: { 'error.type': 'http_status' },
  });
  expect(span('other')?.traceId).not.toBe(traceIdOfRun(RUN));
  expect(receiver.spans).toHaveLength(3);
  await receiver.close();
});

it('takes the end of a run once, though its last workflow task is done anew', async () => {
  const receiver = await receiveTraces();
  given({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' });
  const made = (await startTracing('worker', silent))!;
  const info = {
    runId: crypto.randomUUID(),
    workflowId: 'run.default.w.2',
    namespace: 'n',
    taskQueue: 'q',
    workflowType: 'run',
    startTime: new Date(1_000),
  } as WorkflowInfo;
  const end = { startedAt: 1_000, endedAt: 2_000, organizationId: 'default', workflow: 'w' };
  const { ended } = workerObservers().sinks.signalboxRuns;
  for (let n = 0; n < 2; n++) await ended.fn(info, { ...end, outcome: 'continued' });
  for (let n = 0; n < 2; n++) await ended.fn(info, { ...end, outcome: 'completed' });
  await ended.fn({ ...info, runId: crypto.randomUUID() }, { ...end, outcome: 'completed' });
  await made.close();
  expect(receiver.spans.map(({ attributes }) => attributes['signalbox.outcome'])).toEqual([
    'continued',
    'completed',
    'completed',
  ]);
  await receiver.close();
});

it('samples as the environment says, and a run and its steps alike', async () => {
  const receiver = await receiveTraces();
  given({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.5',
  });
  const made = (await startTracing('worker', silent))!;
  const runs = Array.from({ length: 60 }, () => crypto.randomUUID());
  for (const runId of runs) {
    made.begin('step', { kind: 'internal', parent: made.runContext(runId) }).end({});
    made.record(runId, runId, {
      outcome: 'failed',
      startedAt: 1,
      endedAt: 2,
      organizationId: 'default',
      workflow: 'w',
      code: 'x',
    });
  }
  await made.close();
  const of = (name: string) =>
    new Set(receiver.spans.filter((span) => span.name === name).map(({ traceId }) => traceId));
  expect(of('step')).toEqual(of('run'));
  expect(of('run').size).toBeGreaterThan(5);
  expect(of('run').size).toBeLessThan(55);
  await receiver.close();
});

it('is off without an endpoint, and where it is switched off', async () => {
  given({});
  expect(await startTracing('gateway', silent)).toBeUndefined();
  given({ OTEL_EXPORTER_OTLP_ENDPOINT: '' });
  expect(await startTracing('gateway', silent)).toBeUndefined();
  for (const off of [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }]) {
    given({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', ...off });
    expect(await startTracing('gateway', silent)).toBeUndefined();
  }
  expect(tracer()).toBeUndefined();
});

it.each([
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/xml'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http/xml'],
  ['OTEL_TRACES_SAMPLER', 'sometimes'],
])('refuses %s=%s by name', async (variable, value) => {
  given({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', [variable]: value });
  await expect(startTracing('gateway', silent)).rejects.toMatchObject({ code: 'bad_setting', variable });
});
