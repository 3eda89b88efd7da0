/** Asks the limiters for a run's slots, and gives the slots back (src/engine/inbound/admission.ts). */
import {
  CancellationScope,
  getExternalWorkflowHandle,
  log,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { AppliedLimit, LimiterActivities, ReleaseSlot, SlotAnswers } from '../../src/contract/limits/limiter.ts';
import { SLOTS_ACTIVITY_ID, SLOTS_TIMER_ID } from '../../src/engine/inbound/admission.ts';
import { lookupOptions, type Receiver } from './activities-and-timers.ts';
import { isWorkflowGone } from './failures.ts';

/** A run that waits asks again after this pause: its limiter may have been terminated. */
const REQUEST_AGAIN_MS = 600_000;

interface SlotsOptions {
  readonly execution: { readonly id: string; readonly organizationId: string };
  /** Takes what has happened. Must not throw. */
  readonly receive: Receiver;
  /** Limiters whose slots the run does not have yet. */
  readonly wanted: () => readonly AppliedLimit[];
}

export class Slots {
  readonly #options: SlotsOptions;
  readonly #shield = new CancellationScope({ cancellable: false });
  #request: CancellationScope | undefined;
  #isTimerRunning = false;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** Questions in flight, which cannot be carried to the next execution. */
  get inFlight(): number {
    return this.#request === undefined ? 0 : 1;
  }

  /** Asks, unless a request is in flight. The core sees from the answers which limiters are still to be asked. */
  requestSlots(limiters: readonly AppliedLimit[]): void {
    if (this.#request !== undefined || limiters.length === 0) return;
    const scope = new CancellationScope({ cancellable: true, parent: this.#shield });
    this.#request = scope;
    const answered = (answers?: SlotAnswers): void => {
      this.#request = undefined;
      this.#options.receive({ type: 'completed', at: Date.now(), id: SLOTS_ACTIVITY_ID, result: answers });
      this.#startTimer();
    };
    const running = scope.run(async () => {
      this.#call(limiters).then(answered, () => answered());
    });
    running.catch(() => answered());
  }

  /** The run ends and no longer waits for an answer. */
  stop(): void {
    this.#request?.cancel();
  }

  #call(gates: readonly AppliedLimit[]): Promise<SlotAnswers> {
    const { execution } = this.#options;
    const { takeSlots } = proxyActivities<LimiterActivities>(lookupOptions(SLOTS_ACTIVITY_ID));
    const startedAt = workflowInfo().startTime.getTime();
    return takeSlots({ organizationId: execution.organizationId, run: execution.id, startedAt, gates });
  }

  #startTimer(): void {
    if (this.#isTimerRunning || this.#options.wanted().length === 0) return;
    this.#isTimerRunning = true;
    const timerFired = (): void => {
      this.#isTimerRunning = false;
      this.requestSlots(this.#options.wanted());
    };
    this.#shield.run(() => sleep(REQUEST_AGAIN_MS, { summary: SLOTS_TIMER_ID })).then(timerFired, () => undefined);
  }
}

/**
 * Notifies the limiters that the run is about to end. A limiter that cannot be reached asks Temporal later. Never
 * fails.
 */
export async function releaseSlots(run: string, gates: readonly string[]): Promise<void> {
  const payload: ReleaseSlot = { run };
  const release = async (gate: string): Promise<void> => {
    try {
      await getExternalWorkflowHandle(gate).signal<[ReleaseSlot]>('release', payload);
    } catch (error) {
      if (!isWorkflowGone(error)) log.warn('A limiter could not be reached.', { gate, error: String(error) });
    }
  };
  await Promise.all(gates.map(release));
}
