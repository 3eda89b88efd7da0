/**
 * The workflow `debounce.{org}.{trigger}.{hash of the key}` (ARCHITECTURE.md §4): the contract between src/client and
 * workflows/actors/debounce.ts. It holds the last payload of a key until no more payloads come. JSON only.
 */
import type { Json } from '../../json/json.ts';
import type { ActorStart } from '../actors.ts';
import type { RunOrigin, RunTrigger } from '../run/run.ts';

export const DEBOUNCE_WORKFLOW = 'debounce';
/** Signal: a HeldPayload, which replaces the previous one. */
export const HOLD_SIGNAL = 'hold';

export interface HeldPayload {
  readonly workflow: string;
  readonly input: Json;
  readonly state: { readonly [key: string]: string | number | boolean };
  readonly trigger: RunTrigger;
  readonly origin: RunOrigin;
  /** The sender, where it is known. */
  readonly initiator?: string;
  /** The person to whom the run counts (RunStart). */
  readonly owner?: string;
  /** When the run starts if no more payloads come, in epoch milliseconds by the sender's clock. */
  readonly due: number;
  /**
   * How long after its arrival the run starts if no more payloads come, by Temporal's clock. It takes precedence over
   * `due`.
   */
  readonly forMs?: number;
  /** The longest delay of a run's first payload, whatever arrives. */
  readonly mostMs?: number;
  /** The id of the request, where it may be repeated: payloads with one id are one payload, and start one run. */
  readonly id?: string;
}

export interface DebounceStart extends ActorStart {
  readonly carried?: {
    readonly held: HeldPayload;
    readonly name: string;
    readonly rounds: number;
    /** When the first held payload arrived: epoch milliseconds. */
    readonly since?: number;
    /** Ids of received payloads. */
    readonly known?: readonly string[];
  };
}

/**
 * The activity `fireDebounced` starts the run. If the run can never start, the trigger's record shows it, and the
 * payload is dropped.
 */
export interface FireDebounced {
  readonly organizationId: string;
  readonly held: HeldPayload;
  /** The key of the run where the payload has no id: one run for each key. */
  readonly key: string;
}

export interface DebounceActivities {
  fireDebounced(request: FireDebounced): Promise<{ readonly executionId: string | null }>;
}
