/** The activity `bash`. src/steps/kinds/bash.ts documents the step. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Config } from '../../src/config/config.ts';
import type { ActivityOutput } from '../../src/contract/activity.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { ActivityError, invalidConfig } from '../runtime/failure.ts';
import type { Scrub } from '../runtime/scrub.ts';
import type { ActivityContext, ActivityHandler } from '../runtime/wrap-activity.ts';
import { exceeded, LIMITS, type Limits } from './limits.ts';
import { type CommandOutput, type CommandResult, runCommand } from './run-command.ts';
import {
  BWRAP,
  EMPTY_FOLDER,
  environmentArguments,
  isWithin,
  limitedShell,
  realPaths,
  type Sandbox,
  sandboxArguments,
} from './sandbox.ts';

export type BashSettings = Pick<Config, 'bash' | 'bashFolders'>;

export interface BashOptions {
  /** Folders that no command may see: the data folder, and the folder of this program. */
  readonly hidden?: readonly string[];
  readonly limits?: Limits;
}

const MOST_CHARACTERS = 64_000;
const CUT = '\n[cut at 64,000 characters]';
/** Kept until secrets are scrubbed, since a secret that is cut in two can no longer be found. */
const MOST_KEPT_CHARACTERS = 2 * MOST_CHARACTERS;
const MOST_LINE_CHARACTERS = 300;
/** Below the limit of Linux for one argument or variable, 128 KiB. */
const MOST_ARGUMENT_BYTES = 120_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const PROBE_MS = 10_000;

/**
 * Config `{command, timeoutMs, cwd?, env?}`; data `{stdout, stderr, exitCode}`.
 * Fails with `bash_disabled`, `bash_unavailable`, `bash_cwd_not_allowed`, `bash_exit_code:N`, `bash_timeout:N`.
 */
export function bashActivity(
  settings: BashSettings,
  { hidden = [], limits = LIMITS }: BashOptions = {},
): ActivityHandler {
  let probed: Promise<boolean> | undefined;
  return async (config, context) => {
    if (settings.bash === 'off')
      throw new ActivityError('bash_disabled', 'This worker does not run bash. Set SIGNALBOX_BASH=1 on the worker.');
    const wanted = readConfig(config, context);
    if (settings.bash === 'unsafe') return outcome(await unconfined(wanted, context), wanted, context);
    probed ??= probe();
    const forbidsNamespaces = await probed.catch((error: unknown) => {
      // bubblewrap may be installed before the next attempt.
      probed = undefined;
      throw error;
    });
    const place = wanted.cwd === undefined ? undefined : placeIn(settings.bashFolders, hidden, wanted.cwd);
    const sandbox = { folder: place?.folder, hidden, forbidsNamespaces };
    return outcome(await sandboxed(wanted, place?.cwd, sandbox, limits, context), wanted, context, limits);
  };
}

interface Wanted {
  readonly command: string;
  readonly cwd: string | undefined;
  readonly timeoutMs: number;
  readonly env: ReadonlyMap<string, string>;
  readonly isRepeatable: boolean;
}

async function sandboxed(
  { command, timeoutMs, env }: Wanted,
  home = EMPTY_FOLDER,
  sandbox: Sandbox,
  limits: Limits,
  { signal }: ActivityContext,
): Promise<CommandResult> {
  const inside = new Map([['PATH', PATH], ['HOME', home], ['LANG', 'C.UTF-8'], ...env]);
  const args = [...sandboxArguments(sandbox), '--chdir', home, ...environmentArguments(inside)];
  return runCommand({
    program: BWRAP,
    // An inherited environment could make bwrap load files of the folder (LD_PRELOAD).
    args: ['--args', '3', '--', ...limitedShell(limits), command],
    pipe: args.map((arg) => `${arg}\0`).join(''),
    env: { PATH: process.env['PATH'] ?? PATH },
    timeoutMs,
    signal,
    watch: (pid) => exceeded(pid, limits),
    mostCharacters: MOST_KEPT_CHARACTERS,
  });
}

/** Runs as the worker's user, with its files and network but not its environment. */
async function unconfined(wanted: Wanted, { signal }: ActivityContext): Promise<CommandResult> {
  const { command, cwd, timeoutMs, env } = wanted;
  const own = cwd === undefined ? await mkdtemp(join(tmpdir(), 'signalbox-bash-')) : undefined;
  try {
    return await runCommand({
      program: 'bash',
      args: ['-c', command],
      env: {
        PATH: process.env['PATH'] ?? PATH,
        HOME: process.env['HOME'] ?? tmpdir(),
        LANG: 'C.UTF-8',
        ...Object.fromEntries(env),
      },
      cwd: own ?? existing(cwd!),
      timeoutMs,
      signal,
      mostCharacters: MOST_KEPT_CHARACTERS,
    });
  } finally {
    if (own !== undefined) await rm(own, { recursive: true, force: true });
  }
}

/**
 * Checks whether bubblewrap works here. Resolves to whether it can forbid nested namespaces, which older versions
 * cannot.
 * @throws ActivityError `bash_unavailable`
 */
