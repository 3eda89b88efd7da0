/**
 * The events of a run under the names of agent-ops. Their data is the event's data with the run's id. A pending
 * approval is sent once.
 */

import type { Happening } from '../../../client/runs/event-stream.ts';
import type { StepNews } from '../../../client/runs/run-events.ts';
import { isObject } from '../../../json/json.ts';

export interface NamedEvent {
  readonly event: string;
  readonly data: object;
}

const STEP_EVENTS: { readonly [status in StepNews['status']]: string } = {
  running: 'step.started',
  completed: 'step.completed',
  skipped: 'step.completed',
  failed: 'step.failed',
  cancelled: 'step.cancelled',
};

/** The state of one stream. `fresh`: the stream begins with the run and does not resume an earlier stream. */
export function namesOf002(executionId: string, fresh: boolean): (happening: Happening) => NamedEvent[] {
  const asked = new Set<string>();
  let isFirst = fresh;
  let isWaiting = false;
  const told = (happening: Happening): NamedEvent[] => {
    const data = { executionId, ...happening.data };
    switch (happening.event) {
      case 'step':
        return [
          ...decided(happening.data).map((event) => ({ event, data })),
          { event: STEP_EVENTS[happening.data.status], data },
        ];
      case 'end':
        return [{ event: 'execution.finished', data }];
      case 'attempt':
      case 'unreadable':
        return [{ event: happening.event, data }];
      case 'status': {
        const { status, waitingFor } = happening.data;
        const approvals = waitingFor.filter(({ kind }) => kind === 'approval');
        const fresh = approvals.filter(({ path, since }) => !asked.has(`${path} ${since}`));
        for (const { path, since } of fresh) asked.add(`${path} ${since}`);
        const resumed = isWaiting && status === 'running';
        isWaiting = status === 'waiting';
        return [
          ...fresh.map((wait) => ({ event: 'approval.required', data: { executionId, ...wait } })),
          { event: resumed ? 'execution.resumed' : 'status', data },
        ];
      }
    }
  };
  return (happening) => {
    const begun = isFirst ? [{ event: 'execution.started', data: { executionId } }] : [];
    isFirst = false;
    return [...begun, ...told(happening)];
  };
}

/** The events of a decided approval, beside those of its step. */
function decided({ stepType, output }: StepNews): string[] {
  const data = isObject(output) ? output['data'] : undefined;
  if (stepType !== 'approval' || !isObject(data)) return [];
  if (data['decision'] === 'approved') return ['approval.approved'];
  return data['decision'] === 'rejected' ? ['approval.denied'] : [];
}
