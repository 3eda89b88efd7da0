// The action of the manual's page actions.md, in a developer's folder, in a stack as `npm start` runs it.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { compiledRoot, projectRoot } from '../../../src/cli/start/project-root.ts';
import type { Json } from '../../../src/json/json.ts';
import { dataFolder, type Stack, startStack } from '../../support/stack.ts';
import { type Answer, requestTo, unique } from '../gateway/gateway-support.ts';

const SLOW = `import { defineAction } from 'signalbox/action';
import { z } from 'zod';

let attempts = 0;
export const flaky = defineAction({
  type: 'test.flaky',
  summary: 'Fails once.',
  input: z.object({}),
  output: z.string(),
  run: (_input, { attempt, idempotencyKey }) => {
    attempts += 1;
    if (attempts === 1) throw new Error('not yet');
    return attempt + ' ' + idempotencyKey;
  },
});
export const waits = defineAction({
  type: 'test.waits',
  summary: 'Waits until it is cancelled.',
  input: z.object({ file: z.string() }),
  output: z.null(),
  run: async ({ file }, { signal, heartbeat }) => {
    const { writeFileSync } = await import('node:fs');
    heartbeat({ at: 'the beginning' });
    writeFileSync(file, 'begun');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    writeFileSync(file, 'cancelled');
    return null;
  },
});
`;

const project = mkdtempSync(join(tmpdir(), 'signalbox-project-'));
const actions = join(project, 'actions');
const data = dataFolder();
let stack: Stack;

beforeAll(async () => {
  mkdirSync(actions);
  mkdirSync(join(project, 'node_modules'));
  // As npm installs them.
  symlinkSync(projectRoot(), join(project, 'node_modules/signalbox'));
  symlinkSync(join(projectRoot(), 'node_modules/zod'), join(project, 'node_modules/zod'));
  const example = /```js\n([\s\S]*?)```/.exec(
    readFileSync(join(projectRoot(), 'src/gateway/manual/pages/actions.md'), 'utf8'),
  )?.[1];
  writeFileSync(join(actions, 'greeting.mjs'), example ?? '');
  writeFileSync(join(actions, 'others.mjs'), SLOW);
  stack = await startStack(data.path, {
    SIGNALBOX_ACTIONS: actions,
    SIGNALBOX_TASK_QUEUE: `test-${randomBytes(6).toString('hex')}`,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
  });
});
afterAll(async () => {
  await stack?.end('SIGTERM');
  data.remove();
  rmSync(project, { recursive: true, force: true });
});

const request = (method: string, path: string, json?: Json): Promise<Answer> =>
  requestTo(stack.note.gateway?.url ?? '', method, path, json === undefined ? {} : { json });
const one = (type: string, parameters: Json, more: { [member: string]: Json } = {}): Json => ({
  name: unique('action'),
  input: {},
  steps: { call: { stepType: 'action', config: { type, parameters }, ...more } },
});
async function ended(definition: Json, input: Json = {}): Promise<Answer & { id: string }> {
  const { status, body } = await request('POST', '/api/executions', { definition, input });
  expect(status, JSON.stringify(body)).toBe(201);
  return { ...(await request('GET', `/api/executions/${body.executionId}/result?wait=30`)), id: body.executionId };
}

describe('a host action', () => {
  it('runs, with its parameters evaluated and its defaults filled in', async () => {
    const { body, id } = await ended(one('greeting.make', { name: '{{ input.name }}', times: 2 }), { name: 'Ann' });
    expect(body).toMatchObject({ status: 'completed', output: { text: 'Hello, Ann! Hello, Ann!' } });
    const { events } = await stack.client.workflow.getHandle(id).fetchHistory();
    const kinds = (events ?? []).map((event) => Object.keys(event).find((key) => key.endsWith('Attributes')));
    // It is light: a marker, and no activity of its own.
    expect(kinds).toContain('markerRecordedEventAttributes');
    expect(kinds).not.toContain('activityTaskScheduledEventAttributes');
  });

  it('fails as it says', async () => {
    const { body } = await ended(one('greeting.make', { name: 'nobody' }));
    expect(body).toMatchObject({ status: 'failed', error: { code: 'nobody_there', path: 'call', retryable: false } });
  });

  it('that is not light is an activity, tried again with the same key', async () => {
    const { body, id } = await ended(one('test.flaky', {}, { retry: { initialInterval: '10ms' } }));
    expect(body).toMatchObject({ status: 'completed', output: `2 ${id}/call` });
    const steps = await request('GET', `/api/executions/${id}/steps`);
    expect(steps.body.items).toMatchObject([{ path: 'call', status: 'completed', attempts: 2 }]);
  });

  it('is cancelled with its run', async () => {
    const file = join(project, 'state');
    const started = await request('POST', '/api/executions', { definition: one('test.waits', { file }) });
    const state = (): string => {
      try {
        return readFileSync(file, 'utf8');
      } catch {
        return '';
      }
    };
    await expect.poll(state).toBe('begun');
    await request('POST', `/api/executions/${started.body.executionId}/cancel`, {});
    await expect.poll(state).toBe('cancelled');
  });
});

describe('a host action is known', () => {
  it('to the checker, of the gateway and of the command line', async () => {
    const wrong = one('greeting.make', { nam: 'Ann', times: '{{ input.n }}' });
    const { body } = await request('POST', '/api/workflows/validate', wrong);
    expect(body.problems.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`)).toEqual([
      '/steps/call/config/parameters/name missing_member',
      '/steps/call/config/parameters/nam unknown_member',
    ]);
    const unknown = await request('POST', '/api/workflows/validate', one('greeting.mak', {}));
    const hint = 'Did you mean "greeting.make"? Actions of your own come from the folder that SIGNALBOX_ACTIONS names.';
    expect(unknown.body.problems).toMatchObject([{ code: 'unknown_action', hint }]);
    const file = join(project, 'definition.json');
    writeFileSync(file, JSON.stringify(one('greeting.make', { name: 'Ann' })));
    const validate = (env: NodeJS.ProcessEnv) =>
      spawnSync(process.execPath, [join(compiledRoot(), 'src/cli/main.js'), 'validate', file], { env }).status;
    expect([validate({ SIGNALBOX_ACTIONS: actions }), validate({})]).toEqual([0, 10]);
  });

  it('to editors and readers', async () => {
    const schema = await request('GET', '/schema.json');
    expect(schema.body.definitions['greeting.make.parameters']).toMatchObject({ required: ['name'] });
    const page = await request('GET', '/docs/actions.md');
    expect(page.body).toContain('## greeting.make\n\nGreets somebody.');
    expect(page.body).toContain('| **`name`** | text | Required. Whom. |');
  });
});
