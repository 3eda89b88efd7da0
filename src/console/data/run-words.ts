/** What runs do, in words. */
import type { Execution, Wait } from './types.ts';

const KINDS: { readonly [kind in Wait['kind']]: string } = {
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

/** What is awaited: `a decision`. Kinds of later gateways stay as they are. */
export const awaited = (kind: string): string => (KINDS as { readonly [kind: string]: string })[kind] ?? kind;

/** The kinds that lists can be filtered by. */
export const WAIT_KINDS = ['approval', 'input', 'message', 'callback', 'timer', 'child', 'slot'] as const;

const OPEN: ReadonlySet<string> = new Set(['pending', 'running', 'waiting', 'rolling_back']);

export const isOpen = ({ status }: Pick<Execution, 'status'>): boolean => OPEN.has(status);

/** Whether it failed or was terminated, so that it may go on from there. */
export const isRetryable = ({ status }: Pick<Execution, 'status'>): boolean =>
  status === 'failed' || status === 'aborted';

/** The end of a run's id, by which people tell runs apart. */
export const shortId = (id: string): string => (id.length <= 8 ? id : `…${id.slice(-8)}`);

/** Who or what began the run. */
export const beganBy = ({ initiator, trigger }: Pick<Execution, 'initiator' | 'trigger'>): string =>
  initiator ?? trigger.type;

/** The name of the run's workflow, or its slug. */
export const workflowOf = ({ workflowName, workflowId }: Pick<Execution, 'workflowName' | 'workflowId'>): string =>
  workflowName ?? (workflowId === '' ? 'Inline run' : workflowId);
