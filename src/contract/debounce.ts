/**
 * The workflow `debounce.{org}.{trigger}.{hash of the key}` (ARCHITECTURE.md §4): the contract between src/client and
 * workflows/actors/debounce.ts. It holds the last payload of a key until no more payloads come. JSON only.
 */
import type { Json } from '../json/json.ts';
import type { RunOrigin, RunTrigger } from './run.ts';

export const DEBOUNCE_WORKFLOW = 'debounce';
/** Signal: a HeldPayload, which takes the place of the one before. */
export const HOLD_SIGNAL = 'hold';

export interface HeldPayload {
  readonly workflow: string;
  readonly input: Json;
  readonly state: { readonly [key: string]: string | number | boolean };
  readonly trigger: RunTrigger;
  readonly origin: RunOrigin;
  /** Who sent it, where that is known. */
  readonly initiator?: string;
  /** Whose run it will be (RunStart). */
  readonly owner?: string;
  /** When the run starts if no more payloads come, in epoch milliseconds by the sender's clock. */
  readonly due: number;
  /**
   * How long after its arrival the run starts if no more payloads come, by Temporal's clock. It takes precedence over
   * `due`.
   */
  readonly forMs?: number;
  /** How long the first payload of a run may be put off, whatever comes. */
  readonly mostMs?: number;
  /** Of the request that brought it, where that may be sent again: payloads of one id are one, and make one run. */
  readonly id?: string;
}

export interface DebounceStart {
  readonly organizationId: string;
  /** Events after which it continues as new. */
  readonly historyLimit: number;
  readonly carried?: {
    readonly held: HeldPayload;
    readonly name: string;
    readonly rounds: number;
    /** When the first payload came that waits for a run: epoch milliseconds. */
    readonly since?: number;
    /** Ids of payloads that have come. */
    readonly known?: readonly string[];
  };
}

/** The activity `fireDebounced`: starts the run. What can never start is told to the trigger, and is done with. */
export interface FireDebounced {
  readonly organizationId: string;
  readonly held: HeldPayload;
  /** One run for each, where the payload has no id of its own. */
  readonly key: string;
}

export interface DebounceActivities {
  fireDebounced(request: FireDebounced): Promise<{ readonly executionId: string | null }>;
}
