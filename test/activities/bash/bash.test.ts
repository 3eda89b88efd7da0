import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CancelledFailure } from '@temporalio/common';
import type { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { type ActivitySettings, createActivities } from '../../../activities/registry.ts';
import type { ActivityOutput } from '../../../src/contract/run/activity.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import type { SecretString } from '../../../src/template/types.ts';
import { environment, inputOf, LOOPBACK } from '../server.ts';

const SANDBOX: ActivitySettings = { ...LOOPBACK, bash: 'sandbox' };
const UNSAFE: ActivitySettings = { ...LOOPBACK, bash: 'unsafe' };
const CANARY = 'canary/7f3a "quoted" ü';
const folder = mkdtempSync(join(tmpdir(), 'signalbox-bash-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Call {
  readonly settings?: ActivitySettings;
  readonly secrets?: readonly SecretString[];
  readonly environment?: MockActivityEnvironment;
  readonly repeatable?: true;
}

async function run(config: JsonObject, call: Call = {}) {
  const secrets = { read: async () => CANARY };
  const { bash } = createActivities(call.settings ?? UNSAFE, { secrets });
  const again = call.repeatable === undefined ? {} : { repeatable: call.repeatable };
  const input = { ...inputOf({ timeoutMs: 20_000, ...config }, call.secrets), ...again };
  return (await (call.environment ?? environment()).run(bash!, input)) as ActivityOutput;
}
const failing = (config: JsonObject, call?: Call) =>
  run(config, call).then(
    (result) => {
      throw new Error(`It did not fail: ${JSON.stringify(result).slice(0, 500)}`);
    },
    (error) => error,
  );
/** How a command fails whose time is over as soon as it has run `ready`. */
async function late(commandOf: (ready: string) => string) {
  const file = join(folder, 'ready');
  rmSync(file, { force: true });
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    const failed = failing({ command: commandOf(`touch ${file}`), timeoutMs: 500 });
    await expect.poll(() => existsSync(file)).toBe(true);
    vi.advanceTimersByTime(500);
    return failed;
  } finally {
    vi.useRealTimers();
  }
}
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

describe('a command', () => {
  it('gives its output and exit code', async () => {
    expect(await run({ command: 'echo out; echo err >&2' })).toEqual({
      data: { stdout: 'out\n', stderr: 'err\n', exitCode: 0 },
    });
  });

  it('has its own environment, with a key for other sides, and nothing of the worker’s', async () => {
    process.env['SIGNALBOX_TEST_CANARY'] = CANARY;
    const { data } = await run({ command: 'env', env: { NAME: 'a b', N: 1, GONE: null } });
    delete process.env['SIGNALBOX_TEST_CANARY'];
    const { stdout } = data as { stdout: string };
    expect(stdout).toContain('NAME=a b\n');
    expect(stdout).toContain('N=1\n');
    expect(stdout).toContain('SIGNALBOX_IDEMPOTENCY_KEY=run.default.w.1/pay#2\n');
    expect(stdout).toContain('SIGNALBOX_ATTEMPT=2\n');
    const { id, workflow } = inputOf({}).execution;
    for (const line of [`WORKFLOW_ID=${workflow}`, `WORKFLOW_EXECUTION_ID=${id}`, 'IS_WORKFLOW_SESSION=true'])
      expect(stdout).toContain(`${line}\n`);
    expect(stdout).not.toMatch(/canary|GONE/);
  });

  it('fails with its exit code, and may be tried again only where the step says so', async () => {
    const config = { command: 'echo before; echo "no such order" >&2; exit 3' };
    const failed = await failing(config);
    expect(failed).toMatchObject({
      type: 'bash_exit_code:3',
      message: 'The command ended with exit code 3: no such order',
      nonRetryable: true,
      details: [{ details: { stdout: 'before\n', stderr: 'no such order\n', exitCode: 3 } }],
    });
    expect(await failing(config, { repeatable: true })).toMatchObject({ nonRetryable: false });
    expect(await failing({ command: 'kill -9 $$' })).toMatchObject({ type: 'bash_exit_code:137' });
  });

  it('has its output cut and marked, without being held up', async () => {
    const { data } = await run({ command: 'head -c 3000000 /dev/zero | tr "\\0" x; echo end >&2' });
    const { stdout, stderr } = data as { stdout: string; stderr: string };
    expect(stdout).toBe(`${'x'.repeat(64_000)}\n[cut at 64,000 characters]`);
    expect(stderr).toBe('end\n');
  });

  it('is ended with all that it started when it takes too long', async () => {
    const failed = await late((ready) => `echo $$; sleep 60 & echo $!; ${ready}; wait`);
    expect(failed).toMatchObject({ type: 'bash_timeout:500', nonRetryable: true });
    const { stdout } = failed.details[0].details;
    for (const pid of stdout.trim().split('\n')) await expect.poll(() => isAlive(Number(pid))).toBe(false);
  });

  it('is ended with all that it started when it is cancelled', async () => {
    const own = environment();
    const file = join(folder, 'pids');
    const running = run({ command: `echo $$ > ${file}; sleep 60 & echo $! >> ${file}; wait` }, { environment: own });
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8').split('\n').length).toBe(3);
    own.cancel();
    await expect(running).rejects.toBeInstanceOf(CancelledFailure);
    for (const pid of readFileSync(file, 'utf8').trim().split('\n'))
      await expect.poll(() => isAlive(Number(pid))).toBe(false);
  });

  it('does not outlive its shell', async () => {
    const { data } = await run({ command: 'sleep 60 & echo $!' });
    const pid = Number((data as { stdout: string }).stdout);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it('waits for nothing that has left its group, when it has ended, is late or cancelled', async () => {
    const file = join(folder, 'left');
    // It has left when its session has its id.
    const hasLeft = '[ $(cut -d" " -f6 /proc/$!/stat) = $! ]';
    const leaving = (end: string) => `setsid sleep 600 & echo $!; until ${hasLeft}; do sleep 0.01; done; ${end}`;
    const { data } = await run({ command: leaving('echo done') });
    const { stdout } = data as { stdout: string };
    expect(stdout).toMatch(/^\d+\ndone\n$/);
    const ended = await late((ready) => leaving(`${ready}; sleep 600`));
    expect(ended).toMatchObject({ type: 'bash_timeout:500' });
    const own = environment();
    const running = run({ command: leaving(`echo $! > ${file}; sleep 600`) }, { environment: own });
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n')).toBe(true);
    own.cancel();
    await expect(running).rejects.toBeInstanceOf(CancelledFailure);
    const left = [stdout, ended.details[0].details.stdout, readFileSync(file, 'utf8')].map((text) =>
      Number.parseInt(text, 10),
    );
    expect(left.map(isAlive)).toEqual([true, true, true]);
    for (const pid of left) process.kill(pid, 'SIGKILL');
  });

  it('has secrets in its environment, and they are in no output', async () => {
    const secrets = [{ path: ['env', 'KEY'], parts: [{ secret: 'k' }] }];
    const told = await run(
      { command: 'echo "it is $KEY"; printf %s "$KEY" | base64', env: { KEY: null } },
      { secrets },
    );
    expect(told.data).toMatchObject({ stdout: expect.stringContaining('it is [secret]\n') });
    const failed = await failing({ command: 'echo "bad key $KEY" >&2; exit 1', env: { KEY: null } }, { secrets });
    expect(failed.message).toBe('The command ended with exit code 1: bad key [secret]');
    const cut = 'head -c 63990 /dev/zero | tr "\\0" x; echo "$KEY"';
    const long = await run({ command: cut, env: { KEY: null } }, { secrets });
    for (const one of [told, failed.message, failed.details, failed.stack, long])
      expect(JSON.stringify(one)).not.toMatch(/canary|7f3a|Y2FuYXJ5/);
  });

  it('shows no part of a secret if scrubbing moves the end of the kept output into view', async () => {
    const secrets = [{ path: ['env', 'KEY'], parts: [{ secret: 'k' }] }];
    const { data } = await run({ command: 'yes "$KEY" | head -c 1000000', env: { KEY: null } }, { secrets });
    const { stdout } = data as { stdout: string };
    const [shown, note] = stdout.split('\n[cut');
    expect(note).toBe(' at 64,000 characters]');
    expect(shown).toMatch(/^(\[secret\]\n){1000}/);
    expect('[secret]\n').toContain(shown!.replaceAll('[secret]\n', ''));
  });

  it.each([
    [{ command: 'x', env: { 'a b': '1' } }, 'config.env.a b must be a valid variable name.'],
    [{ command: 'x', env: { A: '\0' } }, 'config.env.A must be without NUL characters.'],
    [{ command: 'x'.repeat(200_000) }, 'config.command must be at most 120000 bytes long.'],
    [{ command: 'x', cwd: 'relative' }, 'config.cwd must be the absolute path of a folder that exists on the worker.'],
    [{ command: 'x', cwd: '/nowhere' }, 'config.cwd must be the absolute path of a folder that exists on the worker.'],
  ])('is refused where it cannot be run (%#)', async (config, message) => {
    expect(await failing(config as JsonObject)).toMatchObject({ type: 'invalid_config', message });
  });

  it('is refused where the host does not allow bash', async () => {
    expect(await failing({ command: 'true' }, { settings: LOOPBACK })).toMatchObject({
      type: 'bash_disabled',
      nonRetryable: true,
      message: expect.stringContaining('SIGNALBOX_BASH=1'),
    });
  });
});

describe('a worker that cannot make a sandbox', () => {
  const path = process.env['PATH'];
  afterEach(() => {
    process.env['PATH'] = path;
  });
  const refusal = async (program?: string) => {
    const place = mkdtempSync(join(folder, 'path-'));
    if (program !== undefined) writeFileSync(join(place, 'bwrap'), program, { mode: 0o755 });
    process.env['PATH'] = place;
    const failed = await failing({ command: 'true' }, { settings: SANDBOX });
    expect(failed).toMatchObject({
      type: 'bash_unavailable',
      nonRetryable: true,
      message: expect.stringMatching(/bubblewrap.*SIGNALBOX_BASH=unsafe/),
    });
    return failed.message as string;
  };

  it('refuses every command, and says what to do', async () => {
    expect(await refusal()).toContain('bwrap cannot be started on this worker (ENOENT).');
    const denied = '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2; exit 1\n';
    expect(await refusal(denied)).toContain('This worker cannot create a sandbox: bwrap: No permissions');
  });
});

const tried = spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true']);
const sandboxed = tried.status === 0;
if (!sandboxed)
  console.warn(
    'The sandbox of bash steps is NOT tested: bubblewrap does not work here ' +
      `(${tried.error?.message ?? tried.stderr.toString().trim()}).`,
  );

// What holds in bubblewrap can be tested only where there is one.
describe.runIf(sandboxed)('the sandbox', () => {
  const inside = async (command: string, more: JsonObject = {}, settings = SANDBOX) =>
    ((await run({ command, ...more }, { settings })).data as { stdout: string }).stdout;

  it('has programs, an empty folder, and temporary files', async () => {
    expect(await inside('pwd; ls -A; echo 1 > a; cat a; echo 2 > /tmp/b; cat /tmp/b')).toBe('/work\n1\n2\n');
    expect(await inside('ls -A . /tmp | grep -c "[ab]"; true')).toBe('0\n');
  });

  it('shows no files of the worker, and cannot write to the system', async () => {
    const hidden = [folder, process.cwd(), '/root', '/home', '/etc/shadow', '/proc/1/root/root', '/var'];
    expect(await inside(`for f in ${hidden.join(' ')}; do test -e $f && echo $f; done; true`)).toBe('');
    expect(await inside('touch /usr/x /bin/x /x 2>/dev/null; ls /usr/x /x 2>/dev/null; id -u; true')).toBe('65534\n');
  });

  it('has no network, and sees no other process', async () => {
    let connections = 0;
    const server = createServer(() => connections++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const tried = `(echo > /dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo reached`;
    expect(await inside(`${tried}; ls -d /proc/[0-9]* | wc -l | awk '{print ($1 < 8)}'`)).toBe('1\n');
    server.close();
    expect(connections).toBe(0);
  });

  it('is not left by what its environment loads', async () => {
    const mark = join(folder, 'loaded');
    writeFileSync(join(folder, 'env.sh'), `touch ${mark}`);
    const env = { LD_PRELOAD: join(folder, 'x.so'), BASH_ENV: join(folder, 'env.sh'), ENV: join(folder, 'env.sh') };
    await inside('true', { env });
    expect(existsSync(mark)).toBe(false);
  });

  it('works in a folder that the host names, and in no other', async () => {
    const allowed = join(folder, 'allowed');
    mkdirSync(join(allowed, 'sub'), { recursive: true });
    symlinkSync('/root', join(allowed, 'out'));
    const settings: ActivitySettings = { ...SANDBOX, bashFolders: ['/nowhere', allowed] };
    expect(await inside('pwd; echo kept > file', { cwd: join(allowed, 'sub') }, settings)).toBe(`${allowed}/sub\n`);
    expect(readFileSync(join(allowed, 'sub/file'), 'utf8')).toBe('kept\n');
    for (const cwd of [folder, '/', join(allowed, 'out'), join(allowed, '..'), `${allowed}-not`]) {
      mkdirSync(`${allowed}-not`, { recursive: true });
      expect(await failing({ command: 'true', cwd }, { settings })).toMatchObject({ type: 'bash_cwd_not_allowed' });
    }
  });

  it('neither shows hidden folders nor works in them, except for a folder within that the host lists', async () => {
    const clone = join(folder, 'clone');
    const [kept, named] = [join(clone, 'data'), join(clone, 'named')];
    for (const place of [kept, named]) mkdirSync(place, { recursive: true });
    writeFileSync(join(kept, 'master.key'), CANARY);
    writeFileSync(join(clone, 'program.js'), CANARY);
    const settings: ActivitySettings = { ...SANDBOX, bashFolders: [folder, named] };
    const hidden = [clone, kept, '/usr/share', join(folder, 'not-there')];
    const { bash } = createActivities(settings, { bash: { hidden } });
    const shows = async (command: string, cwd?: string) => {
      const config = { command, timeoutMs: 20_000, ...(cwd === undefined ? {} : { cwd }) };
      const { data } = (await environment().run(bash!, inputOf(config))) as ActivityOutput;
      return (data as { stdout: string }).stdout;
    };
    expect(await shows('ls -A /usr/share | wc -l; touch /usr/share/x 2>/dev/null || echo no')).toBe('0\nno\n');
    expect(await shows(`ls -A ${clone}; cat ${kept}/* ${clone}/* 2>/dev/null; true`, folder)).not.toContain('canary');
    expect(await shows(`find ${clone} -type f`, folder)).toBe('');
    for (const cwd of [clone, kept])
      await expect(shows('pwd', cwd)).rejects.toMatchObject({ type: 'bash_cwd_not_allowed' });
    const only = createActivities({ ...SANDBOX, bashFolders: [named] }, { bash: { hidden } })['bash']!;
    const writes = inputOf({ command: 'echo kept > file; ls ..', timeoutMs: 20_000, cwd: named });
    expect(await environment().run(only, writes)).toMatchObject({ data: { stdout: 'named\n' } });
    expect(readFileSync(join(named, 'file'), 'utf8')).toBe('kept\n');
  });

  it('ends a command that takes too many processes or too much memory', async () => {
    const limits = { memoryBytes: 64 * 1024 * 1024, processes: 20 };
    const { bash } = createActivities(SANDBOX, { bash: { limits } });
    const ends = (command: string) =>
      environment()
        .run(bash!, inputOf({ command, timeoutMs: 20_000 }))
        .catch((error: unknown) => error);
    const forks = 'for i in $(seq 60); do sleep 62 & done; wait';
    expect(await ends(forks)).toMatchObject({ type: 'bash_processes:20', nonRetryable: true });
    await expect.poll(() => spawnSync('pgrep', ['-f', '^sleep 62$']).stdout.toString()).toBe('');
    // The kernel refuses memory to one process that takes it all; several together are ended.
    expect(await ends('head -c 80000000 /dev/zero | tail -c 80000000 > /dev/null')).toMatchObject({
      type: expect.stringMatching(/^bash_(exit_code:1|memory:67108864)$/),
    });
    // Without a command after it, bash would become `sleep`, and give its memory back.
    const several = 'for i in 1 2 3; do (x=$(head -c 30000000 /dev/zero | tr "\\0" a); sleep 5; true) & done; wait';
    expect(await ends(several)).toMatchObject({ type: 'bash_memory:67108864' });
    expect(await ends('echo fine')).toMatchObject({ data: { stdout: 'fine\n' } });
  });

  it('makes no namespaces of its own', async () => {
    expect(await inside('unshare -U true 2>/dev/null && echo made; true')).toBe('');
  });

  it('is ended with all that it started', async () => {
    const failed = await failing({ command: 'setsid sleep 61 & sleep 61', timeoutMs: 700 }, { settings: SANDBOX });
    expect(failed).toMatchObject({ type: 'bash_timeout:700' });
    await expect.poll(() => spawnSync('pgrep', ['-f', '^sleep 61$']).stdout.toString()).toBe('');
  });
});
