/** Texts for what runs do. */
import type { Execution, Wait } from './types.ts';

const WAIT_TEXTS: { readonly [kind in Wait['kind']]: string } = {
  approval: 'a decision',
  input: 'an input',
  message: 'a message',
  callback: 'a callback',
  timer: 'a timer',
  child: 'another run',
  slot: 'a free slot',
  retry: 'the next attempt',
  unpause: 'the end of a pause',
  store: 'the store of large data',
  worker: 'a worker',
};

/** The text of a wait: `a decision`. Unknown kinds, of newer gateways, stay unchanged. */
export const waitText = (kind: string): string => (WAIT_TEXTS as { readonly [kind: string]: string })[kind] ?? kind;

/** The kinds that lists can be filtered by. */
export const WAIT_KINDS = ['approval', 'input', 'message', 'callback', 'timer', 'child', 'slot'] as const;

const OPEN_STATUSES: ReadonlySet<string> = new Set(['pending', 'running', 'waiting', 'rolling_back']);

export const isOpen = ({ status }: Pick<Execution, 'status'>): boolean => OPEN_STATUSES.has(status);

/** Whether the run failed or was terminated, so that it can be retried. */
export const isRetryable = ({ status }: Pick<Execution, 'status'>): boolean =>
  status === 'failed' || status === 'aborted';

/** The end of a run's id, by which people tell runs apart. */
export const shortId = (id: string): string => (id.length <= 8 ? id : `…${id.slice(-8)}`);

/** Who or what started the run. */
export const startedBy = ({ initiator, trigger }: Pick<Execution, 'initiator' | 'trigger'>): string =>
  initiator ?? trigger.type;

/** The name of the run's workflow, or its slug. */
export const workflowLabel = ({ workflowName, workflowId }: Pick<Execution, 'workflowName' | 'workflowId'>): string =>
  workflowName ?? (workflowId === '' ? 'Inline run' : workflowId);
