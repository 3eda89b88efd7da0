/** The activity `bash`. src/steps/kinds/bash.ts documents the step. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Config } from '../../src/config/config.ts';
import type { ActivityOutput } from '../../src/contract/run/activity.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { ActivityError, invalidConfig } from '../runtime/failure.ts';
import type { Scrub } from '../runtime/scrub.ts';
import type { ActivityContext, ActivityHandler } from '../runtime/wrap-activity.ts';
import { DEFAULT_SANDBOX_LIMITS, exceededLimit, type Limits } from './limits.ts';
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

type BashSettings = Pick<Config, 'bash' | 'bashFolders'>;

export interface BashOptions {
  /** Folders that no command may see: the data folder, and the folder of this program. */
  readonly hidden?: readonly string[];
  readonly limits?: Limits;
}

const MAX_CHARACTERS = 64_000;
const TRUNCATION_MARK = '\n[cut at 64,000 characters]';
/** Kept until secrets are scrubbed, since a secret that is cut in two can no longer be found. */
const MAX_CAPTURED_CHARACTERS = 2 * MAX_CHARACTERS;
const MAX_LINE_CHARACTERS = 300;
/** Below the limit of Linux for one argument or variable, 128 KiB. */
const MAX_ARGUMENT_BYTES = 120_000;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const PROBE_MS = 10_000;

/**
 * Config `{command, timeoutMs, cwd?, env?}`; data `{stdout, stderr, exitCode}`.
 * Fails with `bash_disabled`, `bash_unavailable`, `bash_cwd_not_allowed`, `bash_exit_code:N`, `bash_timeout:N`.
 */
export function bashActivity(
  settings: BashSettings,
  { hidden = [], limits = DEFAULT_SANDBOX_LIMITS }: BashOptions = {},
): ActivityHandler {
  let probed: Promise<boolean> | undefined;
  return async (config, context) => {
    if (settings.bash === 'off')
      throw new ActivityError('bash_disabled', 'This worker does not run bash. Set SIGNALBOX_BASH=1 on the worker.');
    const bashConfig = readConfig(config, context);
    if (settings.bash === 'unsafe') return toOutput(await runUnsandboxed(bashConfig, context), bashConfig, context);
    probed ??= probeSandbox();
    const forbidsNamespaces = await probed.catch((error: unknown) => {
      // bubblewrap may be installed before the next attempt.
      probed = undefined;
      throw error;
    });
    const place =
      bashConfig.cwd === undefined ? undefined : allowedFolder(settings.bashFolders, hidden, bashConfig.cwd);
    const sandbox = { folder: place?.folder, hidden, forbidsNamespaces };
    return toOutput(await runSandboxed(bashConfig, place?.cwd, sandbox, limits, context), bashConfig, context, limits);
  };
}

interface BashConfig {
  readonly command: string;
  readonly cwd: string | undefined;
  readonly timeoutMs: number;
  readonly env: ReadonlyMap<string, string>;
  readonly isRepeatable: boolean;
}

async function runSandboxed(
  { command, timeoutMs, env }: BashConfig,
  home = EMPTY_FOLDER,
  sandbox: Sandbox,
  limits: Limits,
  { signal }: ActivityContext,
): Promise<CommandResult> {
  const inside = new Map([['PATH', DEFAULT_PATH], ['HOME', home], ['LANG', 'C.UTF-8'], ...env]);
  const args = [...sandboxArguments(sandbox), '--chdir', home, ...environmentArguments(inside)];
  return runCommand({
    program: BWRAP,
    // An inherited environment could make bwrap load files of the folder (LD_PRELOAD).
    args: ['--args', '3', '--', ...limitedShell(limits), command],
    pipe: args.map((arg) => `${arg}\0`).join(''),
    env: { PATH: process.env['PATH'] ?? DEFAULT_PATH },
    timeoutMs,
    signal,
    watch: (pid) => exceededLimit(pid, limits),
    maxCharacters: MAX_CAPTURED_CHARACTERS,
  });
}

