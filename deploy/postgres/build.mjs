// Builds the Temporal server that go.mod pins, and its tool for SQL schemas, into the user's cache folder. The server's
// releases are container images; from the Go module proxy it is built once, in about eight minutes on two cores.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from '../lock.mjs';
import { run, say } from '../progress.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const PROGRAMS = {
  'temporal-server': 'go.temporal.io/server/cmd/server',
  'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
};

/** The pinned version, such as 1.31.2. */
export const serverVersion = /go\.temporal\.io\/server v(\S+)/.exec(readFileSync(join(here, 'go.mod'), 'utf8'))[1];

function cacheFolder() {
  const cache = process.env.XDG_CACHE_HOME || join(process.env.HOME || homedir(), '.cache');
  const pins = createHash('sha256')
    .update(readFileSync(join(here, 'go.sum')))
    .digest('hex');
  return join(cache, 'signalbox', `temporal-server-${serverVersion}-${pins.slice(0, 12)}`);
}

/** The folder of the two programs. Builds them if they are missing. @throws Error without Go, or with its output */
export async function buildServer() {
  const folder = cacheFolder();
  const isBuilt = () => Object.keys(PROGRAMS).every((name) => existsSync(join(folder, name)));
  if (isBuilt()) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  return withLock(
    `${folder}.lock`,
    (holder) => say(`Waiting for process ${holder.pid}, which builds the Temporal server.`),
    async () => {
      if (isBuilt()) return folder;
      if (spawnSync('go', ['version']).status !== 0)
        throw new Error(
          'The Temporal server is built from source, and there is no Go here. Install Go (https://go.dev).',
        );
      const draft = mkdtempSync(`${folder}-`);
      try {
        for (const [name, source] of Object.entries(PROGRAMS)) {
          const args = ['build', '-mod=readonly', '-ldflags=-s -w', '-o', join(draft, name), source];
          await run(`Building ${name} ${serverVersion} with Go`, 'go', args, {
            cwd: here,
            env: { ...process.env, CGO_ENABLED: '0' },
          });
        }
        rmSync(folder, { recursive: true, force: true });
        renameSync(draft, folder);
      } finally {
        rmSync(draft, { recursive: true, force: true });
      }
      return folder;
    },
  );
}
