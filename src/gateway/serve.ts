/** Starts and stops the gateway's HTTP server. */

import { setMaxListeners } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { lightTypes, loadActions } from '../actions/load.ts';
import { type ApiKeyCache, createApiKeyCache } from '../client/organization/api-key-cache.ts';
import { createAuditTrail } from '../client/organization/audit.ts';
import { createAccess } from '../client/temporal/access.ts';
import type { TemporalConnection } from '../client/temporal/connect.ts';
import { flushFirings } from '../client/triggers/trigger-records.ts';
import type { Config } from '../config/config.ts';
import { loadMasterKey } from '../config/master-key.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { buildApp } from './app.ts';
import { consoleOf } from './console.ts';
import { needsKeys } from './http/auth.ts';
import type { Clock } from './http/body-reader.ts';
import { isLoopback, isNonLoopbackUrl } from './http/loopback.ts';
import { answerMalformedRequests, forwardExpectRequests } from './http/malformed-http.ts';
import { OffloadPool } from './threads/pool.ts';

export interface GatewayDeps {
  /** Must be open. The server does not close it. */
  readonly temporal: Pick<TemporalConnection, 'client' | 'namespace'>;
  /** Default: no log. */
  readonly log?: Logger;
  /** Temporal's Web UI, for links. */
  readonly uiUrl?: string;
  /** Identities of workers known to have died. The set may change. Default: empty. */
  readonly deadWorkers?: ReadonlySet<string>;
  /** Where the console was built. Default: dist/console. */
  readonly consoleDir?: string;
  /** Default: the keys stored in Temporal. */
  readonly keyring?: ApiKeyCache;
  /** By which bodies and rates are timed. Default: the process's. */
  readonly clock?: Clock;
  /** It is closed with the gateway. Default: one with the actions of the settings. */
  readonly offload?: OffloadPool;
}

/** The gateway cannot listen where the settings say. */
class GatewayError extends Error {
  readonly code: 'keys_required' | 'cannot_listen';
  readonly exitCode = 20;
  constructor(code: GatewayError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'GatewayError';
    this.code = code;
  }
}

/** Longer than proxies keep an idle connection (usually 60 s), so no proxy sends a request on a closing connection. */
const KEEP_ALIVE_MS = 75_000;
/**
 * How long a request may take to come, also one that was answered before its body. A body that is read has less
 * (http/body-reader.ts).
 */
const REQUEST_MS = 60_000;
/** How long requests in progress may take to end on close. */
const CLOSING_MS = 5_000;
/** Logged when SIGNALBOX_PUBLIC_URL suggests that callers come through a proxy. */
const PROXY_WITHOUT_KEYS =
  'SIGNALBOX_PUBLIC_URL is not an address of this machine, and the gateway has no API keys. It cannot tell callers ' +
  'who come through a proxy from those of this machine, so it refuses the API (403 proxy_without_keys), and serves ' +
  'only webhooks, callbacks, links of approvals, the manual, /healthz and /readyz. Set SIGNALBOX_ADMIN_KEY, or run ' +
  '`npx signalbox keys create`.';
const SWEEP_MS = 100;
/** How long pending audit and trigger writes may take on close. An unreachable Temporal does not delay it longer. */
const SETTLING_MS = 2_000;
/** Large enough that under a burst every connection is accepted and answered, also with a refusal. */
const LISTEN_BACKLOG = 4_096;

/**
 * Listens, and returns the address. `close` refuses new requests, lets requests in progress end, and resolves within
 * seconds.
 * @throws GatewayError `keys_required` on another interface than loopback, `cannot_listen` where the port is taken.
 */
export async function startGateway(
  config: Config,
  deps: GatewayDeps,
): Promise<{
  url: string;
  needsKeys: boolean;
  /** As `needsKeys`, as of now. Rejects where Temporal has never answered. */
  callersNeedKeys: () => Promise<boolean>;
  warnings: readonly string[];
  warm(): void;
  close(): Promise<void>;
}> {
  const log = deps.log ?? pino({ enabled: false });
  const actions = await loadActions(config.actionsDir);
  let url = '';
  const publicUrl = (): string => config.publicUrl ?? url;
  const accessOptions = omitUndefined({ webUrl: deps.uiUrl, lightActions: lightTypes(actions), publicUrl });
  const store = createAccess(deps.temporal, config, loadMasterKey(config), accessOptions);
  const keyring = deps.keyring ?? createApiKeyCache(store);
  const hasKeys = await needsKeys(config, keyring);
  if (!hasKeys && !isLoopback(config.host)) {
    throw new GatewayError(
      'keys_required',
      `Without API keys the gateway serves this machine only, and SIGNALBOX_HOST is ${config.host}. Set it to ` +
        `127.0.0.1, or give an admin's key by SIGNALBOX_ADMIN_KEY.`,
    );
  }
  const closing = new AbortController();
  // Every request that waits listens to it.
  setMaxListeners(0, closing.signal);
  const offload = deps.offload ?? new OffloadPool(config.actionsDir);
  const gateway = {
    offload,
    access: store,
    config,
    log,
    actions,
    closing: closing.signal,
    ...omitUndefined({ deadWorkers: deps.deadWorkers, consoleDir: deps.consoleDir }),
    publicUrl,
  };
  void consoleOf(gateway);
  const trail = createAuditTrail(store);
  const app = buildApp(gateway, keyring, trail, deps.clock);
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: REQUEST_MS, requireHostHeader: false },
    app,
  );
  answerMalformedRequests(server);
  forwardExpectRequests(server, app);
  const { port } = await listen(server, config);
  url = `http://${config.host.includes(':') ? `[${config.host.replace(/^\[|\]$/g, '')}]` : config.host}:${port}`;
  if (!hasKeys) log.warn({ url }, 'The gateway has no API keys: it serves this machine only.');
  const warnings = !hasKeys && isNonLoopbackUrl(config.publicUrl) ? [PROXY_WITHOUT_KEYS] : [];
  for (const warning of warnings) log.warn({ publicUrl: config.publicUrl }, warning);
  return {
    url,
    needsKeys: hasKeys,
    callersNeedKeys: () => needsKeys(config, keyring),
    warm: () => offload.warm(),
    warnings,
    close: async () => {
      closing.abort();
      const ended = new Promise<void>((resolve) => server.close(() => resolve()));
      // Kept-alive connections become idle one by one, as their answers are sent.
      server.closeIdleConnections();
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
      const force = setTimeout(() => server.closeAllConnections(), CLOSING_MS);
      await ended;
      clearInterval(sweep);
      clearTimeout(force);
      await offload.close();
      const settled = Promise.all([keyring.drain(), trail.drain(), flushFirings(store)]);
      await Promise.race([settled, delay(SETTLING_MS, undefined, { ref: false })]);
    },
  };
}

function listen(server: Server, config: Config): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new GatewayError(
          'cannot_listen',
          `Port ${config.port} of ${config.host} cannot be listened on ` +
            `(${'code' in error ? String(error.code) : error.message}). Choose another with SIGNALBOX_PORT.`,
          error,
        ),
      );
    });
    const where = { port: config.port, host: config.host.replace(/^\[|\]$/g, ''), backlog: LISTEN_BACKLOG };
    server.listen(where, () => resolve(server.address() as AddressInfo));
  });
}
