/**
 * The visits, and the asks within them, that took the requests without a target (`approve {}`: the only open one that
 * could), and the visits that listened for a message. A second walk of the history can have other visits open, and must
 * give requests and messages to the same visits.
 */
import type { Refusal } from '../contract/run/run.ts';
import type { Event } from '../engine/state/protocol.ts';
import type { RunState } from '../engine/state/state.ts';
import { type AddressedEvent, findTarget, pathOf } from '../engine/walk/address.ts';
import { listenersOf } from '../engine/walk/delivery.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import type { Program } from '../steps/program-types.ts';

const ADDRESSED: ReadonlySet<string> = new Set(['decide', 'submit', 'cancelStep', 'retryStep', 'skipTimer']);

const isAddressed = (event: Event): event is AddressedEvent => ADDRESSED.has(event.type);

export class RequestTargets {
  /** Place in history → the path of the visit or the ask that took the request. */
  readonly #paths = new Map<string, string>();
  readonly #listeners = new Map<string, readonly string[]>();

  note(program: Program, state: RunState, event: Event, place: string): void {
    if (event.type === 'message') {
      const listeners = listenersOf(state, event);
      if (listeners.length > 0) this.#listeners.set(place, listeners);
    }
    if (!isAddressed(event)) return;
    const found = findTarget({ program, state, commands: [], trace: undefined }, event);
    if (!isRefusal(found)) this.#paths.set(place, pathOf(found));
  }

  /** The event with that path; undefined if no visit took it. Other events stay as they are. */
  withTarget(event: Event, place: string): Event | undefined {
    if (event.type === 'message') return { ...event, ...omitUndefined({ only: this.#listeners.get(place) }) };
    if (!isAddressed(event)) return event;
    const step = this.#paths.get(place);
    return step === undefined ? undefined : { ...event, step };
  }
}

const isRefusal = (found: ReturnType<typeof findTarget>): found is Refusal => 'code' in found;
