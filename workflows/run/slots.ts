/** Asks the limiters for a run's slots, and gives the slots back (src/engine/inbound/admission.ts). */
import {
  CancellationScope,
  getExternalWorkflowHandle,
  log,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { GateActivities, GateWanted, ReleaseSlot, SlotAnswers } from '../../src/contract/limiter.ts';
import { SLOTS, SLOTS_CLOCK } from '../../src/engine/inbound/admission.ts';
import { askingOptions, type Receiver } from './activities-and-timers.ts';
import { isWorkflowGone } from './failures.ts';

/** A run that waits asks again after this pause: its limiter may have been terminated. */
const ASK_AGAIN_MS = 600_000;

export interface SlotsOptions {
  readonly execution: { readonly id: string; readonly organizationId: string };
  /** Takes what has happened. Must not throw. */
  readonly receive: Receiver;
  /** Limiters whose slots the run does not have yet. */
  readonly wanted: () => readonly GateWanted[];
}

export class Slots {
  readonly #options: SlotsOptions;
  readonly #shield = new CancellationScope({ cancellable: false });
  #asking: CancellationScope | undefined;
  #clockRuns = false;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** Questions in flight, which cannot be carried to the next execution. */
  get underway(): number {
    return this.#asking === undefined ? 0 : 1;
  }

  /** Asks, unless a question is in flight. The core sees from the answers which limiters are still to be asked. */
  ask(gates: readonly GateWanted[]): void {
    if (this.#asking !== undefined || gates.length === 0) return;
    const asking = new CancellationScope({ cancellable: true, parent: this.#shield });
    this.#asking = asking;
    const answered = (answers?: SlotAnswers): void => {
      this.#asking = undefined;
      this.#options.receive({ type: 'completed', at: Date.now(), id: SLOTS, result: answers });
      this.#watch();
    };
    const running = asking.run(async () => {
      this.#call(gates).then(answered, () => answered());
    });
    running.catch(() => answered());
  }

  /** The run ends and no longer waits for an answer. */
  stop(): void {
    this.#asking?.cancel();
  }

  #call(gates: readonly GateWanted[]): Promise<SlotAnswers> {
    const { execution } = this.#options;
    const { takeSlots } = proxyActivities<GateActivities>(askingOptions(SLOTS));
    const startedAt = workflowInfo().startTime.getTime();
    return takeSlots({ organizationId: execution.organizationId, run: execution.id, startedAt, gates });
  }

  #watch(): void {
    if (this.#clockRuns || this.#options.wanted().length === 0) return;
    this.#clockRuns = true;
    const rang = (): void => {
      this.#clockRuns = false;
      this.ask(this.#options.wanted());
    };
    this.#shield.run(() => sleep(ASK_AGAIN_MS, { summary: SLOTS_CLOCK })).then(rang, () => undefined);
  }
}

/**
 * Tells the limiters that the run is about to end. A limiter that cannot be reached asks Temporal later. Never fails.
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
