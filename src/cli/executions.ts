/** Executions over the gateway: starting, following and reading them. */

import { pagesOf } from '../client/visibility/pages.ts';
import { EXIT, type ExitCode } from './exit.ts';
import type { ExecutionResult, Step, StepPage } from './gateway-answers.ts';
import type { Gateway } from './gateway-client.ts';

/** Waits that need somebody outside. Timers and children end by themselves. */
const EXTERNAL_WAITS: ReadonlySet<string> = new Set(['approval', 'input', 'message', 'callback']);

/** Waits until the run ends, waits for somebody outside, or `seconds` have passed. */
export async function waitForResult(
  gateway: Gateway,
  id: string,
  seconds: number,
): Promise<ExecutionResult & { ended: boolean }> {
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const isLast = Date.now() >= until;
    const wait = isLast ? 0 : 1;
    const answer = await gateway.call('GET', '/api/executions/:id/result', {
      params: { id },
      query: { wait: String(wait) },
      waitSeconds: wait,
    });
    if (answer.status === 200) return { ...answer.body, ended: true };
    const { status, waitingFor } = answer.body;
    const waits = status === 'waiting' && waitingFor.some(({ kind }) => EXTERNAL_WAITS.has(kind));
    if (waits || isLast) return { ...answer.body, ended: false };
  }
}

/** Selects visits: statuses separated by commas, and a slug or path. */
interface StepFilter {
  readonly status?: string;
  readonly step?: string;
}

/** All visits so far. */
export async function allSteps(gateway: Gateway, id: string, filter: StepFilter = {}): Promise<Step[]> {
  const steps: Step[] = [];
  for await (const some of pagesOf(10_000, ({ limit, cursor }) => stepPage(gateway, id, limit, cursor, filter)))
    steps.push(...some);
  return steps;
}

export async function stepPage(
  gateway: Gateway,
  id: string,
  limit: number,
  cursor?: string,
  filter: StepFilter = {},
): Promise<StepPage> {
  const query = { limit: String(limit), ...filter, cursor };
  return (await gateway.call('GET', '/api/executions/:id/steps', { params: { id }, query })).body;
}

/** 40 if the run failed, was cancelled or was aborted. */
export function exitCodeOf({ status }: Pick<ExecutionResult, 'status'>): ExitCode {
  return status === 'failed' || status === 'cancelled' || status === 'aborted' ? EXIT.failed : EXIT.ok;
}
