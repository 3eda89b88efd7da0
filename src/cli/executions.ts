/** Executions over the gateway: starting, following and reading them. */

import type { Step } from '../client/runs/trace.ts';
import type { Page } from '../client/visibility/listing.ts';
import { pagesOf } from '../client/visibility/pages.ts';
import { defined } from '../json/defined.ts';
import type { Json } from '../json/json.ts';
import { EXIT, type ExitCode } from './exit.ts';
import type { Gateway } from './gateway-client.ts';
import type { RunSummary } from './run-text.ts';

/** Waits that need somebody outside. Timers and children end by themselves. */
const OUTSIDE_WAITS: ReadonlySet<string> = new Set(['approval', 'input', 'message', 'callback']);

export const executionPath = (id: string): string => `/api/executions/${encodeURIComponent(id)}`;

/** Waits until the run ends, waits for somebody outside, or `seconds` have passed. */
export async function awaitSummary(
  gateway: Gateway,
  id: string,
  seconds: number,
): Promise<RunSummary & { ended: boolean }> {
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const isLast = Date.now() >= until;
    const wait = isLast ? 0 : 1;
    const { status, body } = await gateway.call<RunSummary>('GET', `${executionPath(id)}/result?wait=${wait}`, {
      waitSeconds: wait,
    });
    if (status === 200) return { ...body, ended: true };
    const waits = body.status === 'waiting' && body.waitingFor?.some(({ kind }) => OUTSIDE_WAITS.has(kind)) === true;
    if (waits || isLast) return { ...body, ended: false };
  }
}

/** Selects visits: statuses separated by commas, and a slug or path. */
export interface StepFilter {
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
): Promise<Page<Step>> {
  const query = new URLSearchParams({ limit: String(limit), ...filter, ...defined({ cursor }) });
  const { body } = await gateway.call<Page<Step>>('GET', `${executionPath(id)}/steps?${query}`);
  return body;
}

/** 40 if the run failed, was cancelled or was aborted. */
export function exitOf({ status }: Pick<RunSummary, 'status'>): ExitCode {
  return status === 'failed' || status === 'cancelled' || status === 'aborted' ? EXIT.failed : EXIT.ok;
}

export interface StartedExecution {
  readonly executionId: string;
  readonly status: string;
}

/** Runs a definition that is not stored. */
export async function startInline(
  gateway: Gateway,
  request: { definition: Json; dialect?: string; input?: Json; presets?: Json },
): Promise<StartedExecution> {
  const { body } = await gateway.call<StartedExecution>('POST', '/api/executions', { json: request });
  return body;
}
