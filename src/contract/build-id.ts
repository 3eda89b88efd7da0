/** A worker's build id. It carries the settings on which workflow code and the fold of a history depend. */

import { MAX_STATE_BYTES } from '../definition/document/limits.ts';

/** Used where the worker is unknown: the default of SIGNALBOX_HISTORY_LIMIT. */
const DEFAULT_HISTORY_LIMIT = 1_000;
const BUILD_ID = /^history-(\d{1,9})-data-(\d{1,9})(-encoded)?$/;

export interface WorkerStamp {
  /** Events after which a run continues as new. */
  readonly historyLimit: number;
  /** The most bytes of a run's definition and state together (engine/limits.ts, dataLimitOf). */
  readonly dataBytes: number;
  /** Failures are encoded, because a payload codec is configured. */
  readonly encodes?: boolean;
}

export function buildIdOf({ historyLimit, dataBytes, encodes = false }: WorkerStamp): string {
  return `history-${historyLimit}-data-${dataBytes}${encodes ? '-encoded' : ''}`;
}

/** The history limit that the worker of a task had, by its build id. */
export function historyLimitOf(buildId: string | undefined): number {
  const digits = BUILD_ID.exec(buildId ?? '')?.[1];
  return digits === undefined ? DEFAULT_HISTORY_LIMIT : Math.max(1, Number(digits));
}

/** The data limit of the worker. A build id without it means the smallest limit. */
export function dataBytesOf(buildId: string | undefined): number {
  const digits = BUILD_ID.exec(buildId ?? '')?.[2];
  return digits === undefined ? MAX_STATE_BYTES : Number(digits);
}

/** Whether it had a payload codec. */
export const encodesFailures = (buildId: string | undefined): boolean =>
  BUILD_ID.exec(buildId ?? '')?.[3] !== undefined;
