import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, isGrpcServiceError } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { encodeSearchAttributeIndexedValueType, msToTs } from '../../temporal-internals/sdk.ts';
import { findShortages, type RegisteredAttributes, shortageRemedies } from '../search-attributes/capacity.ts';
import { cliTypeOf, type SignalboxKey, searchAttributeKeys } from '../search-attributes/keys.ts';
import type { TemporalConnection } from './connect.ts';
import { GRPC } from './grpc.ts';

const SECONDS_A_DAY = 86_400;
const POLL_MS = 100;

/** The steps that an operator must do by hand, because this connection lacks the permission. */
export class BootstrapError extends Error {
  readonly code = 'bootstrap_refused';
  readonly commands: readonly string[];
  constructor(what: string, commands: readonly string[]) {
    super(`${what} Ask an operator of the Temporal cluster to run:\n${commands.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'BootstrapError';
    this.commands = commands;
  }
}

/** The namespace was set up, but was not usable in time. */
class BootstrapTimeout extends Error {
  readonly code = 'bootstrap_timeout';
  constructor(namespace: string, seconds: number) {
    super(
      `Namespace ${namespace} was not usable within ${seconds} s of its setup. Start again; if it stays so, look ` +
        `at Temporal's own log.`,
    );
    this.name = 'BootstrapTimeout';
  }
}

type BootstrapOptions = {
  retentionDays: number;
  /** Also set the retention of an existing namespace: only for a server of our own. */
  ownServer?: boolean;
  timeoutMs?: number;
};

const hasGrpcCode = (error: unknown, ...codes: number[]): boolean =>
  isGrpcServiceError(error) && codes.includes(error.code);
const isRefused = (error: unknown): boolean => hasGrpcCode(error, GRPC.PERMISSION_DENIED, GRPC.UNIMPLEMENTED);

/**
 * Makes the namespace ready for runs: creates the namespace with its retention and every search attribute
 * (ARCHITECTURE.md §4), and waits until both are usable. Repeating it is harmless. Answers whether it is a new one.
 * @throws BootstrapError with the commands for an operator where this connection lacks the permission; BootstrapTimeout
 * where they are not usable in time (90 s by default).
 */
export async function bootstrap(temporalConnection: TemporalConnection, options: BootstrapOptions): Promise<boolean> {
  const { connection, namespace } = temporalConnection;
  const timeoutMs = options.timeoutMs ?? 90_000;
  const deadline = Date.now() + timeoutMs;
  const pause = async (): Promise<void> => {
    if (Date.now() > deadline) throw new BootstrapTimeout(namespace, Math.round(timeoutMs / 1000));
    await sleep(POLL_MS);
  };
  const isNew = await ensureNamespace(connection, namespace, options);
  let missing = await missingAttributes(connection, namespace, deadline);
  if (missing.length > 0) {
    await register(connection, namespace, missing);
    while (missing.length > 0) {
      await pause();
      missing = await missingAttributes(connection, namespace, deadline);
    }
  }
  while (!(await isUsable(temporalConnection))) await pause();
  return isNew;
}

/** Whether it had to be made. */
async function ensureNamespace(connection: Connection, namespace: string, options: BootstrapOptions): Promise<boolean> {
  const retention = msToTs(options.retentionDays * SECONDS_A_DAY * 1000);
  try {
    const found = await connection.workflowService.describeNamespace({ namespace });
    const current = Number(found.config?.workflowExecutionRetentionTtl?.seconds ?? 0);
    if (options.ownServer && current !== options.retentionDays * SECONDS_A_DAY) {
      await connection.workflowService.updateNamespace({
        namespace,
        config: { workflowExecutionRetentionTtl: retention },
      });
    }
    return false;
  } catch (error) {
    if (!hasGrpcCode(error, GRPC.NOT_FOUND)) throw refusedNamespace(error, namespace, options);
  }
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      description: 'Signalbox runs',
      workflowExecutionRetentionPeriod: retention,
    });
    return true;
  } catch (error) {
    if (!hasGrpcCode(error, GRPC.ALREADY_EXISTS)) throw refusedNamespace(error, namespace, options);
    return false;
  }
}