/** Runs as the worker's user, with its files and network but not its environment. */
async function runUnsandboxed(bashConfig: BashConfig, { signal }: ActivityContext): Promise<CommandResult> {
  const { command, cwd, timeoutMs, env } = bashConfig;
  const own = cwd === undefined ? await mkdtemp(join(tmpdir(), 'signalbox-bash-')) : undefined;
  try {
    return await runCommand({
      program: 'bash',
      args: ['-c', command],
      env: {
        PATH: process.env['PATH'] ?? DEFAULT_PATH,
        HOME: process.env['HOME'] ?? tmpdir(),
        LANG: 'C.UTF-8',
        ...Object.fromEntries(env),
      },
      cwd: own ?? realFolder(cwd!),
      timeoutMs,
      signal,
      maxCharacters: MAX_CAPTURED_CHARACTERS,
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
async function probeSandbox(): Promise<boolean> {
  const advice =
    'Bash steps run in bubblewrap. Install the package bubblewrap on the worker (Linux) and allow it to create ' +
    'user namespaces, or set SIGNALBOX_BASH=unsafe to run commands as the user of the worker.';
  const begin = (forbidsNamespaces: boolean) =>
    runCommand({
      program: BWRAP,
      args: [
        ...sandboxArguments({ hidden: [], forbidsNamespaces }),
        ...['--chdir', EMPTY_FOLDER, '--', ...limitedShell(DEFAULT_SANDBOX_LIMITS), ':'],
      ],
      env: { PATH: process.env['PATH'] ?? DEFAULT_PATH },
      timeoutMs: PROBE_MS,
      // The result is shared by all steps, so cancelling this one must not abort it.
      signal: new AbortController().signal,
      maxCharacters: MAX_LINE_CHARACTERS,
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

function toOutput(
  ended: CommandResult,
  { timeoutMs, isRepeatable }: BashConfig,
  { scrub }: ActivityContext,
  limits = DEFAULT_SANDBOX_LIMITS,
): ActivityOutput {
  const { exitCode, isLate, breach } = ended;
  const data = { stdout: scrubbedOutput(ended.stdout, scrub), stderr: scrubbedOutput(ended.stderr, scrub), exitCode };
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
  const lastErrorLine = lastLine(data.stderr);
  const message = `The command ended with exit code ${exitCode}${lastErrorLine === '' ? '.' : `: ${lastErrorLine}`}`;
  throw failure(`bash_exit_code:${exitCode}`, message);
}

function scrubbedOutput({ text, isCut }: CommandOutput, scrub: Scrub): string {
  const clean = isCut ? scrub.beginning(text) : scrub.text(text);
  return isCut || clean.length > MAX_CHARACTERS ? clean.slice(0, MAX_CHARACTERS) + TRUNCATION_MARK : clean;
}

function lastLine(text: string): string {
  return (text.trimEnd().split('\n').at(-1) ?? '').slice(0, MAX_LINE_CHARACTERS);
}

/**
 * Finds the allowed folder that contains the working directory, following links. Hidden folders are not allowed, except
 * for a folder that the host lists within one. @throws ActivityError `bash_cwd_not_allowed`
 */
function allowedFolder(
  folders: readonly string[],
  hidden: readonly string[],
  given: string,
): { readonly folder: string; readonly cwd: string } {
  const cwd = realFolder(given);
  for (const folder of folders.filter((one) => existsSync(one)).map(realFolder)) {
    const isHidden = hidden.flatMap(realPaths).some((place) => isWithin(cwd, place) && isWithin(place, folder));
    if (isWithin(cwd, folder) && !isHidden) return { folder, cwd };
  }
  throw new ActivityError(
    'bash_cwd_not_allowed',
    'config.cwd is outside of the folders where bash may run. The host lists them in SIGNALBOX_BASH_FOLDERS.',
  );
}

function realFolder(folder: string): string {
  try {
    if (isAbsolute(folder) && statSync(folder).isDirectory()) return realpathSync(folder);
  } catch {
    // Reported below.
  }
  throw invalidConfig('cwd', 'the absolute path of a folder that exists on the worker');
}

function readConfig(config: Json, { input, attempt }: ActivityContext): BashConfig {
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
    if (!VARIABLE_NAME.test(name)) throw invalidConfig(member, 'a valid variable name');
    if (typeof value === 'object') throw invalidConfig(member, 'a text, a number, true or false');
    demandArgument(String(value), member);
    return [[name, String(value)]];
  });
}

function demandArgument(text: string, member: string): void {
  if (text.includes('\0')) throw invalidConfig(member, 'without NUL characters');
  if (Buffer.byteLength(text) > MAX_ARGUMENT_BYTES)
    throw invalidConfig(member, `at most ${MAX_ARGUMENT_BYTES} bytes long`);
}
