// A stack that is backed up while it works, and restored elsewhere: runs that waited continue.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compiledRoot } from '../../src/cli/start/project-root.ts';
import { serve, type TestServer } from '../activities/server.ts';
import { approvalDefinition, requestTo } from '../e2e/gateway/gateway-support.ts';
import { type DataFolder, dataFolder, type Stack, sleep, startStack, until } from '../support/stack.ts';

const CANARY = 'the-secret-of-the-backup-test';
/** More than the limit above which payloads are kept outside of Temporal. */
const LARGE = 'large '.repeat(60_000);

let other: TestServer;
const folders: DataFolder[] = [];
const stacks: Stack[] = [];
const folderFor = (): DataFolder => {
  const folder = dataFolder();
  folders.push(folder);
  return folder;
};
const started = async (folder: DataFolder, env: NodeJS.ProcessEnv = {}): Promise<Stack> => {
  const stack = await startStack(folder.path, { SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8', ...env });
  stacks.push(stack);
  return stack;
};
const ask = (stack: Stack, method: string, path: string, json?: object) =>
  requestTo(stack.note.gateway?.url ?? '', method, path, json === undefined ? {} : { json: json as never });
const start = async (stack: Stack, workflowId: string, input: object): Promise<string> => {
  const answer = await ask(stack, 'POST', '/api/triggers/manual/run', { workflowId, input });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.executionId as string;
};
const statusIs = (stack: Stack, id: string, status: string): Promise<void> =>
  until(`${id} is ${status}`, 40_000, async () => {
    const { body } = await ask(stack, 'GET', `/api/executions/${id}`);
    return body.status === status;
  });
const resultOf = async (stack: Stack, id: string) =>
  (await ask(stack, 'GET', `/api/executions/${id}/result?wait=30`)).body;

/** Runs `signalbox …` on a data folder. */
function signalbox(folder: DataFolder, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const given: NodeJS.ProcessEnv = { ...process.env, SIGNALBOX_DATA: folder.path, ...env };
  delete given['TEMPORAL_ADDRESS'];
  delete given['TEMPORAL_NAMESPACE'];
  const done = spawnSync(process.execPath, [join(compiledRoot(), 'src/cli/main.js'), ...args], {
    env: given,
    encoding: 'utf8',
  });
  return { code: done.status, output: `${done.stdout}${done.stderr}` };
}

beforeAll(async () => {
  other = await serve((_seen, response) => response.setHeader('content-type', 'application/json').end('{}'));
});
afterAll(async () => {
  for (const { child } of stacks) child.kill('SIGKILL');
  for (const folder of folders) folder.remove();
  await other.close();
});

describe('a backup', { timeout: 240_000 }, () => {
  const place = folderFor();
  const first = folderFor();
  const file = join(place.path, 'stack.backup');
  const acknowledged: string[] = [];
  let waiting: string;
  let large: string;
  let sleeping: string;
  let stack: Stack;

  test('is written while runs start, and is of one moment', async () => {
    stack = await started(first);
    expect((await ask(stack, 'PUT', '/api/secrets/pay', { value: CANARY })).status).toBe(201);
    const paying = {
      name: 'Pay',
      slug: 'pay',
      config: { secrets: { PAY: 'pay' } },
      start: 'rest',
      steps: {
        rest: { stepType: 'sleep', config: { duration: '20s' }, nextSteps: { success: 'call' } },
        call: {
          stepType: 'http',
          config: { url: `${other.url}/pay`, auth: { type: 'bearer', token: '{{ secrets.PAY }}' } },
          nextSteps: { success: 'end' },
        },
        end: { stepType: 'finish', config: { output: 'paid' } },
      },
    };
    const echo = approvalDefinition('echo');
    (echo['steps'] as { yes: object }).yes = { stepType: 'finish', config: { output: '{{ input.text|length }}' } };
    for (const one of [paying, echo, approvalDefinition('ask')])
      expect((await ask(stack, 'PUT', `/api/workflows/${one['slug'] as string}`, one)).status).toBe(201);
    waiting = await start(stack, 'ask', { amount: 7 });
    large = await start(stack, 'echo', { amount: 1, text: LARGE });
    sleeping = await start(stack, 'pay', {});
    await statusIs(stack, waiting, 'waiting');
    await statusIs(stack, large, 'waiting');

    let isOver = false;
    const load = (async () => {
      while (!isOver) acknowledged.push(await start(stack, 'ask', { amount: acknowledged.length }));
    })();
    await until('runs start', 30_000, () => acknowledged.length > 5);
    const before = acknowledged.length;
    const done = await new Promise<{ code: number | null; output: string }>((resolve) => {
      const env: NodeJS.ProcessEnv = { ...process.env, SIGNALBOX_DATA: first.path };
      delete env['TEMPORAL_ADDRESS'];
      const child = spawn(process.execPath, [join(compiledRoot(), 'src/cli/main.js'), 'backup', file, '--json'], {
        env,
      });
      let output = '';
      child.stdout.on('data', (chunk) => {
        output += String(chunk);
      });
      child.stderr.on('data', (chunk) => {
        output += String(chunk);
      });
      child.once('exit', (code) => resolve({ code, output }));
    });
    isOver = true;
    await load;
    expect(done.code, done.output).toBe(0);
    const said = JSON.parse(done.output) as { stoppedMs: number; blobs: number; bytes: { database: number } };
    expect(said.stoppedMs).toBeLessThan(5_000);
    expect(said.blobs).toBeGreaterThan(0);
    expect(said.bytes.database).toBeGreaterThan(100_000);
    console.log(`stood still for ${said.stoppedMs} ms with ${said.bytes.database} bytes of database`);
    acknowledged.length = before;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(first.path).filter((name) => name.startsWith('backup-'))).toEqual([]);
    // The stack keeps running.
    await start(stack, 'ask', { amount: 1 });
  });

  test('refuses to overwrite a file, and a folder without a database', () => {
    const again = signalbox(first, ['backup', file]);
    expect([again.code, again.output]).toEqual([10, expect.stringContaining('exists')]);
    expect(signalbox(first, ['backup', file, '--replace']).code).toBe(0);
    const empty = signalbox(folderFor(), ['backup', `${file}.2`]);
    expect([empty.code, empty.output]).toEqual([10, expect.stringContaining('There is no database in')]);
    expect(existsSync(`${file}.2`)).toBe(false);
  });

  test('is refused by a running stack, a folder with a database, and another key', async () => {
    const running = signalbox(first, ['restore', file]);
    expect([running.code, running.output]).toEqual([10, expect.stringContaining('A stack runs on')]);
    // What happens after the backup is not in it.
    expect((await ask(stack, 'POST', `/api/executions/${waiting}/approve`, { approve: false })).status).toBe(200);
    await stack.end('SIGTERM');
    const present = signalbox(first, ['restore', file]);
    expect([present.code, present.output]).toEqual([10, expect.stringContaining('holds temporal.db, master.key')]);
    const key = Buffer.alloc(32, 7).toString('base64');
    const otherKey = signalbox(folderFor(), ['restore', file], { SIGNALBOX_MASTER_KEY: key });
    expect([otherKey.code, otherKey.output]).toEqual([10, expect.stringContaining('another master key')]);
  });

  test('is refused where it is damaged, and changes nothing', () => {
    const target = folderFor();
    const whole = readFileSync(file);
    const content = gunzipSync(whole);
    const changed = Buffer.from(content);
    changed[Math.floor(content.length / 2)]! ^= 1;
    const cases: [Buffer, RegExp][] = [
      [whole.subarray(0, whole.length - 5_000), /no backup that can be read/],
      [gzipSync(changed), /damaged|no backup/],
      [gzipSync(content.subarray(0, content.length - 4_096)), /no backup that can be read/],
      [Buffer.from('text'), /not compressed/],
    ];
    const damaged = join(place.path, 'damaged');
    for (const [bytes, why] of cases) {
      writeFileSync(damaged, bytes);
      const refused = signalbox(target, ['restore', damaged]);
      expect([refused.code, refused.output]).toEqual([10, expect.stringMatching(why)]);
      expect(readdirSync(target.path)).toEqual([]);
    }
  });

  test('brings back runs that waited, which continue with their payloads and secrets', async () => {
    const second = folderFor();
    const restored = signalbox(second, ['restore', file]);
    expect([restored.code, restored.output]).toEqual([0, expect.stringContaining('Restored the state of')]);
    const back = await started(second);
    await statusIs(back, waiting, 'waiting');
    for (const id of acknowledged) expect((await ask(back, 'GET', `/api/executions/${id}`)).status, id).toBe(200);
    expect((await ask(back, 'POST', `/api/executions/${waiting}/approve`, { approve: true })).status).toBe(200);
    expect(await resultOf(back, waiting)).toMatchObject({ status: 'completed', output: { paid: 7 } });
    expect((await ask(back, 'POST', `/api/executions/${large}/approve`, { approve: true })).status).toBe(200);
    expect(await resultOf(back, large)).toMatchObject({ status: 'completed', output: LARGE.length });
    expect(await resultOf(back, sleeping)).toMatchObject({ status: 'completed', output: 'paid' });
    expect(other.seen.at(-1)?.headers['authorization']).toBe(`Bearer ${CANARY}`);
    await back.end('SIGTERM');

    const aside = signalbox(second, ['restore', file, '--replace', '--json']);
    expect(aside.code, aside.output).toBe(0);
    const { before } = JSON.parse(aside.output) as { before: string };
    expect(readdirSync(before)).toContain('temporal.db');
  });

  test('resumes the server if it is killed while the server is stopped', async () => {
    const victim = spawn('sleep', ['600']);
    const code = `import(${JSON.stringify(pathToFileURL(join(compiledRoot(), 'src/cli/backup/pause-process.js')).href)})
      .then(({ withProcessPaused }) => withProcessPaused(${victim.pid}, () => new Promise((resolve) => {
        console.log('stopped');
        setTimeout(resolve, 60_000);
      })));`;
    const copier = spawn(process.execPath, ['-e', code]);
    let said = '';
    copier.stdout.on('data', (chunk) => {
      said += String(chunk);
    });
    await until('it stands still', 30_000, () => said.includes('stopped'));
    const state = (): string => {
      const { stdout } = spawnSync('ps', ['-o', 'state=', '-p', String(victim.pid)], { encoding: 'utf8' });
      return stdout.trim()[0] ?? '';
    };
    expect(state()).toBe('T');
    copier.kill('SIGKILL');
    await until('it goes on', 30_000, () => state() !== 'T');
    await sleep(50);
    expect(victim.exitCode).toBeNull();
    victim.kill('SIGKILL');
  });
});
