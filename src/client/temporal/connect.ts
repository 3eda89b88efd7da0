import {
  Client,
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import type { Config, TemporalSettings } from '../../config/config.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { dataConverterOf } from '../payloads/data-converter.ts';
import { type SendEagerly, withEagerStarts } from './eager-starts.ts';
import { probeAddress } from './tls-probe.ts';
import { traceHeaders } from './trace-headers.ts';
import { type GrpcStatus, transientKindOfStatus } from './transient-errors.ts';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
/** An interceptor of gRPC calls, which passes them on with `next`. */
export type CallInterceptor = (
  options: Parameters<Interceptor>[0],
  next: Parameters<Interceptor>[1],
) => ReturnType<Parameters<Interceptor>[1]>;

/** An open connection to Temporal, the client of the configured namespace over it, and a function that closes it. */
export type TemporalConnection = {
  connection: Connection;
  client: Client;
  namespace: string;
  close(): Promise<void>;
};

/** Temporal could not be reached, or refused the connection. */
export class ConnectError extends Error {
  readonly code = 'temporal_unreachable';
  /** What a connection to the address shows, where that names a cause. */
  readonly fault: string | undefined;
  constructor(address: string, fault: string | undefined, cause: unknown) {
    const unknown = 'Check TEMPORAL_ADDRESS, and TLS and API key (TEMPORAL_TLS…, TEMPORAL_API_KEY).';
    super(`Temporal does not answer at ${address}. ${fault ?? unknown}`, { cause });
    this.name = 'ConnectError';
    this.fault = fault;
  }
}

const CLOSING_DELAY_MS = 10;
/** Timers may be late. */
const RETRY_MARGIN_MS = 50;
/** A page of history can exceed gRPC's default limit of four megabytes, for example with 500 inputs of 12 KB. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
/** The server's refusal while the closing task of a workflow is in flight, for example when it continues as new. */
const WORKFLOW_CLOSING = /workflow is closing/i;

/** The longest pause between two attempts to connect, which the library would let grow to two minutes. */
const MAX_RECONNECT_BACKOFF_MS = 2_000;

/**
 * Retries as the SDK does, but after 10 ms when a workflow is just closing (TEMPORAL.md §2). Where Temporal refuses
 * calls or is unavailable, rpc.ts decides.
 */
export function retryOptions(): Parameters<typeof makeGrpcRetryInterceptor>[0] {
  const defaults = defaultGrpcRetryOptions();
  return {
    retryableDecider: (attempt, status) => {
      const transient = transientKindOfStatus(status as GrpcStatus);
      return transient !== 'rate' && transient !== 'away' && defaults.retryableDecider(attempt, status);
    },
    delayFunction: (attempt, status) =>
      WORKFLOW_CLOSING.test(status.details) ? CLOSING_DELAY_MS : defaults.delayFunction(attempt, status),
  };
}

/** The common part of client and worker connections. */
type SharedOptions = { address: string } & Pick<TemporalSettings, 'apiKey' | 'tls' | 'metadata'>;

/** The options that client and worker connections share. */
export function connectionOptions(config: Pick<Config, 'temporal'>): SharedOptions {
  const { address, apiKey, tls, metadata } = config.temporal;
  return {
    address: address ?? 'localhost:7233',
    ...omitUndefined({ apiKey, tls, metadata }),
  };
}

/**
 * Connects to Temporal as the settings say, within ten seconds. `callInterceptors` see every call once, whatever its
 * attempts. `sendEagerly` is handed starts of runs first.
 * @throws ConnectError
 */
export async function connect(
  config: Config,
  callInterceptors: readonly CallInterceptor[] = [],
  sendEagerly?: SendEagerly,
): Promise<TemporalConnection> {
  const options = connectionOptions(config);
  const retries = stoppableRetries();
  let connection: Connection;
  try {
    connection = await Connection.connect({
      ...options,
      interceptors: [...(callInterceptors as readonly Interceptor[]), makeGrpcRetryInterceptor(retries.options)],
      connectTimeout: '10s',
      channelArgs: {
        'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
        'grpc.initial_reconnect_backoff_ms': MAX_RECONNECT_BACKOFF_MS / 4,
        'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_BACKOFF_MS,
      },
    });
  } catch (error) {
    const { fault } = await probeAddress(options.address, options);
    throw new ConnectError(options.address, fault, error);
  }
  const { namespace } = config.temporal;
  const interceptors = { workflow: [traceHeaders] };
  const client = new Client({
    connection: sendEagerly === undefined ? connection : withEagerStarts(connection, sendEagerly),
    namespace,
    dataConverter: dataConverterOf(config),
    interceptors,
  });
  return { connection, client, namespace, close: () => retries.end().then(() => connection.close()) };
}

/**
 * Retries that can be stopped. A retry on a closed connection throws an error that cannot be caught. So a retry never
 * begins after the end, and running ones finish first.
 */
function stoppableRetries(): { readonly options: ReturnType<typeof retryOptions>; end(): Promise<void> } {
  const defaults = retryOptions();
  let isStopped = false;
  let lastRetryAt = 0;
  return {
    options: {
      retryableDecider: (attempt, status) => !isStopped && defaults.retryableDecider(attempt, status),
      delayFunction: (attempt, status) => {
        const delay = defaults.delayFunction(attempt, status);
        lastRetryAt = Math.max(lastRetryAt, Date.now() + delay);
        return delay;
      },
    },
    end: async () => {
      isStopped = true;
      if (lastRetryAt === 0) return;
      // A retry that is due may not have begun yet on a busy machine: timers that were due earlier run first.
      const left = Math.max(0, lastRetryAt - Date.now());
      await new Promise((resolve) => setTimeout(resolve, left + RETRY_MARGIN_MS));
    },
  };
}
