/**
 * The workflow `debounce`: holds the last payload of a key. It starts one run with that payload when no
 * other has come for the time that the definition says, or at the latest when the first one has waited for its maximum.
 * Payloads that come while the run is being started are held for the next run. The workflow ends when it holds nothing.
 */
import {
  type DebounceStart,
  type FireDebounced,
  type HeldPayload,
  HOLD_SIGNAL,
} from '../../src/contract/triggers/debounce.ts';
import type { Actor, SignalOperation } from './actor.ts';

/** A payload that is sent again comes soon after the first time. */
const MAX_KNOWN_IDS = 1_000;

interface Debounce {
  readonly organizationId: string;
  readonly held: HeldPayload | undefined;
  /** Names the keys of the runs, together with `rounds`. */
  readonly name: string;
  /** Runs that were started. */
  readonly rounds: number;
  /** When the first of the payloads came that wait for a run. */
  readonly since: number;
  /** Ids of payloads that have come, oldest first. */
  readonly known: ReadonlySet<string>;
}

/** A payload that is sent again must not replace a later one. */
const hold: SignalOperation<Debounce> = (state, sent, now) => {
  const payload = sent as HeldPayload;
  const { id, forMs } = payload;
  if (id !== undefined && state.known.has(id)) return { state };
  return {
    state: {
      ...state,
      held: forMs === undefined ? payload : { ...payload, due: now + forMs },
      since: state.held === undefined ? now : state.since,
      known: id === undefined ? state.known : new Set([...state.known, id].slice(-MAX_KNOWN_IDS)),
    },
  };
};

const dueAt = ({ due, mostMs }: HeldPayload, since: number): number =>
  Math.min(due, since + (mostMs ?? Number.POSITIVE_INFINITY));

export const debounceActor: Actor<DebounceStart, Debounce> = {
  begin: ({ organizationId, carried }, { now, runId }) => ({
    organizationId,
    held: carried?.held,
    name: carried?.name ?? runId,
    rounds: carried?.rounds ?? 0,
    since: carried?.since ?? now,
    known: new Set(carried?.known),
  }),
  carry: ({ held, name, rounds, since, known }) => ({ held, name, rounds, since, known: [...known] }),
  signals: { [HOLD_SIGNAL]: hold },
  next: ({ held, since, rounds }, now) => {
    if (held === undefined) return rounds === 0 ? 'wait' : 'end';
    const at = dueAt(held, since);
    return now < at ? { at } : 'act';
  },
  act: (state, now) => {
    const { organizationId, held, name, since } = state;
    if (held === undefined || now < dueAt(held, since)) return { state };
    const rounds = state.rounds + 1;
    const argument: FireDebounced = { organizationId, held, key: `${name} ${rounds}` };
    return {
      state: { ...state, held: undefined, rounds },
      call: { activity: 'fireDebounced', argument, done: (after) => ({ state: after }) },
    };
  },
};
