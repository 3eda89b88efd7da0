/** How a run asks its gates for slots (src/engine/inbound/admission.ts), and how it gives them back. */
import {
  CancellationScope,
  getExternalWorkflowHandle,
  log,
  proxyActivities,
  type RetryPolicy,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { GateActivities, GateWanted, ReleaseSlot, SlotAnswers } from '../../src/contract/limiter.ts';
import { SLOTS, SLOTS_CLOCK, slotEvents } from '../../src/engine/inbound/admission.ts';
import type { Event } from '../../src/engine/state/protocol.ts';
import { isGone } from './run-report.ts';

/** How often a run that waits asks again: the gate that it waits at may have been terminated. */
const ASK_AGAIN_MS = 600_000;
const ATTEMPT_MS = 30_000;
/** It asks until it is answered. */
const RETRY: RetryPolicy = { initialInterval: 500, backoffCoefficient: 2, maximumInterval: 30_000 };

export interface SlotsOptions {
  readonly execution: { readonly id: string; readonly organizationId: string };
  /** Takes an event. Must not throw. */
  readonly receive: (event: Event) => void;
  /** Gates that the run has yet to pass. */
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

  /** What cannot be carried to the next execution. */
  get underway(): number {
    return this.#asking === undefined ? 0 : 1;
  }

  /** Asks, unless it is asking: from what is answered the core sees what is still to be asked. */
  ask(gates: readonly GateWanted[]): void {
    if (this.#asking !== undefined || gates.length === 0) return;
    const asking = new CancellationScope({ cancellable: true, parent: this.#shield });
    this.#asking = asking;
    const answered = (answers?: SlotAnswers): void => {
      this.#asking = undefined;
      for (const event of slotEvents(answers, Date.now())) this.#options.receive(event);
      this.#watch();
    };
    const running = asking.run(async () => {
      this.#call(gates).then(answered, () => answered());
    });
    running.catch(() => answered());
  }

  /** The run ends: an answer is no longer awaited. */
  stop(): void {
    this.#asking?.cancel();
  }

  #call(gates: readonly GateWanted[]): Promise<SlotAnswers> {
    const { execution } = this.#options;
    const { takeSlots } = proxyActivities<GateActivities>({
      activityId: SLOTS,
      summary: SLOTS,
      startToCloseTimeout: ATTEMPT_MS,
      retry: RETRY,
      cancellationType: 'TRY_CANCEL',
    });
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

/** Says to the gates that the run is about to end. One that does not hear it finds out by itself. Never fails. */
export async function releaseSlots(run: string, gates: readonly string[]): Promise<void> {
  const payload: ReleaseSlot = { run };
  const release = async (gate: string): Promise<void> => {
    try {
      await getExternalWorkflowHandle(gate).signal<[ReleaseSlot]>('release', payload);
    } catch (error) {
      if (!isGone(error)) log.warn('A gate could not be told.', { gate, error: String(error) });
    }
  };
  await Promise.all(gates.map(release));
}
