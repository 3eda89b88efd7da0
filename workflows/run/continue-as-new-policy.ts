/**
 * When a run continues as new (ARCHITECTURE.md §3): past the limit, after this execution's first task, and once it has heard
 * something from outside, so that no run goes round without getting on. At once if no activity is in flight, because
 * then everything that is open is in the state; else the frames go on, and only far past the limit nothing new begins
 * until what is in flight has ended.
 *
 * Everything it goes by is the same on replay (run-limit.ts for the limit). A task that brought nothing but refused
 * updates leaves no trace in history, and a replay never activates the workflow for it: what is decided there cannot be
 * decided again. So a run continues as new only in a task that brought something which history has.
 */
import { workflowInfo } from '@temporalio/workflow';
import { historyLimitOf } from '../../src/contract/build-id.ts';
import { MOST_BYTES, MOST_EVENTS, PATIENCE } from './run-limit.ts';

export class ContinueAsNewPolicy {
  readonly #firstLength = workflowInfo().historyLength;
  #heard = false;
  /** The history's length in the last task that brought something, which no other task has. */
  #lastTask: number | undefined;
  #closed = false;

  /** Something came from outside that history has: a signal, an accepted update, an activity's answer, a timer. */
  heard(): void {
    this.#heard = true;
    this.came();
  }

  /** Something that history has came, be it only the end of a yield. */
  came(): void {
    this.#lastTask = workflowInfo().historyLength;
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
    if (this.#lastTask !== historyLength) return false;
    return holding || historyLength >= limit() || continueAsNewSuggested;
  }

  #open(): boolean {
    return !this.#closed && this.#heard && workflowInfo().historyLength > this.#firstLength;
  }
}

function limit(): number {
  return historyLimitOf(workflowInfo().currentDeploymentVersion?.buildId);
}
