import { join } from 'node:path';
import { withLock } from '#lock';
import { projectRoot } from './project-root.ts';
import { reportProgress, type Say, say } from './say.ts';
import { cachedBinary } from './temporal-binary.ts';
import { type TemporalSource, temporalSources } from './temporal-sources.ts';

/** A working `temporal`, its version and its source. */
export type TemporalBinary = { path: string; version: string; source: string };

/** No source provided a server. The message has the reason of each. */
export class NoTemporalError extends Error {
  readonly code = 'no_temporal';
  readonly exitCode = 1;
  constructor(refusals: readonly { source: string; refusal: string }[]) {
    const lines = refusals.map(({ source, refusal }, index) => `  ${index + 2}. ${source}: ${refusal}`);
    super(
      [
        'No Temporal server could be found or downloaded. Sources, in this order:',
        '  1. TEMPORAL_ADDRESS: not set',
        ...lines,
        'Set TEMPORAL_ADDRESS to a running server, or install the Temporal CLI (https://docs.temporal.io/cli).',
      ].join('\n'),
    );
    this.name = 'NoTemporalError';
  }
}

type ObtainOptions = { env?: NodeJS.ProcessEnv; say?: Say; sources?: readonly TemporalSource[]; signal?: AbortSignal };

/**
 * Finds, downloads or builds a Temporal CLI in the order of ARCHITECTURE.md §5. A concurrent process waits and then
 * finds it in the cache.
 * @throws NoTemporalError
 */
export async function obtainTemporal(options: ObtainOptions = {}): Promise<TemporalBinary> {
  const context = {
    env: options.env ?? process.env,
    say: options.say ?? say,
    signal: options.signal ?? new AbortController().signal,
    pins: join(projectRoot(), 'deploy', 'temporal'),
  };
  const all = options.sources ?? temporalSources;
  const trySources = async (candidates: readonly TemporalSource[], refusals: { source: string; refusal: string }[]) => {
    for (const source of candidates) {
      context.signal.throwIfAborted();
      const done = source.slow ? reportProgress(context.say, `Looking for Temporal in ${source.name}`) : () => {};
      const found = await source.find(context).finally(done);
      if ('path' in found) return { path: found.path, version: found.version, source: source.name };
      refusals.push({ source: source.name, refusal: found.refusal });
    }
    return undefined;
  };
  const local = await trySources(
    all.filter((source) => !source.slow),
    [],
  );
  if (local) return local;
  return withLock(
    `${cachedBinary(context.env)}.lock`,
    (holder) => context.say(`Waiting for process ${holder.pid}, which is fetching the Temporal server.`),
    async () => {
      const refusals: { source: string; refusal: string }[] = [];
      const found = await trySources(all, refusals);
      if (found) return found;
      throw new NoTemporalError(refusals);
    },
  );
}
