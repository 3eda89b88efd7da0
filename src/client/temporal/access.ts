import type { Client } from '@temporalio/client';
import type { Config } from '../../config/config.ts';
import { dataLimitOf } from '../../definition/document/limits.ts';
import { deriveKeys, type Keys } from '../payloads/keys.ts';
import type { TemporalConnection } from './connect.ts';

/** What everything in this folder needs to talk to Temporal for an organization. Made once for a process. */
export interface Access {
  readonly client: Client;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Events after which actors continue as new. */
  readonly historyLimit: number;
  /** What a run's definition and state may take together. */
  readonly dataBytes: number;
  /** How many concurrent runs the host allows. */
  readonly limits: Config['limits'];
  readonly keys: Keys;
  /** Keys of former master keys, latest first. What they sealed and signed stays readable. */
  readonly formerKeys: readonly Keys[];
  /** Where Temporal's Web UI is, for links to runs. No slash at the end. */
  readonly webUrl?: string;
}

/** An Access that may change something. Functions that only read take an Access. */
export interface WriteAccess extends Access {
  /**
   * Every write to Temporal waits for it, and is not made where it fails. In the gateway it records the change in the
   * audit, so that no change precedes its record (src/gateway/http/audited.ts).
   */
  readonly beforeWrite: () => Promise<void>;
}

/** The access of one request. Its first write waits for `announce`, which records the change, and so do all others. */
export function announcing(access: Access, announce: () => Promise<void>): WriteAccess {
  let announced: Promise<void> | undefined;
  const beforeWrite = (): Promise<void> => {
    announced ??= announce();
    return announced;
  };
  return { ...access, beforeWrite };
}

/**
 * For writes that the audit does not record: its own, those of workers, claims of keys, and starts of runs, which
 * record their initiator.
 */
export const unaudited = <Some extends Pick<Access, 'client'>>(
  access: Some,
): Some & Pick<WriteAccess, 'beforeWrite'> => ({ ...access, beforeWrite: async () => undefined });

/** `webUrl`: where the Web UI is, with or without a slash at the end. */
export function access(
  temporal: Pick<TemporalConnection, 'client' | 'namespace'>,
  config: Pick<Config, 'taskQueue' | 'historyLimit' | 'formerMasterKeys' | 'limits' | 'blobs'>,
  masterKey: Uint8Array,
  webUrl?: string,
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
    ...(webUrl === undefined ? {} : { webUrl: webUrl.replace(/\/+$/, '') }),
  };
}

/** The keys for one purpose, the present one first. */
export const keysFor = (access: Pick<Access, 'keys' | 'formerKeys'>, purpose: keyof Keys): readonly Uint8Array[] =>
  [access.keys, ...access.formerKeys].map((keys) => keys[purpose]);