async function probe(): Promise<boolean> {
  const advice =
    'Bash steps run in bubblewrap. Install the package bubblewrap on the worker (Linux) and allow it to create ' +
    'user namespaces, or set SIGNALBOX_BASH=unsafe to run commands as the user of the worker.';
  const begin = (forbidsNamespaces: boolean) =>
    runCommand({
      program: BWRAP,
      args: [
        ...sandboxArguments({ hidden: [], forbidsNamespaces }),
        ...['--chdir', EMPTY_FOLDER, '--', ...limitedShell(LIMITS), ':'],
      ],
      env: { PATH: process.env['PATH'] ?? PATH },
      timeoutMs: PROBE_MS,
      // The result is shared by all steps, so cancelling this one must not abort it.
      signal: new AbortController().signal,
      mostCharacters: MOST_LINE_CHARACTERS,
    }).catch((error: unknown) => {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
      throw new ActivityError('bash_unavailable', `${BWRAP} cannot be started on this worker (${code}). ${advice}`);
    });
  if ((await begin(true)).exitCode === 0) return true;
  const tried = await begin(false);
  if (tried.exitCode === 0) return false;
  throw new ActivityError(
    'bash_unavailable',
    `This worker cannot create a sandbox: ${lastLine(tried.stderr.text)} ${advice}`,
  );
}

function outcome(
  ended: CommandResult,
  { timeoutMs, isRepeatable }: Wanted,
  { scrub }: ActivityContext,
  limits = LIMITS,
): ActivityOutput {
  const { exitCode, isLate, breach } = ended;
  const data = { stdout: shown(ended.stdout, scrub), stderr: shown(ended.stderr, scrub), exitCode };
  const failure = (code: string, message: string, more: JsonObject = {}): ActivityError =>
    new ActivityError(code, message, { retryable: isRepeatable, details: { ...data, ...more } });
  if (isLate)
    throw failure(`bash_timeout:${timeoutMs}`, `The command ran for longer than ${timeoutMs} ms and was killed.`, {
      timeoutMs,
    });
  if (breach === 'memoryBytes' || breach === 'processes') {
    const [code, what] =
      breach === 'processes'
        ? [`bash_processes:${limits.processes}`, `${limits.processes} processes`]
        : [`bash_memory:${limits.memoryBytes}`, `${limits.memoryBytes} bytes of memory`];
    throw failure(code, `The command used more than ${what} and was killed. Split its work.`);
  }
  if (exitCode === 0) return { data };
  const said = lastLine(data.stderr);
  const message = `The command ended with exit code ${exitCode}${said === '' ? '.' : `: ${said}`}`;
  throw failure(`bash_exit_code:${exitCode}`, message);
}

function shown({ text, isCut }: CommandOutput, scrub: Scrub): string {
  const clean = isCut ? scrub.beginning(text) : scrub.text(text);
  return isCut || clean.length > MOST_CHARACTERS ? clean.slice(0, MOST_CHARACTERS) + CUT : clean;
}

function lastLine(text: string): string {
  return (text.trimEnd().split('\n').at(-1) ?? '').slice(0, MOST_LINE_CHARACTERS);
}

/**
 * Finds the allowed folder that contains the working directory, following links. Hidden folders are not allowed, except
 * for a folder that the host lists within one. @throws ActivityError `bash_cwd_not_allowed`
 */
function placeIn(
  folders: readonly string[],
  hidden: readonly string[],
  given: string,
): { readonly folder: string; readonly cwd: string } {
  const cwd = existing(given);
  for (const folder of folders.filter((one) => existsSync(one)).map(existing)) {
    const isHidden = hidden.flatMap(realPaths).some((place) => isWithin(cwd, place) && isWithin(place, folder));
    if (isWithin(cwd, folder) && !isHidden) return { folder, cwd };
  }
  throw new ActivityError(
    'bash_cwd_not_allowed',
    'config.cwd is outside of the folders where bash may run. The host lists them in SIGNALBOX_BASH_FOLDERS.',
  );
}

function existing(folder: string): string {
  try {
    if (isAbsolute(folder) && statSync(folder).isDirectory()) return realpathSync(folder);
  } catch {
    // Reported below.
  }
  throw invalidConfig('cwd', 'the absolute path of a folder that exists on the worker');
}

function readConfig(config: Json, { input, attempt }: ActivityContext): Wanted {
  const { command, cwd, timeoutMs, env } = isObject(config) ? config : {};
  if (typeof command !== 'string') throw invalidConfig('command', 'a text');
  demandArgument(command, 'command');
  if (cwd !== undefined && typeof cwd !== 'string') throw invalidConfig('cwd', 'a text');
  if (typeof timeoutMs !== 'number' || !(timeoutMs > 0)) throw invalidConfig('timeoutMs', 'longer than 0');
  if (env !== undefined && env !== null && !isObject(env)) throw invalidConfig('env', 'an object');
  return {
    command,
    cwd,
    timeoutMs,
    env: new Map([
      ['SIGNALBOX_IDEMPOTENCY_KEY', input.idempotencyKey],
      ['SIGNALBOX_ATTEMPT', String(attempt)],
      ['WORKFLOW_ID', input.execution.workflow],
      ['WORKFLOW_EXECUTION_ID', input.execution.id],
      ['IS_WORKFLOW_SESSION', 'true'],
      ...variables(env ?? {}),
    ]),
    isRepeatable: input.repeatable === true,
  };
}

function variables(env: JsonObject): [string, string][] {
  return Object.entries(env).flatMap(([name, value]): [string, string][] => {
    if (value === null) return [];
    const member = `env.${name.slice(0, 80)}`;
    if (!NAME.test(name)) throw invalidConfig(member, 'a valid variable name');
    if (typeof value === 'object') throw invalidConfig(member, 'a text, a number, true or false');
    demandArgument(String(value), member);
    return [[name, String(value)]];
  });
}

function demandArgument(text: string, member: string): void {
  if (text.includes('\0')) throw invalidConfig(member, 'without NUL characters');
  if (Buffer.byteLength(text) > MOST_ARGUMENT_BYTES)
    throw invalidConfig(member, `at most ${MOST_ARGUMENT_BYTES} bytes long`);
}
