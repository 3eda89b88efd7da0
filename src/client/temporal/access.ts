import type { Client } from '@temporalio/client';
import type { Config } from '../../config/config.ts';
import { dataLimitOf } from '../../definition/document/limits.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { deriveKeys, type Keys } from '../payloads/keys.ts';
import type { TemporalConnection } from './connect.ts';

/** The connection, settings and keys that src/client needs for calls to Temporal. Made once for a process. */
export interface Access {
  readonly client: Client;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Events after which actors continue as new. */
  readonly historyLimit: number;
  /** The most bytes of a run's definition and state together. */
  readonly dataBytes: number;
  /** How many concurrent runs the host allows. */
  readonly limits: Config['limits'];
  readonly keys: Keys;
  /** Keys of former master keys, latest first. Values that they sealed or signed stay readable. */
  readonly formerKeys: readonly Keys[];
  /** The types of the host's light actions. Absent in a process that has not loaded the actions. */
  readonly lightActions?: readonly string[];
  /** The client has the connection of a worker, which may get the first task of a run with the answer to its start. */
  readonly startsEagerly?: boolean;
  /** Whose calls these are: calls of each wait in a lane of their own (rpc.ts). Absent: those of the process. */
  readonly caller?: string;
  /** Once it is aborted no call waits for its answer any longer, because the process ends. */
  readonly callsEnd?: AbortSignal;
  /** The address of Temporal's Web UI, for links to runs. It has no slash at the end. */
  readonly webUrl?: string;
  /** The gateway's address for browsers, without a slash at the end. */
  readonly publicUrl?: () => string | undefined;
}

/** An Access for writes. Functions that only read take an Access. */
export interface WriteAccess extends Access {
  /**
   * Every write to Temporal waits for it, and is not made if it fails. In the gateway it records the change in the
   * audit, so that no change precedes its record (src/gateway/http/audited-access.ts).
   */
  readonly beforeWrite: () => Promise<void>;
}

/** The same, for calls that wait in the lane of `caller`. */
export const withCaller = <Some extends Pick<Access, 'client'>>(access: Some, caller: string): Some => ({
  ...access,
  caller,
});

/** The access of one request. Its first write calls `recordChange`, and every write waits for it. */
export function accessWithAudit(access: Access, recordChange: () => Promise<void>): WriteAccess {
  let recorded: Promise<void> | undefined;
  const beforeWrite = (): Promise<void> => {
    recorded ??= recordChange();
    return recorded;
  };
  return { ...access, beforeWrite };
}

/**
 * For writes that the audit does not record: the audit's own writes, writes of workers, claims of keys, and starts of
 * runs, which record their initiator.
 */
export const unaudited = <Some extends Pick<Access, 'client'>>(
  access: Some,
): Some & Pick<WriteAccess, 'beforeWrite'> => ({ ...access, beforeWrite: async () => undefined });

/** `webUrl`: the address of the Web UI, with or without a slash at the end. */
export function createAccess(
  temporal: Pick<TemporalConnection, 'client' | 'namespace'>,
  config: Pick<Config, 'taskQueue' | 'historyLimit' | 'formerMasterKeys' | 'limits' | 'blobs'>,
  masterKey: Uint8Array,
  { webUrl, ...known }: Pick<Access, 'webUrl' | 'publicUrl' | 'lightActions' | 'startsEagerly' | 'callsEnd'> = {},
): Access {
  return {
    client: temporal.client,
    namespace: temporal.namespace,
    taskQueue: config.taskQueue,
    historyLimit: config.historyLimit,
    dataBytes: dataLimitOf(config.blobs.isOn),
    limits: config.limits,
    keys: deriveKeys(masterKey),
    formerKeys: config.formerMasterKeys.map(deriveKeys),
    ...omitUndefined(known),
    ...(webUrl === undefined ? {} : { webUrl: webUrl.replace(/\/+$/, '') }),
  };
}

/** The keys for one purpose, the current one first. */
export const keysFor = (access: Pick<Access, 'keys' | 'formerKeys'>, purpose: keyof Keys): readonly Uint8Array[] =>
  [access.keys, ...access.formerKeys].map((keys) => keys[purpose]);
