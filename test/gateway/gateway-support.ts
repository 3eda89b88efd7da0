// A gateway without Temporal: for everything that is refused before Temporal is called, and for the refusals then.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { NO_ACTIONS } from '../../src/actions/load.ts';
import type { ApiKeyCache } from '../../src/client/organization/api-key-cache.ts';
import { readConfig } from '../../src/config/config.ts';
import type { KeyRecord, Role } from '../../src/contract/organization/organization.ts';
import { buildApp } from '../../src/gateway/app.ts';
import { type GatewayDeps, startGateway } from '../../src/gateway/serve.ts';
import { OffloadPool } from '../../src/gateway/threads/pool.ts';
import { scopeLogFields } from '../../src/observe/scope.ts';

export type GatewayWithoutTemporal = { url: string; logged: string[]; close(): Promise<void> };

/** A keyring without keys. */
export const NO_KEYS: ApiKeyCache = {
  hasKeys: async () => false,
  holderOf: async () => undefined,
  holderById: async () => undefined,
  forget: () => undefined,
  drain: async () => undefined,
};

/** The stored record of a key of that role. */
export const keyRecord = (role: Role): KeyRecord => ({
  name: role,
  role,
  user: `${role}-person`,
  roles: [],
  groups: [],
  prefix: 'sbk_default_0',
  mac: '',
  sealed: '',
  createdAt: '2026-01-15T10:00:00.000Z',
  createdBy: null,
  lastUsedAt: null,
});

/** A client without a server, since nothing listens on port 1. Without the SDK's retries, which outlive connections. */
function nowhere(): { connection: Connection; client: Client } {
  const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: [] });
  return { connection, client: new Client({ connection, namespace: 'none' }) };
}

/** Every path that the gateway serves, as Express has it. `/` only leads to the manual. */
export async function pathsOfApp(): Promise<string[]> {
  const { connection, client } = nowhere();
  const app = buildApp({
    access: { keys: {}, client } as never,
    actions: NO_ACTIONS,
    offload: new OffloadPool(),
    config: readConfig({}),
    log: pino({ enabled: false }),
    closing: new AbortController().signal,
    publicUrl: () => '',
  });
  await connection.close();
  return app.router.stack.flatMap(({ route }) => (route === undefined || route.path === '/' ? [] : [route.path]));
}

/** As gRPC says that a deadline has passed. */
export const late = Object.assign(new Error('deadline exceeded'), {
  code: 4,
  details: 'deadline exceeded',
  metadata: { get: () => [] },
});

/** Each call of a service, answered as if its deadline had passed. */
function lateAnswers(service: Connection['workflowService']): Partial<Connection['workflowService']> {
  const calls = Object.keys(service).filter((name) => name !== 'rpcImpl');
  return Object.fromEntries(calls.map((call) => [call, () => Promise.reject(late)]));
}

/**
 * Temporal answers only the calls in `answering`. The others fail immediately as if their deadline had passed. With
 * `refuses` nothing accepts the connection, which the gateway tries for seconds.
 */
export async function gatewayWithoutTemporal(
  overrides: Record<string, string> = {},
  keyring: ApiKeyCache = NO_KEYS,
  answering: Partial<Connection['workflowService']> = {},
  refuses = false,
  deps: Partial<GatewayDeps> = {},
): Promise<GatewayWithoutTemporal> {
  const dataDir = mkdtempSync(join(tmpdir(), 'signalbox-gateway-'));
  const config = readConfig({ SIGNALBOX_PORT: '0', SIGNALBOX_DATA: dataDir, ...overrides });
  const { connection, client } = nowhere();
  const { workflowService } = connection;
  Object.assign(workflowService, refuses ? {} : lateAnswers(workflowService), answering);
  const logged: string[] = [];
  const log = pino(
    { level: 'info', mixin: () => scopeLogFields() },
    { write: (line: string) => void logged.push(line) },
  );
  const gateway = await startGateway(config, {
    temporal: { client, namespace: 'none' },
    log,
    keyring,
    ...deps,
  });
  return {
    url: gateway.url,
    logged,
    close: async () => {
      await gateway.close();
      await connection.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
