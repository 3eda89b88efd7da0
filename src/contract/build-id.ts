/** A worker's build id. It carries the settings on which workflow code and the fold of a history depend. */

import { MAX_STATE_BYTES } from '../definition/document/limits.ts';

/** Used where the worker is unknown: the default of SIGNALBOX_HISTORY_LIMIT. */
const DEFAULT_HISTORY_LIMIT = 1_000;
const DEFAULT_DEPLOYMENT = 'signalbox';

/**
 * Changes of commands that hold for every task of a worker. A build id names those that its code has, so a history
 * replays and folds as its workers behaved. A mark is never renamed, and removed only with its old branch (TEMPORAL.md
 * §11). Add one as a line here, and ask for it with `isMarked`.
 */
export const MARKS = [
  /** From 0.3: light effects run in segments (engine/segment.ts). */
  'segments',
  /** From 0.4: a run that has done many effects is measured before it is refused a segment. */
  'segments2',
  /** From 0.4: the activity that resolves a child's workflow gets the child's input, and checks it. */
  'inputs',
  /** From 0.4: a step that fails has written nothing, and `historyKeep` also counts for long paths. */
  'modifiers2',
  /** From 0.4: a full run is not measured where only data that waits is over its limit. */
  'fits2',
  /** From 0.4: decisions of approvals are values of SignalboxState (search-attributes.ts). */
  'decided',
  /** From 0.4: `+` joins no NaN to a text, and no transform cuts a text within a surrogate pair. */
  'texts',
  /** From 0.4: payload formats apply patterns, and more formats of texts. */
  'formats',
] as const;
export type Mark = (typeof MARKS)[number];

const BUILD_ID = new RegExp(
  `^history-(\\d{1,9})-data-(\\d{1,9})((?:-(?:${MARKS.join('|')}))*)(-encoded)?(?:-code-[0-9a-f]{12})?$`,
);
/** Digits of the hash of the workflows' code. */
const CODE_DIGITS = 12;

export interface WorkerStamp {
  /** Events after which a run continues as new. */
  readonly historyLimit: number;
  /** The most bytes of a run's definition and state together (definition/document/limits.ts, dataLimitOf). */
  readonly dataBytes: number;
  /** Failures are encoded, because a payload codec is configured. */
  readonly encodes?: boolean;
  /** Hexadecimal hash of the workflows' code. Only in build ids by which Temporal chooses workers. */
  readonly codeHash?: string;
}

/** `marks`: those of the worker's code. */
export function buildIdOf(stamp: WorkerStamp, marks: readonly Mark[] = MARKS): string {
  const { historyLimit, dataBytes, encodes = false, codeHash } = stamp;
  const code = codeHash === undefined ? '' : `-code-${codeHash.slice(0, CODE_DIGITS)}`;
  const marked = marks.map((mark) => `-${mark}`).join('');
  return `history-${historyLimit}-data-${dataBytes}${marked}${encodes ? '-encoded' : ''}${code}`;
}

/** The deployment of the workers of a task queue. Temporal allows no dot in its name. */
export const deploymentOf = (taskQueue: string): string =>
  taskQueue === DEFAULT_DEPLOYMENT
    ? DEFAULT_DEPLOYMENT
    : `${DEFAULT_DEPLOYMENT}-${taskQueue.replaceAll(/[^A-Za-z0-9_-]/g, '-')}`;

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

/** Whether the worker's code has the change. */
export function hasMark(buildId: string | undefined, mark: Mark): boolean {
  return (BUILD_ID.exec(buildId ?? '')?.[3] ?? '').split('-').includes(mark);
}

/** Whether it had a payload codec. */
export const encodesFailures = (buildId: string | undefined): boolean =>
  BUILD_ID.exec(buildId ?? '')?.[4] !== undefined;
