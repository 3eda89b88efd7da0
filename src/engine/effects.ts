/** From what a kind wants run to the command that runs it. */
import type { RunSpec } from '../steps/kind.ts';
import type { ResolvedRetryPolicy } from '../steps/program-types.ts';
import type { Core } from './core.ts';
import type { RunCommand } from './protocol.ts';

/** One attempt of an effect that names no limit of its own. */
const DEFAULT_TIMEOUT_MS = 300_000;

interface Modifiers {
  readonly retry: ResolvedRetryPolicy;
  readonly timeoutMs: number | undefined;
  readonly local: boolean;
}

/** `path` is the visit's: the idempotency key is one for all its attempts, and another for each of an agent's calls. */
export function runCommand(
  core: Core,
  id: string,
  slug: string,
  path: string,
  spec: RunSpec,
  modifiers: Modifiers,
): RunCommand {
  return {
    type: 'run',
    id,
    activity: spec.activity,
    config: spec.config.value,
    secrets: spec.config.secrets,
    idempotencyKey: `${core.state.genesis.executionId}/${path}${spec.suffix ?? ''}`,
    stepSlug: slug,
    retry: modifiers.retry,
    timeoutMs: modifiers.timeoutMs ?? spec.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    ...(spec.heartbeatMs === undefined ? {} : { heartbeatMs: spec.heartbeatMs }),
    local: modifiers.local,
  };
}
