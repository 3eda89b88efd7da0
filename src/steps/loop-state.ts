/**
 * The state of an open loop, and what the root `loop` shows of it (LANGUAGE.md §3.7). The kind `loop` writes the state;
 * the engine keeps it on the loop's record. `loop` has exactly the members that it has in tale, plus `carry` and
 * `parent`.
 */
import type { Json, JsonObject } from '../json/json.ts';
import { LazyObject } from '../template/types.ts';

export type LoopState = {
  readonly items: Json[] | null;
  readonly batchSize: number;
  carry: Json;
  /** The tick that is being walked or decided on, from 0. */
  tick: number;
  /** Completed ticks. */
  iterations: number;
  /** historyKeep: how many of the last ticks keep their rollbacks. */
  readonly historyKeep?: number;
  /** The limit of ticks. */
  readonly maxIterations?: number;
  isComplete?: boolean;
};

const MEMBERS = ['items', 'state', 'batch', 'item', 'index', 'carry', 'parent'];

export function loopVars(loop: LoopState, parent: (() => unknown) | undefined): LazyObject {
  const { items, batchSize } = loop;
  return new LazyObject(
    (key) => {
      switch (key) {
        case 'items':
          return items ?? undefined;
        case 'state':
          return loopProgress(loop);
        case 'batch':
          return loopBatch(loop);
        case 'item':
          return batchSize === 1 ? items?.[loop.tick] : undefined;
        case 'index':
          return batchSize === 1 && (items === null || loop.tick < items.length) ? loop.tick : undefined;
        case 'carry':
          return loop.carry;
        case 'parent':
          return parent?.();
        default:
          return undefined;
      }
    },
    () => MEMBERS,
  );
}

/** `loop.state`. During a tick, `currentIndex` is where its batch begins, and the counts are those of earlier ticks. */
export function loopProgress({ items, batchSize, iterations, isComplete: complete = false }: LoopState): JsonObject {
  const totalItems = items?.length ?? 0;
  return {
    currentIndex: items === null ? iterations : Math.min(iterations * batchSize, totalItems),
    totalItems,
    iterations,
    batchesProcessed: iterations,
    isComplete: complete,
  };
}

/** `loop.batch`: the slice of this tick; null when the loop is complete or has no items. `endIndex` is inclusive. */
export function loopBatch({ items: all, batchSize, tick, isComplete: complete }: LoopState): JsonObject | null {
  if (all === null || complete === true) return null;
  const startIndex = tick * batchSize;
  const items = all.slice(startIndex, startIndex + batchSize);
  if (items.length === 0) return null;
  return { index: tick, size: items.length, items, startIndex, endIndex: startIndex + items.length - 1 };
}
