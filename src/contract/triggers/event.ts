/**
 * Events (LANGUAGE.md §10): the workflow `event.{org}.{hash of its id}` brings one event to its triggers and listening
 * runs. The contract between src/client, workflows/jobs/event.ts and src/client/triggers/event-fanout.ts. JSON only.
 */
import type { Json } from '../../json/json.ts';

export const EVENT_WORKFLOW = 'event';
/** Update without an argument: waits for the first round, and answers its EventReceivers. */
export const FANOUT_UPDATE = 'spread';

export interface PublishedEvent {
  readonly name: string;
  /** Runs that listen with a key receive only events with that key. */
  readonly key?: string;
  readonly data: Json;
  /** Two events with one id are one event. */
  readonly id: string;
  /** When it was published: ISO 8601. */
  readonly at: string;
  /** The person or program that published it: the initiator of the runs that it starts. */
  readonly by?: string;
}

export interface EventStart {
  readonly organizationId: string;
  readonly event: PublishedEvent;
}

/** The receivers of an event so far. */
export interface EventReceivers {
  /** Runs that it has started. */
  readonly executions: readonly string[];
  /** Runs that listened and got the event. */
  readonly told: readonly string[];
  /** The triggers that received it, also those that refused it. */
  readonly triggers: readonly string[];
}

/** One round of an event. The deliveries in `before` are not repeated. */
interface EventRound extends EventStart {
  readonly before?: EventReceivers;
}

/**
 * The activity `spreadEvent` answers the receivers of all rounds together. It continues where the previous attempt
 * ended.
 */
export interface EventActivities {
  spreadEvent(round: EventRound): Promise<EventReceivers>;
}
