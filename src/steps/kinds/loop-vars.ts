/**
 * LoopVars (document 000 §4; LANGUAGE.md §3.7): what the root `loop` shows of an open loop. The members are exactly
 * those of document 000, plus `carry` and `parent`. `items` is read from the record, and so is stored once.
 */
import type { Json, JsonObject } from '../../json/json.ts';
import { LazyObject } from '../../template/types.ts';

/** The hold of an open loop: the kind `loop` writes it, the root `loop` reads it. */
export interface LoopHold {
  readonly items: Json[] | null;
  readonly batchSize: number;
  readonly carry: Json;
  /** The tick that the body is in, or that is asked about; from 0. */
  readonly tick: number;
  /** Ticks that have been gone through. */
  readonly iterations: number;
  readonly complete: boolean;
}

const MEMBERS = ['items', 'state', 'batch', 'item', 'index', 'carry', 'parent'];

export function loopVars(written: JsonObject, parent: (() => unknown) | undefined): LazyObject {
  return new LazyObject(
    (key) => {
      const hold = readHold(written);
      switch (key) {
        case 'items':
          return hold.items ?? undefined;
        case 'state':
          return loopState(hold);
        case 'batch':
          return loopBatch(hold);
        case 'item':
          return hold.batchSize === 1 ? hold.items?.[hold.tick] : undefined;
        case 'index':
          return hold.batchSize === 1 && (hold.items === null || hold.tick < hold.items.length) ? hold.tick : undefined;
        case 'carry':
          return hold.carry;
        case 'parent':
          return parent?.();
        default:
          return undefined;
      }
    },
    () => MEMBERS,
  );
}

/** During a tick `currentIndex` is where its batch begins, and iterations and batchesProcessed count the ticks before it (document 000 §11). */
export function loopState(hold: LoopHold): JsonObject {
  const { items, iterations } = hold;
  const totalItems = items?.length ?? 0;
  return {
    currentIndex: items === null ? iterations : Math.min(iterations * hold.batchSize, totalItems),
    totalItems,
    iterations,
    batchesProcessed: iterations,
    isComplete: hold.complete,
  };
}

/** The slice of this tick; null when the loop is complete or has no items. `endIndex` is inclusive. */
export function loopBatch(hold: LoopHold): JsonObject | null {
  if (hold.items === null || hold.complete) return null;
  const startIndex = hold.tick * hold.batchSize;
  const items = hold.items.slice(startIndex, startIndex + hold.batchSize);
  if (items.length === 0) return null;
  return { index: hold.tick, size: items.length, items, startIndex, endIndex: startIndex + items.length - 1 };
}

/** The hold of a loop, as the kind wrote it. */
export function readHold(hold: JsonObject): LoopHold {
  const { items, batchSize, carry, tick, iterations, complete } = hold;
  return {
    items: Array.isArray(items) ? items : null,
    batchSize: typeof batchSize === 'number' ? batchSize : 1,
    carry: carry ?? null,
    tick: typeof tick === 'number' ? tick : 0,
    iterations: typeof iterations === 'number' ? iterations : 0,
    complete: complete === true,
  };
}
