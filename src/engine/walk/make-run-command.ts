/** Makes the command that runs an activity from the spec of a kind. */

import { sameJson } from '../../json/equality.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { RunSpec } from '../../steps/kind.ts';
import type { ResolvedRetryPolicy } from '../../steps/program-types.ts';
import type { SecretString } from '../../template/types.ts';
import type { Core } from '../state/core.ts';
import type { RunCommand } from '../state/protocol.ts';

/** The limit of one attempt where neither step nor kind names one. */
const DEFAULT_TIMEOUT_MS = 300_000;

interface Modifiers {
  readonly retry: ResolvedRetryPolicy;
  readonly timeoutMs: number | undefined;
  readonly local: boolean;
  readonly fuse: boolean;
}

/**
 * `path` is the visit's. The idempotency key is the same in all attempts, and different for each of an agent's calls.
 */
export function makeRunCommand(
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
    secrets: storeNames(core, spec.config.secrets),
    idempotencyKey: `${core.state.genesis.executionId}/${path}${spec.suffix ?? ''}`,
    stepSlug: slug,
    retry: retryOf(core, modifiers.retry),
    timeoutMs: modifiers.timeoutMs ?? spec.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    ...omitUndefined({ heartbeatMs: spec.heartbeatMs }),
    local: modifiers.local,
    ...(modifiers.fuse ? { fuse: true } : {}),
    ...omitUndefined({ repeatable: spec.repeatable }),
  };
}

/**
 * The policy, as an object that an open command holds already: after continue-as-new a run no longer shares the object
 * of its program, and the measure counts what is shared once (E2).
 */
function retryOf(core: Core, policy: ResolvedRetryPolicy): ResolvedRetryPolicy {
  for (const id in core.state.openCommands) {
    const open = core.state.openCommands[id];
    if (open?.type === 'run' && sameJson(open.command.retry, policy)) return open.command.retry;
  }
  return policy;
}

/**
 * Secrets by their names in the organization's store. config.secrets maps the names in templates to them; other names
 * stay as they are.
 */
function storeNames(core: Core, secrets: readonly SecretString[]): readonly SecretString[] {
  const names = core.program.definition.config?.secrets;
  if (names === undefined || secrets.length === 0) return secrets;
  return secrets.map(({ path, parts }) => ({
    path,
    parts: parts.map((part) => {
      if (typeof part === 'string' || !('secret' in part) || !Object.hasOwn(names, part.secret)) return part;
      return { secret: names[part.secret]! };
    }),
  }));
}
