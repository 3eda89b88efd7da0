// Calls the signalbox command with the actions of this project. Nothing of Signalbox has to run.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** What `npx signalbox` runs, without the time that npx takes. */
const command = fileURLToPath(new URL('../node_modules/signalbox/dist/src/cli/main.js', import.meta.url));

/** What the command prints with --json, and its exit code. */
export function signalbox(...args) {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [command, ...args, '--json'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, SIGNALBOX_ACTIONS: 'actions' },
  });
  if (error !== undefined) throw error;
  if (stdout === '') throw new Error(stderr);
  return { exit: status, printed: JSON.parse(stdout) };
}

/** Walks a definition without effects: `{status, output, steps, waits, …}`. */
export function dryRun(file, { input = {}, presets = {}, answers = {} }) {
  const json = { input, presets, answers };
  const options = Object.entries(json).flatMap(([name, value]) => [`--${name}`, JSON.stringify(value)]);
  return signalbox('run', file, '--dry', ...options).printed;
}
