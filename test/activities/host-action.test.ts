import { CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createActivities } from '../../activities/registry.ts';
import { type ActionContext, ActionFailure, defineAction } from '../../src/actions/define.ts';
import type { JsonObject } from '../../src/json/json.ts';
import type { SecretString } from '../../src/template/types.ts';
import { environment, inputOf, LOOPBACK } from './server.ts';

const CANARY = 'canary-of-a-key';
let seen: ActionContext;

const greet = defineAction({
  type: 'greeting.make',
  summary: 'Greets.',
  input: z.strictObject({ name: z.string().transform((name) => name.trim()), fails: z.string().optional() }),
  output: z.object({
    text: z.string(),
    at: z
      .date()
      .optional()
      .transform((at) => at?.toISOString()),
  }),
  run: async ({ name, fails }, context) => {
    seen = context;
    switch (fails) {
      case 'typed':
        throw new ActionFailure('crm_busy', `Not now, ${name}.`, {
          retryable: true,
          retryAfterMs: 50,
          details: { name },
        });
      case 'plainly':
        throw new TypeError(`no ${name}`);
      case 'to end':
        return new Promise(() => undefined);
      case 'its output':
        return { text: 5 as never };
      default:
        return { text: `Hello, ${name}`, at: new Date(0) };
    }
  },
});
const hasty = { ...greet, type: 'greeting.hasty', timeoutMs: 300 };
const light = defineAction({
  type: 'greeting.light',
  summary: 'Greets at once.',
  input: z.object({}),
  output: z.string(),
  light: true,
  run: () => 'hi',
});

const asking = defineAction({
  type: 'greeting.asking',
  summary: 'Asks somebody else whether the name is right.',
  input: z.object({ name: z.string().refine(async (name) => name === 'Ann', 'is nobody we know') }),
  output: z.string(),
  run: ({ name }) => name,
});

const actions = new Map([greet, hasty, light, asking].map((action) => [action.type, action]));
const { hostAction } = createActivities(LOOPBACK, { actions, secrets: { read: async () => CANARY } });
const run = (
  parameters: JsonObject,
  more: JsonObject = {},
  secrets: readonly SecretString[] = [],
  at = environment(),
) => at.run(hostAction!, inputOf({ type: 'greeting.make', parameters, ...more }, secrets));
const failing = (...given: Parameters<typeof run>) =>
  run(...given).then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  );

describe('a host action', () => {
  it('gets what its schema makes of the parameters, and gives what its schema makes of the result', async () => {
    expect(await run({ name: ' Ann ' })).toEqual({ data: { text: 'Hello, Ann', at: '1970-01-01T00:00:00.000Z' } });
  });

  it('knows its visit and a key that is the same for every attempt', async () => {
    await run({ name: 'Ann' });
    expect(seen).toMatchObject({
      idempotencyKey: 'run.default.w.1/pay#2',
      attempt: 2,
      execution: { workflow: 'w', organizationId: 'default' },
      path: 'pay#2',
      stepSlug: 'pay',
    });
  });

  it('is not begun with parameters that do not fit', async () => {
    expect(await failing({ name: 5 })).toMatchObject({
      type: 'invalid_config',
      nonRetryable: true,
      message: 'greeting.make does not accept these parameters: Expected string, got number. (/parameters/name)',
      details: [{ details: { problems: [{ pointer: '/parameters/name', code: 'wrong_type' }] } }],
    });
  });

  it('may have schemas that ask others', async () => {
    expect(await run({ name: 'Ann' }, { type: 'greeting.asking' })).toEqual({ data: 'Ann' });
    expect(await failing({ name: 'Bo' }, { type: 'greeting.asking' })).toMatchObject({
      type: 'invalid_config',
      message: 'greeting.asking does not accept these parameters: is nobody we know (/parameters/name)',
    });
  });

  it('fails as it says', async () => {
    expect(await failing({ name: 'Ann', fails: 'typed' })).toMatchObject({
      type: 'crm_busy',
      message: 'Not now, Ann.',
      nonRetryable: false,
      nextRetryDelay: 50,
      details: [{ retryable: true, attempts: 2, details: { name: 'Ann' } }],
    });
    expect(await failing({ name: 'Ann', fails: 'plainly' })).toMatchObject({
      type: 'action_failed',
      message: 'no Ann',
      nonRetryable: false,
    });
    expect(await failing({ name: 'Ann', fails: 'its output' })).toMatchObject({
      type: 'invalid_output',
      nonRetryable: true,
      details: [{ details: { problems: [{ pointer: '/text' }] } }],
    });
  });

  it('is ended when it takes too long, and when it is cancelled, whether it heeds the signal or not', async () => {
    expect(await failing({ name: 'Ann', fails: 'to end' }, { type: hasty.type })).toMatchObject({
      type: 'action_timeout',
      nonRetryable: false,
      details: [{ details: { timeoutMs: 300 } }],
    });
    expect(seen.signal.aborted).toBe(true);
    const own = environment();
    const { signal } = seen;
    const running = expect(run({ name: 'Ann', fails: 'to end' }, {}, [], own)).rejects.toBeInstanceOf(CancelledFailure);
    await expect.poll(() => seen.signal).not.toBe(signal);
    own.cancel();
    await running;
  });

  it('does not begin where it is cancelled while its schema asks others', async () => {
    const own = environment();
    let runs = 0;
    const slow = defineAction({
      type: 'greeting.slow',
      summary: 'Asks for long whether the name is right.',
      input: z.object({ name: z.string().refine(async () => own.cancel() ?? true) }),
      output: z.string(),
      run: () => `run ${++runs}`,
    });
    const activities = createActivities(LOOPBACK, { actions: new Map([[slow.type, slow]]) });
    const running = own.run(activities['hostAction']!, inputOf({ type: slow.type, parameters: { name: 'Ann' } }));
    await expect(running).rejects.toBeInstanceOf(CancelledFailure);
    expect(runs).toBe(0);
  });

  it('is unknown_action where the host has none of that name', async () => {
    expect(await failing({}, { type: 'greeting.mak' })).toMatchObject({
      type: 'unknown_action',
      nonRetryable: true,
      message: expect.stringContaining('SIGNALBOX_ACTIONS'),
    });
  });

  it('has secrets in its parameters, and they are in nothing that it gives', async () => {
    const secrets = [{ path: ['parameters', 'name'], parts: [{ secret: 'k' }] }];
    expect(await run({ name: null }, {}, secrets)).toMatchObject({ data: { text: 'Hello, [secret]' } });
    for (const fails of ['typed', 'plainly']) {
      const error = await failing({ name: null, fails }, {}, secrets);
      expect(JSON.stringify([error.message, error.details, error.stack])).not.toContain('canary');
    }
  });

  it('refuses to run as a local activity unless it is light, or the step says local', async () => {
    const local = () => new MockActivityEnvironment({ isLocal: true }, { logger: new DefaultLogger('ERROR') });
    expect(await failing({ name: 'Ann' }, {}, [], local())).toMatchObject({ type: 'not_light', nonRetryable: false });
    expect(await run({ name: 'Ann' }, { local: true }, [], local())).toMatchObject({ data: { text: 'Hello, Ann' } });
    expect(await run({}, { type: 'greeting.light' }, [], local())).toEqual({ data: 'hi' });
  });
});
