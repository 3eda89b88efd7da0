/**
 * OpenTelemetry traces, by the standard environment variables; without an endpoint there are none. Names and attributes
 * hold no data of runs: only methods, routes, codes, ids and names of steps.
 */
import {
  type Attributes,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { IdGenerator, Sampler, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { ConfigError } from '../config/config-error.ts';
import { type EndedRun, spanIdOfRun, type TraceContext, traceIdOfRun } from '../contract/run/trace.ts';
import { programVersion } from './version.ts';

interface SpanStart {
  readonly kind: 'server' | 'internal';
  /** Undefined: the span begins a trace. */
  readonly parent?: TraceContext | undefined;
  readonly attributes?: Attributes;
}

interface OpenSpan {
  readonly context: TraceContext;
  /** `code` marks the span as failed. */
  end(outcome: { readonly name?: string; readonly code?: string | undefined; readonly attributes?: Attributes }): void;
}

interface Tracer {
  begin(name: string, start: SpanStart): OpenSpan;
  /** The span of a Temporal run, which has ended. */
  record(runId: string, executionId: string, run: EndedRun): void;
  /** The context of a Temporal run without a trace of its own: whether it is sampled is decided by its id. */
  runContext(runId: string): TraceContext;
  /** Exports what is left, within seconds. Never rejects. */
  close(): Promise<void>;
}

const KINDS = { server: SpanKind.SERVER, internal: SpanKind.INTERNAL };
const SHUTDOWN_TIMEOUT_MS = 2_000;
const MAX_MESSAGE = 300;
const MAX_CODE = 100;

let currentTracer: Tracer | undefined;

/** Undefined while tracing is off. */
export const tracer = (): Tracer | undefined => currentTracer;

/**
 * Starts tracing if OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set.
 * @throws ConfigError for a protocol or a sampler that is not supported.
 */
export async function startTracing(component: 'gateway' | 'worker', log: Logger): Promise<Tracer | undefined> {
  const env = process.env;
  if (!isTracingOn(env)) return undefined;
  const sampler = await samplerOf(env);
  const exporter = await exporterOf(env);
  const { BatchSpanProcessor, RandomIdGenerator, TracerProvider } = await import('@opentelemetry/sdk-trace');
  const { detectResources, envDetector, resourceFromAttributes } = await import('@opentelemetry/resources');
  diag.setLogger(diagnosticsLogger(log), { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
  const serviceAttributes = { 'service.name': `signalbox-${component}`, 'service.version': programVersion() };
  const ids = new RunIdGenerator(new RandomIdGenerator());
  const provider = new TracerProvider({
    sampler,
    resource: resourceFromAttributes(serviceAttributes).merge(detectResources({ detectors: [envDetector] })),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const source = provider.getTracer('signalbox', programVersion());
  const begin = (name: string, { kind, parent, attributes = {} }: SpanStart, at?: number): Span =>
    source.startSpan(
      name,
      { kind: KINDS[kind], attributes, ...(at === undefined ? {} : { startTime: at }) },
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remoteSpanContext(parent)),
    );
  const started: Tracer = {
    begin: (name, start) => openSpanOf(begin(name, start)),
    record: (runId, executionId, run) => {
      const { parent, outcome, startedAt, endedAt, organizationId, workflow, code } = run;
      const attributes = {
        'signalbox.execution_id': executionId,
        'signalbox.organization_id': organizationId,
        'signalbox.workflow': workflow,
        'signalbox.outcome': outcome,
        temporalRunId: runId,
      };
      const span = ids.withRunIds(runId, () => begin('run', { kind: 'internal', parent, attributes }, startedAt));
      markFailed(span, code);
      span.end(endedAt);
    },
    // The span is never ended, and so never exported: it only asks the sampler.
    runContext: (runId) => contextOf(ids.withRunIds(runId, () => begin('run', { kind: 'internal' }))),
    close: async () => {
      if (currentTracer === started) currentTracer = undefined;
      const closed = provider.shutdown().catch(() => undefined);
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, SHUTDOWN_TIMEOUT_MS).unref())]);
    },
  };
  currentTracer = started;
  log.info('Traces are exported.');
  return started;
}

const nonEmpty = (value: string | undefined): string | undefined =>
  value === undefined || value === '' ? undefined : value;

function isTracingOn(env: NodeJS.ProcessEnv): boolean {
  const endpoint = nonEmpty(env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) ?? nonEmpty(env['OTEL_EXPORTER_OTLP_ENDPOINT']);
  const isDisabled = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  return endpoint !== undefined && !isDisabled;
}

/** The exporters read endpoint, headers, timeout and certificates from the environment. */
async function exporterOf(env: NodeJS.ProcessEnv): Promise<SpanExporter> {
  const name = nonEmpty(env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'])
    ? 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'
    : 'OTEL_EXPORTER_OTLP_PROTOCOL';
  switch (nonEmpty(env[name]) ?? 'http/protobuf') {
    case 'http/protobuf': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
      return new OTLPTraceExporter();
    }
    case 'http/json': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
      return new OTLPTraceExporter();
    }
    case 'grpc': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-grpc');
      return new OTLPTraceExporter();
    }
    default:
      throw new ConfigError(name, 'expected http/protobuf, http/json or grpc.');
  }
}

/** OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG. Default: parentbased_always_on. @throws ConfigError */
async function samplerOf(env: NodeJS.ProcessEnv): Promise<Sampler> {
  const { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler, TraceIdRatioBasedSampler } = await import(
    '@opentelemetry/sdk-trace'
  );
  const named = nonEmpty(env['OTEL_TRACES_SAMPLER']) ?? 'parentbased_always_on';
  const isParentBased = named.startsWith('parentbased_');
  const root = (): Sampler => {
    switch (named.replace(/^parentbased_/, '')) {
      case 'always_on':
        return new AlwaysOnSampler();
      case 'always_off':
        return new AlwaysOffSampler();
      case 'traceidratio':
        return new TraceIdRatioBasedSampler(ratioOf(env));
      default:
        throw new ConfigError(
          'OTEL_TRACES_SAMPLER',
          'expected always_on, always_off, traceidratio, or one of them after parentbased_.',
        );
    }
  };
  return isParentBased ? new ParentBasedSampler({ root: root() }) : root();
}

function ratioOf(env: NodeJS.ProcessEnv): number {
  const ratio = Number(nonEmpty(env['OTEL_TRACES_SAMPLER_ARG']) ?? '1');
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw new ConfigError('OTEL_TRACES_SAMPLER_ARG', 'expected a number from 0 to 1.');
}

/** Random ids, except for the span of a Temporal run. */
class RunIdGenerator implements IdGenerator {
  readonly #random: IdGenerator;
  #runId: string | undefined;

  constructor(random: IdGenerator) {
    this.#random = random;
  }

  /** Spans that `begin` starts have the ids of the Temporal run. */
  withRunIds(runId: string, begin: () => Span): Span {
    this.#runId = runId;
    try {
      return begin();
    } finally {
      this.#runId = undefined;
    }
  }

  /** Only asked for a span without a parent. */
  generateTraceId = (): string =>
    this.#runId === undefined ? this.#random.generateTraceId() : traceIdOfRun(this.#runId);

  generateSpanId = (): string => (this.#runId === undefined ? this.#random.generateSpanId() : spanIdOfRun(this.#runId));
}

const remoteSpanContext = ({ traceId, spanId, isSampled }: TraceContext) => ({
  traceId,
  spanId,
  traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  isRemote: true,
});

function contextOf(span: Span): TraceContext {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return { traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0 };
}

function openSpanOf(span: Span): OpenSpan {
  return {
    context: contextOf(span),
    end: ({ name, code, attributes = {} }) => {
      if (name !== undefined) span.updateName(name);
      span.setAttributes(attributes);
      markFailed(span, code);
      span.end();
    },
  };
}

function markFailed(span: Span, code: string | undefined): void {
  if (code === undefined) return;
  span.setAttribute('error.type', code.slice(0, MAX_CODE));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Logs what the exporter complains of, such as an unavailable collector. */
function diagnosticsLogger(log: Logger) {
  const warn = (message: string): void => log.warn({ message: message.slice(0, MAX_MESSAGE) }, 'OpenTelemetry.');
  const silent = (): void => undefined;
  return { error: warn, warn: silent, info: silent, debug: silent, verbose: silent };
}
