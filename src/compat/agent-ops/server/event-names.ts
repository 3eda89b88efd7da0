/**
 * The events of a run under the names of agent-ops. Their data is the event's data with the run's id. A pending
 * approval is sent once.
 */

import { z } from 'zod';
import type { StreamEvent } from '../../../client/runs/event-stream.ts';
import type { VisitEvent } from '../../../client/runs/run-events.ts';
import { isObject } from '../../../json/json.ts';
import { DIALECT_NAMES } from '../../dialect-names.ts';

/** The parameter `names` of routes, which asks for the names of agent-ops. */
export const agentOpsNames = z.enum(['002', DIALECT_NAMES['002']]);

export interface NamedEvent {
  readonly event: string;
  readonly data: object;
}

const STEP_EVENTS: { readonly [status in VisitEvent['status']]: string } = {
  running: 'step.started',
  completed: 'step.completed',
  skipped: 'step.completed',
  failed: 'step.failed',
  cancelled: 'step.cancelled',
};

/** The state of one stream. `fresh`: the stream begins with the run and does not resume an earlier stream. */
export function agentOpsEventNames(executionId: string, fresh: boolean): (event: StreamEvent) => NamedEvent[] {
  const reported = new Set<string>();
  let isFirst = fresh;
  let isWaiting = false;
  const renameEvent = (streamEvent: StreamEvent): NamedEvent[] => {
    const data = { executionId, ...streamEvent.data };
    switch (streamEvent.event) {
      case 'step':
        return [
          ...decisionEvents(streamEvent.data).map((event) => ({ event, data })),
          { event: STEP_EVENTS[streamEvent.data.status], data },
        ];
      case 'end':
        return [{ event: 'execution.finished', data }];
      case 'attempt':
      case 'unreadable':
        return [{ event: streamEvent.event, data }];
      case 'status': {
        const { status, waitingFor } = streamEvent.data;
        const approvals = waitingFor.filter(({ kind }) => kind === 'approval');
        const unreported = approvals.filter(({ path, since }) => !reported.has(`${path} ${since}`));
        for (const { path, since } of unreported) reported.add(`${path} ${since}`);
        const resumed = isWaiting && status === 'running';
        isWaiting = status === 'waiting';
        return [
          ...unreported.map((wait) => ({ event: 'approval.required', data: { executionId, ...wait } })),
          { event: resumed ? 'execution.resumed' : 'status', data },
        ];
      }
    }
  };
  return (event) => {
    const begun = isFirst ? [{ event: 'execution.started', data: { executionId } }] : [];
    isFirst = false;
    return [...begun, ...renameEvent(event)];
  };
}

/** The events of a decided approval, beside those of its step. */
function decisionEvents({ stepType, output }: VisitEvent): string[] {
  const data = isObject(output) ? output['data'] : undefined;
  if (stepType !== 'approval' || !isObject(data)) return [];
  if (data['decision'] === 'approved') return ['approval.approved'];
  return data['decision'] === 'rejected' ? ['approval.denied'] : [];
}
