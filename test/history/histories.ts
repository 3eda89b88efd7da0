/** Histories written by hand, for tests that name one situation. Times are milliseconds since the run began. */
import type { Definition } from '../../src/definition/document/types.ts';
import type { FoldedRun } from '../../src/history/chain.ts';
import type { HistoryEvent } from '../../src/history/events.ts';
import { Fold } from '../../src/history/fold.ts';
import type { PendingAttempt, RunTrace } from '../../src/history/run-trace.ts';
import type { RowWindow } from '../../src/history/trace-rows.ts';

type Written = HistoryEvent extends infer E ? (E extends HistoryEvent ? Omit<E, 'id' | 'time'> : never) : never;

/** Numbers the events; each takes place at the given time. */
export function history(...events: readonly (readonly [time: number, event: Written])[]): HistoryEvent[] {
  return events.map(([time, event], n) => ({ ...event, id: n + 1, time }) as HistoryEvent);
}

export const scheduled = { type: 'taskScheduled', sticky: true } as const;
export const taken = { type: 'taskStarted' } as const;
export const done = { type: 'taskCompleted' } as const;

export function startedEvent(definition: Definition, input: unknown = {}): Written {
  return { type: 'workflowStarted', argument: { definition, input } };
}

export function fold(
  events: readonly HistoryEvent[],
  options: { window?: RowWindow; pending?: PendingAttempt[]; runId?: string } = {},
): RunTrace & FoldedRun {
  const folding = new Fold('run.default.model.1', options.window);
  for (const event of events) folding.push(event);
  return { runId: options.runId ?? 'run', ...folding.finish(options.pending) };
}

/** trigger → the step named `it` → finish with its data. */
export function definitionAround(it: Definition['steps'][string], ports: readonly string[] = ['success']): Definition {
  return {
    name: 'Around',
    slug: 'around',
    steps: {
      start: { stepType: 'trigger', nextSteps: { success: 'it' } },
      it: { ...it, nextSteps: Object.fromEntries(ports.map((port) => [port, 'end'])) },
      end: { stepType: 'finish', config: { output: '{{ steps.it.output.data }}' } },
    },
  };
}
