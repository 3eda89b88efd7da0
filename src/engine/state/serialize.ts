/**
 * The state as continue-as-new carries it (E2). In the state, values are shared by reference: an item with its list,
 * `lastOutput` with its step's entry. Plain JSON would repeat them, so shared values are written to a table once, and
 * shared again when the state is restored.
 */

import { jsonBytes, recordBytes } from '../../json/bytes.ts';
import { asJson, isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import type { Program } from '../../steps/program-types.ts';
import { countCommands } from './command-backlog.ts';
import { liveReferences } from './live-references.ts';
import { type Entry, type Frame, type RunState, STATE_VERSION } from './state.ts';

/** Smaller values are repeated, since a reference would not save space. */
export const SHARED_FROM_BYTES = 64;
/** The same for texts, in characters. Comparing shorter texts costs more than it saves. */
export const SHARED_FROM_LENGTH = 1_000;
const REFERENCE = '$shared';
/** Marks the output of a step that no reachable step reads. */
const DROPPED_OUTPUT_META = { leftBehind: true };

/** The state as JSON without repeats: `{state, shared}`; `{"$shared": n}` stands for the n-th shared value. */
export function serialize(program: Program, full: RunState): Json {
  const state = withoutUnneeded(program, full);
  const referenceCounts = new Map<object | string, number>();
  countShared(asJson(state), referenceCounts);
  const sharedIndices = new Map<object | string, number>();
  const shared: Json[] = [];
  const write = (value: Json): Json => {
    if (isLongText(value)) {
      if ((referenceCounts.get(value) ?? 0) < 2) return value;
      if (!sharedIndices.has(value)) sharedIndices.set(value, shared.push(value) - 1);
      return { [REFERENCE]: sharedIndices.get(value)! };
    }
    if (value === null || typeof value !== 'object') return value;
    const known = sharedIndices.get(value);
    if (known !== undefined) return { [REFERENCE]: known };
    if (isReference(value) || ((referenceCounts.get(value) ?? 0) > 1 && recordBytes(value) >= SHARED_FROM_BYTES)) {
      const index = shared.length;
      sharedIndices.set(value, index);
      shared.push(null);
      shared[index] = copy(value, write);
      return { [REFERENCE]: index };
    }
    return copy(value, write);
  };
  const written = copy(asJson(state), write);
  return { version: STATE_VERSION, state: written, shared };
}

/** §12: outputs that no reachable step reads are dropped. The entry stays, since it shows that the step has run. */
function withoutUnneeded(program: Program, state: RunState): RunState {
  const needed = liveReferences(program, state);
  const withReadEntries = (frame: Frame): Frame => {
    const entries: Frame['entries'] = {};
    for (const [slug, entry] of Object.entries(frame.entries)) {
      const isKept = needed.entry(slug) || jsonBytes(entry.output.data) < SHARED_FROM_BYTES;
      entries[slug] = isKept ? entry : withDroppedOutput(entry);
    }
    return { ...frame, entries };
  };
  return {
    ...state,
    frames: Object.fromEntries(Object.entries(state.frames).map(([id, frame]) => [id, withReadEntries(frame)])),
    outputs: Object.fromEntries(Object.entries(state.outputs).filter(([name]) => needed.output(name))),
  };
}

/** What is left of an entry whose output is dropped: one record for each entry, shared where the entry is. */
export function withDroppedOutput(entry: Entry): Entry {
  let dropped = droppedOutputCache.get(entry);
  if (dropped === undefined) {
    dropped = { ...entry, output: { type: entry.output.type, data: null, meta: DROPPED_OUTPUT_META } };
    droppedOutputCache.set(entry, dropped);
  }
  return dropped;
}

const droppedOutputCache = new WeakMap<Entry, Entry>();

/** The inverse of serialize. @throws Error for a state of another version. */
export function restore(carried: Json): RunState {
  if (!isObject(carried)) throw new Error('What was carried is no state of a run.');
  const { version, state, shared } = carried;
  if (version !== STATE_VERSION || !Array.isArray(shared) || state === undefined)
    throw new Error(
      `This interpreter reads states of version ${STATE_VERSION}; this one has ${JSON.stringify(version)}.`,
    );
  const restoredValues = new Map<number, Json>();
  const read = (value: Json): Json => {
    if (value === null || typeof value !== 'object') return value;
    if (!isReference(value)) return copy(value, read);
    const index = value[REFERENCE] as number;
    const sharedValue = shared[index]!;
    if (typeof sharedValue === 'string') return sharedValue;
    if (!restoredValues.has(index)) restoredValues.set(index, copy(sharedValue as JsonObject, read));
    return restoredValues.get(index)!;
  };
  const restored = read(state) as unknown as RunState;
  restored.openActivities = Object.values(restored.openCommands).filter(({ type }) => type === 'run').length;
  restored.commandCounts = countCommands(restored);
  return restored;
}

/** The used part of the limit, by the current estimate. */
export function carriedBytes(program: Program, state: RunState): number {
  return definitionBytes(program) + state.bytes;
}

const definitionSizes = new WeakMap<Program, number>();

/** Bytes of the definition in a run's start argument. */
export function definitionBytes(program: Program): number {
  let bytes = definitionSizes.get(program);
  if (bytes === undefined) {
    bytes = jsonBytes(asJson(program.definition));
    definitionSizes.set(program, bytes);
  }
  return bytes;
}

function countShared(value: Json, referenceCounts: Map<object | string, number>): void {
  if (value === null || (typeof value !== 'object' && !isLongText(value))) return;
  const seen = referenceCounts.get(value) ?? 0;
  referenceCounts.set(value, seen + 1);
  if (seen > 0 || typeof value === 'string') return;
  for (const member of Array.isArray(value) ? value : Object.values(value)) countShared(member, referenceCounts);
}

const isLongText = (value: Json): value is string => typeof value === 'string' && value.length >= SHARED_FROM_LENGTH;

/** Whether the value has the form of a reference. Data of that form goes to the table, where it is read as data. */
function isReference(value: Json & object): value is JsonObject {
  return !Array.isArray(value) && Object.hasOwn(value, REFERENCE) && Object.keys(value).length === 1;
}

function copy(value: Json & object, map: (member: Json) => Json): Json {
  if (Array.isArray(value)) return value.map((member) => map(member));
  const mapped: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) setOwn(mapped, key, map(member));
  }
  return mapped;
}
