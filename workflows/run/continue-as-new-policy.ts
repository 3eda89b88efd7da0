/**
 * When a run continues as new (ARCHITECTURE.md §3): when its history is past the limit, but not in the first task of an
 * execution nor before something came from outside, so that every execution makes progress. If no activity is in
 * flight, it continues immediately, because the state contains everything that is open. Otherwise the frames continue;
 * far past the limit nothing new begins until the activities in flight have ended.
 *
 * The decision depends only on values that are the same on replay (workers/workflow-options.ts for the limit). A task
 * that brought only refused updates leaves no trace in history, and a replay does not activate the workflow for it. So
 * a run continues as new only in a task that brought an event of history.
 */
import { workflowInfo } from '@temporalio/workflow';
import { historyLimitOf } from '../../src/contract/build-id.ts';

/** With activities always in flight, nothing new begins at this multiple of the limit. */
const HOLD_FACTOR = 10;
/** But never later than here: the server terminates a run at 51,200 events. */
const MAX_EVENTS = 40_000;
/** The same for bytes: the server terminates a run at 50 MB. */
const MAX_HISTORY_BYTES = 25_000_000;

export class ContinueAsNewPolicy {
  readonly #firstLength = workflowInfo().historyLength;
  #hasOutsideEvent = false;
  /** The history's length in the last task that brought an event of history. No other task has this length. */
  #lastTask: number | undefined;
  #isDisabled = false;

  /** An event of history came from outside: a signal, an accepted update, an activity's result, a timer. */
  noteOutsideEvent(): void {
    this.#hasOutsideEvent = true;
    this.noteEvent();
  }

  /** An event of history came, possibly only the end of a yield. */
  noteEvent(): void {
    this.#lastTask = workflowInfo().historyLength;
  }

  /** The workflow was asked to cancel. It ends in this execution, since Temporal would not cancel the next one. */
  disable(): void {
    this.#isDisabled = true;
  }

  /** Whether new commands have to wait for the next execution. */
  holdsCommands(): boolean {
    const { historyLength, historySize } = workflowInfo();
    return (
      this.#isAllowed() &&
      (historyLength >= Math.min(historyLimit() * HOLD_FACTOR, MAX_EVENTS) || historySize >= MAX_HISTORY_BYTES)
    );
  }

  /** Whether to continue as new now. `holding`: commands were held back, and only the next execution can send them. */
  shouldContinueAsNew(inFlight: number, holding: boolean): boolean {
    if (inFlight > 0 || !this.#isAllowed()) return false;
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (this.#lastTask !== historyLength) return false;
    return holding || historyLength >= historyLimit() || continueAsNewSuggested;
  }

  #isAllowed(): boolean {
    return !this.#isDisabled && this.#hasOutsideEvent && workflowInfo().historyLength > this.#firstLength;
  }
}

function historyLimit(): number {
  return historyLimitOf(workflowInfo().currentDeploymentVersion?.buildId);
}
