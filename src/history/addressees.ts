/**
 * For whom requests were that named nobody (`approve {}`): whoever alone fitted when they came. Where a history is walked
 * once more with other visits open, they are for the same ones still.
 */
import type { Refusal } from '../contract/run.ts';
import type { Event } from '../engine/state/protocol.ts';
import type { RunState } from '../engine/state/state.ts';
import { type AddressedEvent, findTarget } from '../engine/walk/address.ts';
import type { Program } from '../steps/program-types.ts';

const ADDRESSED: ReadonlySet<string> = new Set(['decide', 'submit', 'cancelStep', 'retryStep', 'skipTimer']);

const isAddressed = (event: Event): event is AddressedEvent => ADDRESSED.has(event.type);

export class Addressees {
  /** Place → the path of the visit, where one took it. */
  readonly #paths = new Map<string, string>();

  note(program: Program, state: RunState, event: Event, place: string): void {
    if (!isAddressed(event)) return;
    const found = findTarget({ program, state, commands: [], trace: undefined }, event);
    if (!isRefusal(found)) this.#paths.set(place, found.visit.path);
  }

  /** The event with its visit's path; undefined where nobody took it. Other events are as they are. */
  named(event: Event, place: string): Event | undefined {
    if (!isAddressed(event)) return event;
    const step = this.#paths.get(place);
    return step === undefined ? undefined : { ...event, step };
  }
}

const isRefusal = (found: ReturnType<typeof findTarget>): found is Refusal => 'code' in found;
