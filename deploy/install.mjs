import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';
import { run, say } from './progress.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const MIN_NODE_VERSION = [20, 19];

/** Rejects an old Node before anything that needs a newer one is imported. */
export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1])) return;
  console.error(
    `Signalbox needs Node ${MIN_NODE_VERSION.join('.')} or newer, and this is ${process.versions.node}. Install a ` +
      'newer version from https://nodejs.org',
  );
  process.exit(1);
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Whether node_modules matches the lock file. Optional packages of other platforms may be missing. */
export function isInstalled() {
  const wanted = packagesIn('package-lock.json');
  const have = packagesIn('node_modules/.package-lock.json');
  if (!wanted || !have) return false;
  return Object.entries(wanted).every(
    ([path, entry]) =>
      path === '' ||
      (have[path] ? have[path].version === entry.version && existsSync(join(root, path)) : entry.optional === true),
  );
}

/** Runs `npm ci` if node_modules does not match the lock file. No package needs its install script. */
export async function install() {
  if (isInstalled()) return;
  await withLock(
    // Outside of the clone, because npm ci deletes node_modules.
    join(tmpdir(), `signalbox-install-${createHash('sha256').update(root).digest('hex').slice(0, 16)}.lock`),
    (holder) => say(`Waiting for the installation of process ${holder.pid}.`),
    async () => {
      if (isInstalled()) return;
      say('Installing packages (npm ci).');
      const args = ['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
      const npm = process.env.npm_execpath;
      if (npm?.endsWith('.js')) await run('Installing packages', process.execPath, [npm, ...args], { cwd: root });
      else await run('Installing packages', 'npm', args, { cwd: root, shell: process.platform === 'win32' });
    },
  );
}
