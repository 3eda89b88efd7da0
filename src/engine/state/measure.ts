/**
 * Measures a state in bytes without serializing it. Records are measured each time, values once in their life, and a
 * value that several records share counts once. The result is never below the size that continue-as-new carries
 * (serialize.ts), and above it only where a value is referenced both as a whole and in part.
 *
 * A state has the same measure before and after continue-as-new (E2). So only what serialize.ts shares counts once: a
 * smaller value is repeated there, and a restored state has two of it. An output that is dropped there counts as what
 * is left of it.
 */

import { jsonBytes, recordBytes } from '../../json/bytes.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { Program } from '../../steps/program-types.ts';
import { liveReferences } from './live-references.ts';
import { SHARED_FROM_BYTES, SHARED_FROM_LENGTH, withDroppedOutput } from './serialize.ts';
import type { Entry, Envelope, Frame, LoopRecord, OpenVisit, RunState } from './state.ts';

/** Sizes of larger values are cached. */
const CACHED_FROM_BYTES = 1_000;
/** A reference in place of a shared value. */
const REFERENCE_BYTES = 24;
/** Members of the state that appear or grow without a charge: counts, and the last serialized sizes. */
export const UNCHARGED_BYTES = 200;
/** The envelope of a serialized state, with the names of its collections. */
const STATE_ENVELOPE_BYTES = 150 + UNCHARGED_BYTES;
/** Values from this size count as large (`Measured`). */
export const LARGE_BYTES = 16_000;

export interface Measured {
  readonly bytes: number;
  /** How many large values there are. */
  readonly large: number;
}

/** Values never change in place, so their sizes never change. */
const sizeCache = new WeakMap<object, number>();

export function valueBytes(value: Json | undefined): number {
  if (typeof value !== 'object' || value === null) return jsonBytes(value);
  const before = sizeCache.get(value);
  if (before !== undefined) return before;
  const bytes = jsonBytes(value);
  if (bytes >= CACHED_FROM_BYTES) sizeCache.set(value, bytes);
  return bytes;
}

export function measure(program: Program, state: RunState): Measured {
  return new StateMeasurer(program, state).done();
}

class StateMeasurer {
  readonly #seen = new Set<object | string>();
  #bytes = STATE_ENVELOPE_BYTES;
  #large = 0;

  constructor(program: Program, state: RunState) {
    const needed = liveReferences(program, state);
    const { genesis, frames, work, openCommands: open, variables, outputs, inbox, rollbackSteps, ...rest } = state;
    const { input, presets, ...genesisRest } = genesis;
    this.#record({ ...rest, state: null, genesis: { ...genesisRest, input: null, presets: null } });
    this.#value(input);
    this.#members(presets);
    this.#members(variables);
    this.#members(state.state);
    for (const [name, value] of Object.entries(outputs)) if (needed.output(name)) this.#member(name, value);
    for (const [id, frame] of Object.entries(frames)) {
      this.#add(2 * id.length);
      this.#frame(frame, (slug, { output }) => needed.entry(slug) || valueBytes(output.data) < SHARED_FROM_BYTES);
    }
    for (const one of work) this.#nestedRecord(one, 3);
    for (const [id, command] of Object.entries(open)) {
      this.#add(2 * id.length);
      this.#nestedRecord(command, 2);
    }
    for (const message of inbox) this.#nestedRecord(message, 1);
    for (const one of rollbackSteps) this.#nestedRecord(one, 3);
  }

  done(): Measured {
    return { bytes: this.#bytes, large: this.#large };
  }

  #frame(frame: Frame, isKept: (slug: string, entry: Entry) => boolean): void {
    const { entries, lastOutput, loops, lastLoop, visit, item, ...rest } = frame;
    this.#record(rest);
    this.#add(SHARED_FROM_BYTES);
    if (item !== undefined) this.#nestedRecord(item, 1);
    for (const [slug, entry] of Object.entries(entries)) {
      this.#add(2 * slug.length + jsonBytes(entry.stepType) + jsonBytes(entry.name) + 40);
      this.#envelope((isKept(slug, entry) ? entry : withDroppedOutput(entry)).output);
    }
    if (lastOutput !== null) this.#envelope(lastOutput);
    for (const loop of lastLoop === undefined ? loops : [...loops, lastLoop]) this.#visitOrLoop(loop);
    if (visit !== undefined) this.#visitOrLoop(visit);
  }

  #envelope(output: Envelope): void {
    if (this.#isRepeated(output)) return;
    this.#add(40 + jsonBytes(output.type));
    this.#value(output.data);
    this.#value(output.meta);
  }

  /** A visit or a loop. Step state changes in place, except for lists that come from values (`items`). */
  #visitOrLoop(holder: OpenVisit | LoopRecord): void {
    if (this.#isRepeated(holder)) return;
    const { state, ...rest } = holder;
    this.#record(rest);
    for (const [name, value] of Object.entries(state)) {
      this.#add(name.length + 6);
      if (name === 'items' || !Array.isArray(value)) this.#stepStateMember(name, value);
      else if (!this.#isRepeated(value)) {
        this.#add(2 + value.length);
        for (const member of value) this.#value(member);
      }
    }
  }

  /** A member of step state. Only `items` and `carry` are values that never change in place. */
  #stepStateMember(name: string, value: Json): void {
    if (name === 'items' || name === 'carry') this.#value(value);
    else this.#add(recordBytes(value));
  }

  /** A record whose values are `depth` levels below it. */
  #nestedRecord(part: unknown, depth: number): void {
    if (typeof part !== 'object' || part === null || depth === 0) {
      this.#value(part as Json);
      return;
    }
    this.#add(2);
    for (const [name, value] of Object.entries(part)) {
      this.#add(name.length + 6);
      this.#nestedRecord(value, depth - 1);
    }
  }

  #members(values: { readonly [name: string]: Json }): void {
    for (const [name, value] of Object.entries(values)) this.#member(name, value);
  }

  #member(name: string, value: Json): void {
    this.#add(jsonBytes(name) + 4);
    this.#value(value);
  }

  #value(value: Json | undefined): void {
    const isLong = typeof value === 'string' && value.length >= SHARED_FROM_LENGTH;
    if (!isLong && (typeof value !== 'object' || value === null)) {
      this.#add(jsonBytes(value));
      return;
    }
    if (!this.#isRepeated(value)) this.#add(valueBytes(value) + REFERENCE_BYTES);
  }

  /** Counts a reference where the value has been counted and serialize.ts shares it. Otherwise it counts in full. */
  #isRepeated(value: string | object): boolean {
    if (this.#seen.has(value) && isShared(value)) {
      this.#add(REFERENCE_BYTES);
      return true;
    }
    this.#seen.add(value);
    return false;
  }

  /** A part of the state that is small or changes in place. */
  #record(part: object): void {
    this.#add(recordBytes(part as JsonObject));
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    if (bytes >= LARGE_BYTES) this.#large++;
  }
}

/** Whether serialize.ts writes the value once where it is referenced twice. */
function isShared(value: string | object): boolean {
  if (typeof value === 'string') return true;
  let minBytes = 0;
  for (const member of Object.values(value)) {
    minBytes += valueBytes(member as Json);
    if (minBytes >= SHARED_FROM_BYTES) return true;
  }
  return recordBytes(value as JsonObject) >= SHARED_FROM_BYTES;
}
