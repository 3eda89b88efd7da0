// A whole stack whose parts fail while runs are active: a worker without memory, an unavailable Temporal server.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectRoot } from '../../src/cli/start/project-root.ts';
import { type TestServer as HttpServer, serve } from '../activities/server.ts';
import { type DataFolder, dataFolder, type Stack, sleep, startStack, until } from '../support/stack.ts';

/** Whether a process has come to the stop that it was sent; elsewhere than on Linux that cannot be seen. */
const isStopped = (pid: number): boolean =>
  !existsSync('/proc/self/stat') || /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));

/** As long as the threat model says. */
const UNAVAILABLE_MS = 60_000;

/** Takes all the memory that there is, the first time it is asked. */
const GREEDY = `import { existsSync, writeFileSync } from 'node:fs';
import { defineAction } from 'signalbox/action';
import { z } from 'zod';
export const greedy = defineAction({
  type: 'test.greedy',
  input: z.object({ mark: z.string() }),
  output: z.unknown(),
  run: ({ mark }, { idempotencyKey }) => {
    if (existsSync(mark)) return { idempotencyKey };
    writeFileSync(mark, idempotencyKey);
    const kept = [];
    for (;;) kept.push(new Array(100_000).fill(kept.length));
  },
});
`;

let folder: DataFolder;
let stack: Stack;
let other: HttpServer;
let url: string;
beforeAll(async () => {
  other = await serve((_seen, response) => response.setHeader('content-type', 'application/json').end('1'));
  folder = dataFolder();
  const project = join(folder.path, 'project');
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  mkdirSync(join(project, 'actions'));
  symlinkSync(projectRoot(), join(project, 'node_modules/signalbox'));
  symlinkSync(join(projectRoot(), 'node_modules/zod'), join(project, 'node_modules/zod'));
  writeFileSync(join(project, 'actions/greedy.mjs'), GREEDY);
  stack = await startStack(folder.path, {
    SIGNALBOX_ACTIONS: join(project, 'actions'),
    SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8',
    NODE_OPTIONS: '--max-old-space-size=256',
  });
  url = stack.note.gateway?.url ?? '';
});
afterAll(async () => {
  await stack.end('SIGTERM');
  folder.remove();
  await other.close();
});

const start = async (definition: object): Promise<string> => {
  const answer = await fetch(`${url}/api/executions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ definition }),
  });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { executionId: string }).executionId;
};
const result = async (id: string): Promise<{ status: string; output?: unknown }> => {
  const answer = await fetch(`${url}/api/executions/${id}/result?wait=30`);
  return (await answer.json()) as { status: string; output?: unknown };
};

describe('a stack', { timeout: 150_000 }, () => {
  test('starts a worker again that ran out of memory, and its runs continue with the keys that they had', async () => {
    const mark = join(folder.path, 'mark');
    const id = await start({
      name: 'Greedy',
      slug: 'greedy',
      start: 'take',
      steps: {
        take: {
          stepType: 'action',
          timeout: '5s',
          retry: { maxAttempts: 10, initialInterval: '100ms' },
          config: { type: 'test.greedy', parameters: { mark } },
          nextSteps: { success: 'end' },
        },
        end: { stepType: 'finish', config: { output: '{{ steps.take.output.data.idempotencyKey }}' } },
      },
    });
    expect(await result(id)).toEqual({ status: 'completed', output: `${id}/take` });
    expect(stack.output()).toMatch(/The worker .*again/);
    expect(stack.child.exitCode).toBeNull();
  });

  test(`answers 503 while Temporal is unavailable for ${UNAVAILABLE_MS / 1_000} s, then runs continue`, async () => {
    const id = await start({
      name: 'Patient',
      slug: 'patient',
      start: 'first',
      steps: {
        first: {
          stepType: 'http',
          config: { method: 'POST', url: `${other.url}/first` },
          nextSteps: { success: 'rest' },
        },
        rest: { stepType: 'sleep', config: { duration: '2s' }, nextSteps: { success: 'second' } },
        second: {
          stepType: 'http',
          config: { method: 'POST', url: `${other.url}/second` },
          nextSteps: { success: 'end' },
        },
        end: { stepType: 'finish', config: { output: 'there' } },
      },
    });
    // An effect whose end was not reported when the server stops would be repeated.
    await until('it rests after the first effect', 30_000, async () => {
      const answer = await fetch(`${url}/api/executions/${id}`);
      return ((await answer.json()) as { status: string }).status === 'waiting';
    });
    const server = stack.note.temporal.server?.pid ?? 0;
    process.kill(server, 'SIGSTOP');
    await until('the server stands still', 30_000, () => isStopped(server));
    const away = Date.now();
    const asked = await fetch(`${url}/api/executions/${id}`, { signal: AbortSignal.timeout(30_000) });
    expect(asked.status).toBe(503);
    expect(Number(asked.headers.get('retry-after'))).toBeGreaterThan(0);
    await asked.body?.cancel();
    await sleep(Math.max(0, UNAVAILABLE_MS - (Date.now() - away)));
    // Longer than the sleep of the run: its timer is overdue by now.
    process.kill(server, 'SIGCONT');
    await until('it has ended', 60_000, async () => {
      const answer = await fetch(`${url}/api/executions/${id}`);
      return answer.status === 200 && ((await answer.json()) as { status: string }).status === 'completed';
    });
    expect(other.seen.map((seen) => seen.url)).toEqual(['/first', '/second']);
    expect(new Set(other.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
  });
});