function refusedNamespace(error: unknown, namespace: string, options: BootstrapOptions): unknown {
  if (!isRefused(error)) return error;
  return new BootstrapError(`Namespace ${namespace} is missing or out of reach, and may not be created from here.`, [
    `temporal operator namespace create --namespace ${namespace} --retention ${options.retentionDays}d`,
    ...searchAttributeKeys.map((key) => registrationCommand(namespace, key)),
  ]);
}

async function missingAttributes(connection: Connection, namespace: string, deadline: number): Promise<SignalboxKey[]> {
  for (;;) {
    try {
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      return searchAttributeKeys.filter((key) => customAttributes?.[key.name] === undefined);
    } catch (error) {
      // Where listing is forbidden (as on Temporal Cloud) the query of isUsable decides.
      if (isRefused(error)) return [];
      // Some parts of the server may not know a new namespace yet.
      if (!hasGrpcCode(error, GRPC.NOT_FOUND) || Date.now() > deadline) throw error;
      await sleep(POLL_MS);
    }
  }
}

function indexedTypes(keys: readonly SignalboxKey[]): Record<string, temporal.api.enums.v1.IndexedValueType> {
  const entries = keys.map((key) => [key.name, encodeSearchAttributeIndexedValueType(key.type)] as const);
  return Object.fromEntries(entries.flatMap(([name, type]) => (type === undefined ? [] : [[name, type]])));
}

async function register(connection: Connection, namespace: string, missing: readonly SignalboxKey[]): Promise<void> {
  try {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: indexedTypes(missing),
    });
  } catch (error) {
    if (hasGrpcCode(error, GRPC.ALREADY_EXISTS)) return;
    if (hasGrpcCode(error, GRPC.INVALID_ARGUMENT))
      throw await attributeCapacityError(connection, namespace, missing, error);
    if (!isRefused(error)) throw error;
    throw new BootstrapError(
      `Namespace ${namespace} lacks ${missing.length} search attributes, and they may not be registered from here.`,
      missing.map((key) => registrationCommand(namespace, key)),
    );
  }
}

/** The BootstrapError where the namespace has no room for the attributes; any other error stays as it is. */
async function attributeCapacityError(
  connection: Connection,
  namespace: string,
  missing: readonly SignalboxKey[],
  error: unknown,
): Promise<unknown> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const found = findShortages((customAttributes ?? {}) as RegisteredAttributes, missing);
  if (found.length === 0) return error;
  const text = found.map((one) => one.text).join('; ');
  return new BootstrapError(
    `Namespace ${namespace} has no room for ${missing.length} search attributes: ${text}.`,
    shortageRemedies(found, namespace),
  );
}

export const registrationCommand = (namespace: string, key: SignalboxKey): string =>
  `temporal operator search-attribute create --namespace ${namespace} --name ${key.name} --type ${cliTypeOf(key.type)}`;

/** Whether a query over every attribute succeeds: all parts of the server know the namespace and the attributes. */
async function isUsable({ client, connection, namespace }: TemporalConnection): Promise<boolean> {
  try {
    await client.workflow.count(searchAttributeKeys.map((key) => `${key.name} IS NULL`).join(' AND '));
    return true;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    if (hasGrpcCode(cause, GRPC.NOT_FOUND)) return false;
    if (!hasGrpcCode(cause, GRPC.INVALID_ARGUMENT)) throw error;
    try {
      await connection.operatorService.listSearchAttributes({ namespace });
      return false;
    } catch (listing) {
      if (!isRefused(listing)) throw listing;
      throw new BootstrapError(
        `Namespace ${namespace} lacks search attributes, and they may not be registered from here.`,
        searchAttributeKeys.map((key) => registrationCommand(namespace, key)),
      );
    }
  }
}
