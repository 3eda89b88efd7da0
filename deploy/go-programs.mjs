// Builds programs that a go.mod pins into the user's cache folder, once.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { withLock } from './lock.mjs';
import { run, say } from './progress.mjs';

/** The version of a module in the go.mod of that folder, such as 1.31.2. */
export const pinnedVersion = (folder, module) =>
  readFileSync(join(folder, 'go.mod'), 'utf8')
    .split('\n')
    .map((line) => line.replace(/^require\s+/, '').trim())
    .find((line) => line.startsWith(`${module} v`))
    .slice(module.length + 2)
    .split(' ')[0];

/**
 * The folder of the programs {name: package}, which are built if they are missing. `source` holds go.mod and go.sum;
 * `what` names the product in messages, `name` in the cache. @throws Error without Go, or with its output
 */
export async function buildPrograms({ source, what, name, version, programs }) {
  const cache = process.env.XDG_CACHE_HOME || join(process.env.HOME || homedir(), '.cache');
  const pins = createHash('sha256')
    .update(readFileSync(join(source, 'go.sum')))
    .digest('hex');
  const folder = join(cache, 'signalbox', `${name}-${version}-${pins.slice(0, 12)}`);
  const isBuilt = () => Object.keys(programs).every((program) => existsSync(join(folder, program)));
  if (isBuilt()) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  return withLock(
    `${folder}.lock`,
    (holder) => say(`Waiting for process ${holder.pid}, which builds ${what}.`),
    async () => {
      if (isBuilt()) return folder;
      if (spawnSync('go', ['version']).status !== 0)
        throw new Error(`${what} is built from source, and there is no Go here. Install Go (https://go.dev).`);
      const draft = mkdtempSync(`${folder}-`);
      try {
        for (const [program, path] of Object.entries(programs)) {
          const args = ['build', '-mod=readonly', '-ldflags=-s -w', '-o', join(draft, program), path];
          await run(`Building ${program} ${version} with Go`, 'go', args, {
            cwd: source,
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
