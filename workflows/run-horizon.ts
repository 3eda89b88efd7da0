/**
 * When a run continues as new (design.md §3): past the limit, after this execution's first task, and once it has heard
 * something from outside, so that no run goes round without getting on. At once if no activity is in flight, because
 * then everything that is open is in the state; else the frames go on, and only far past the limit nothing new begins
 * until what is in flight has ended. Everything it goes by is the same on replay (run-limit.ts for the limit).
 */
import { workflowInfo } from '@temporalio/workflow';
import { limitOf, MOST_BYTES, MOST_EVENTS, PATIENCE } from './run-limit.ts';

export class Horizon {
  readonly #firstLength = workflowInfo().historyLength;
  #heard = false;
  #closed = false;

  /** Something came from outside: a signal, an update, an activity's answer, a timer. */
  heard(): void {
    this.#heard = true;
  }

  /** The workflow was asked to cancel: what is left to do is done here, since the next execution would not be cancelled. */
  close(): void {
    this.#closed = true;
  }

  /** Whether what is about to begin has to wait for the next execution. */
  holds(): boolean {
    const { historyLength, historySize } = workflowInfo();
    return this.#open() && (historyLength >= Math.min(limit() * PATIENCE, MOST_EVENTS) || historySize >= MOST_BYTES);
  }

  /** Whether to continue as new now. `holding`: something was held, and nothing but this lets it begin. */
  reached(inFlight: number, holding: boolean): boolean {
    if (inFlight > 0 || !this.#open()) return false;
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return holding || historyLength >= limit() || continueAsNewSuggested;
  }

  #open(): boolean {
    return !this.#closed && this.#heard && workflowInfo().historyLength > this.#firstLength;
  }
}

function limit(): number {
  return limitOf(workflowInfo().currentDeploymentVersion?.buildId);
}
