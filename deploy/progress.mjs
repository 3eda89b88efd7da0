import { spawn } from 'node:child_process';

/** Prints a line to the terminal. */
export function say(text) {
  process.stdout.write(`[signalbox] ${text}\n`);
}

/**
 * Runs a program to its end and prints a progress line every ten seconds. Its output is shown only if it fails
 * (`show: true` passes it through, `quiet: true` prints no progress). Rejects with the last lines of its output.
 */
export function run(what, command, args, options = {}) {
  const { show = false, quiet = false, ...rest } = options;
  const begun = Date.now();
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'], ...rest });
    let tail = '';
    const keep = (chunk) => {
      tail = (tail + chunk).slice(-8_000);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    const tick = () => quiet || say(`${what}: still running (${Math.round((Date.now() - begun) / 1000)} s)`);
    const ticker = setInterval(tick, 10_000);
    child.on('error', (error) => {
      clearInterval(ticker);
      reject(new Error(`${what}: could not run ${command} (${error.message}).`));
    });
    child.on('close', (code, signal) => {
      clearInterval(ticker);
      if (code === 0) resolve(tail);
      else reject(new Error(`${what} failed (${signal ?? `exit code ${code}`}).${show ? '' : `\n${tail.trim()}`}`));
    });
  });
}
