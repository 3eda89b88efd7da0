import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { historyToJSON } from '../support/sdk.ts';
import { afterAll, beforeAll, it } from 'vitest';
import type { ActivityInput } from '../../src/contract/run/activity.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { abreast, approve, collect, fetchOnce, rounds } from '../e2e/runs/run-definitions.ts';
import { memoOf, startRun, until, waitsAt } from '../e2e/runs/run-support.ts';
import { startWorker, type TestServer, type TestWorker, testServer } from '../support/temporal.ts';

// Records the histories that test/replay replays, on a real server:
//
//   npx vitest run --config test/histories/record.config.ts
//
// It writes into the folder of the package's version. No file of a version that was released is recorded again: it is a
// history of a run or an actor in flight, and later versions have to replay it (workflows/TEMPORAL.md). A new case may
// be added to that version, by its own code and with -t (test/README.md).

const LIMIT = 30;
const ACTOR_LIMIT = 20;
const here = fileURLToPath(new URL('.', import.meta.url));
const { version } = JSON.parse(readFileSync(join(here, '../../package.json'), 'utf8')) as { version: string };
const folder = join(here, version);

/** 30,000 pure steps: the walk yields. */
const longWalk: Definition = {
  name: 'Long walk',
  slug: 'long-walk',
  steps: {
    count: {
      stepType: 'loop',
      config: { initial: 0, next: '{{ loop.carry + 1 }}', while: 'loop.carry < 15000', maxIterations: 20000 },
      nextSteps: { loop: 'mark', done: 'done' },
    },
    mark: { stepType: 'removed' },
    done: { stepType: 'finish', config: { output: '{{ steps.count.output.data.value }}' } },
  },
};

const local: Definition = {
  name: 'Local',
  slug: 'local',
  steps: {
    get: {
      stepType: 'http',
      config: { url: 'https://example.com/local' },
      local: true,
      nextSteps: { success: 'again' },
    },
    again: {
      stepType: 'http',
      config: { url: 'https://example.com/refused' },
      local: true,
      retry: { initialInterval: 10 },
      nextSteps: { success: 'rest' },
    },
    rest: { stepType: 'sleep', config: { duration: 20 }, nextSteps: { success: 'done' } },
    done: { stepType: 'finish', config: { output: '{{ steps.get.output.data }}' } },
  },
};

/** Twenty light steps of 30 ms in a row, in parallel with an approval: a local segment, then regular ones. */
const segments: Definition = {
  name: 'Segments',
  slug: 'segments',
  steps: {
    both: { stepType: 'parallel', nextSteps: { work: 'each', ask: 'ask' } },
    each: {
      stepType: 'forEach',
      config: { items: Array.from({ length: 20 }, (_, n) => n), concurrency: 1 },
      nextSteps: { item: 'get' },
    },
    get: { stepType: 'http', config: { url: 'https://example.com/slow', idempotent: true } },
    ask: { stepType: 'approval', config: { message: 'Go on?' } },
  },
};

/** Light steps whose charged bytes pass what a segment may carry, while the state stays small. */
const segmentsGrown: Definition = {
  name: 'Segments grown',
  slug: 'segments-grown',
  steps: {
    each: {
      stepType: 'loop',
      config: { initial: 0, next: '{{ loop.carry + 1 }}', while: 'loop.carry < 600', maxIterations: 600 },
      nextSteps: { loop: 'get', done: 'done' },
    },
    get: { stepType: 'http', config: { url: 'https://example.com/quick', idempotent: true } },
    done: { stepType: 'finish', config: { output: '{{ steps.each.output.data.value }}' } },
  },
};

/** An agent whose first turn has two calls, each of which asks; after it a step fails. */
const asks: Definition = {
  name: 'Asks',
  slug: 'asks',
  steps: {
    work: {
      stepType: 'agent',
      config: { userPrompt: 'Go.', mcpServerIds: ['shop'], approval: { tools: ['shop/refund'], message: 'Refund?' } },
      nextSteps: { success: 'end' },
    },
    end: { stepType: 'http', config: { url: 'https://example.com/gone' } },
  },
};

/** The second child's input is refused from 0.4 on. */
const children: Definition = {
  name: 'Children',
  slug: 'children',
  steps: {
    first: {
      stepType: 'run_workflow',
      config: { workflow: 'double', input: { n: 1 } },
      nextSteps: { success: 'second' },
    },
    second: {
      stepType: 'run_workflow',
      config: { workflow: 'double', input: { n: 'two' } },
      onError: 'continue',
      nextSteps: { success: 'done' },
    },
    done: { stepType: 'finish', config: { output: '{{ steps.first.output.data }}' } },
  },
};
const double: Definition = {
  name: 'Double',
  slug: 'double',
  input: { n: 'number', by: { type: 'number', default: 2 } },
  steps: { end: { stepType: 'finish', config: { output: { n: '{{ input.n }}', by: '{{ input.by }}' } } } },
};
const [branch, ring] = [`branch-${'b'.repeat(57)}`, `ring-${'r'.repeat(59)}`];
/** A step that fails while it saves, and a rollback of ticks under paths that are shortened. */
const modifiers: Definition = {
  name: 'Modifiers',
  slug: 'modifiers',
  state: { first: { type: 'number' }, total: { type: 'number' } },
  config: { onFailure: 'rollback' },
  steps: {
    save: {
      stepType: 'mapping',
      config: { output: { n: 7, text: 'lots' } },
      saveToState: { first: 'output.data.n', total: 'output.data.text' },
      nextSteps: { error: 'isSaved' },
    },
    isSaved: {
      stepType: 'condition',
      config: { expression: 'state.first == 7' },
      nextSteps: { true: 'rest', false: 'all' },
    },
    rest: { stepType: 'sleep', config: { duration: 10 }, nextSteps: { success: 'all' } },
    all: { stepType: 'parallel', nextSteps: { [branch]: branch, done: 'end' } },
    [branch]: { stepType: 'loop', config: { items: [1] }, nextSteps: { loop: ring } },
    [ring]: { stepType: 'loop', config: { items: [1, 2], historyKeep: 1 }, nextSteps: { loop: 'get' } },
    get: {
      stepType: 'http',
      config: { url: 'https://example.com/get' },
      rollback: { stepType: 'http', config: { url: 'https://example.com/undo' } },
    },
    end: { stepType: 'fail', config: { code: 'broken' } },
  },
};

/** Approvals side by side, about things. */
const decided: Definition = {
  name: 'Decided',
  slug: 'decided',
  steps: {
    both: { stepType: 'parallel', nextSteps: { a: 'order', b: 'invoice' } },
    order: {
      stepType: 'approval',
      config: { message: 'Ship?', approvers: ['ann'], resourceType: 'order', resourceId: '7' },
      nextSteps: { approved: 'rest' },
    },
    rest: { stepType: 'sleep', config: { duration: 20 } },
    invoice: { stepType: 'approval', config: { message: 'Pay?', quorum: 2, resourceType: 'invoice' } },
  },
};

/** A text joined to no number, and one that is cut: from 0.4 on the first is an error, and the second stays whole. */
const joins: Definition = {
  name: 'Joins',
  slug: 'joins',
  input: { price: { type: 'number', required: false } },
  steps: {
    total: {
      stepType: 'set',
      config: { values: { total: "{{ 'Total: ' + input.price * 2 }}" } },
      onError: 'continue',
      nextSteps: { success: 'cut' },
    },
    cut: {
      stepType: 'condition',
      config: { expression: "('😀x'|slice(1)) == 'x' || variables.total == 'Total: '" },
      nextSteps: { true: 'rest', false: 'done' },
    },
    rest: { stepType: 'sleep', config: { duration: 10 }, nextSteps: { success: 'done' } },
    done: { stepType: 'finish', config: { output: '{{ variables }}' } },
  },
};

/** A question whose form has a pattern and formats: the first answer fits neither. */
const formats: Definition = {
  name: 'Formats',
  slug: 'formats',
  steps: {
    ask: {
      stepType: 'user_input',
      config: {
        message: 'Where?',
        form: {
          type: 'object',
          properties: { code: { type: 'string', pattern: '^[A-Z]{3}$' }, host: { type: 'string', format: 'ipv4' } },
        },
      },
    },
  },
};

const seen = new Map<string, number>();
async function http({ config, execution }: ActivityInput): Promise<unknown> {
  const { url } = config as { url: string };
  const attempt = (seen.get(execution.id) ?? 0) + 1;
  seen.set(execution.id, attempt);
  if (url.endsWith('/quick')) await new Promise((resolve) => setTimeout(resolve, 3));
  if (url.endsWith('/slow')) await new Promise((resolve) => setTimeout(resolve, 30));
  if (url.endsWith('/gone')) throw ApplicationFailure.retryable('No more.', 'gone', { retryable: false });
  if (url.endsWith('/refused') && attempt < 3) throw ApplicationFailure.retryable('Not yet.', 'http_connect');
  if (url.endsWith('/flaky') && attempt < 3) throw ApplicationFailure.retryable('Try again.', 'http_status');
  return { data: url };
}

/** Two calls, then the answer. */
async function agentTurn({ path }: ActivityInput): Promise<unknown> {
  const target = { kind: 'tool', server: 'shop', tool: 'refund' };
  const calls = ['a', 'b'].map((id) => ({ id, name: 'refund', input: { id }, target }));
  const isFirst = path.includes('turn[0]');
  return { data: { answer: isFirst ? null : 'Done.', text: '', calls: isFirst ? calls : [], messages: [] } };
}

/** The first call succeeds. */
async function tool({ stepSlug }: ActivityInput): Promise<unknown> {
  if (stepSlug === 'work') return { data: 'refunded' };
  if (stepSlug === 'get_user_1') return { data: { id: 42 }, meta: { server: 's' } };
  throw ApplicationFailure.nonRetryable('There is no such user.', 'tool_error');
}

async function resolveWorkflow({ config }: ActivityInput): Promise<unknown> {
  const { input } = config as { input?: { n: unknown } };
  if (input !== undefined && typeof input.n !== 'number')
    throw ApplicationFailure.nonRetryable('The input is not what workflow double declares.', 'invalid_input');
  const data = { definition: double, hash: 'sha256:0', light: [] };
  return { data: input === undefined ? data : { ...data, input: { by: 2, ...input } } };
}

const fireDebounced = async (): Promise<object> => ({ executionId: null });

let server: TestServer;
let worker: TestWorker;
beforeAll(async () => {
  server = await testServer({ SIGNALBOX_HISTORY_LIMIT: String(LIMIT) });
  const activities = { http, tool, agentTurn, resolveWorkflow, fireDebounced };
  worker = await startWorker(server, { activities });
  mkdirSync(folder, { recursive: true });
});
afterAll(async () => {
  await worker.stop();
  await server.close();
});

it('records an approval by update', async () => {
  const handle = await startRun(server, approve, { input: { amount: 12, customer: 'ann' } });
  await waitsAt(handle, 'review');
  await handle.executeUpdate('approve', { args: [{ by: 'ann', key: 'k' }] as [unknown] });
  await handle.result();
  await keep('approve', handle);
});

it('records rounds of sleeps and approvals that continue as new', async () => {
  const handle = await startRun(server, rounds, { input: { rounds: [0, 1, 2, 3, 4] } });
  for (let i = 0; i < 5; i++) {
    await waitsAt(handle, `each~${i}/ask`);
    await handle.signal('approve', { step: 'ask' });
  }
  await handle.result();
  await keepEnds('rounds', handle);
});

it.each(['flaky', 'gone'])('records an activity: %s', async (what) => {
  const handle = await startRun(server, fetchOnce, { input: { what } });
  await handle.result().catch(() => undefined);
  await keep(`fetch-${what}`, handle);
});

it('records an agent with two open asks, answered by path, and a failure after it', async () => {
  const handle = await startRun(server, asks);
  await waitsAt(handle, 'work/turn[0]/tool[1]');
  for (const n of [1, 0])
    await handle.executeUpdate('approve', { args: [{ step: `work/turn[0]/tool[${n}]`, by: 'ann' }] as [unknown] });
  await handle.result().catch(() => undefined);
  await keep('asks', handle);
});

it('records children', async () => {
  const handle = await startRun(server, children);
  await handle.result();
  await keepEnds('children', handle);
});

it('records a step that fails while it saves, and a rollback under long paths', async () => {
  const handle = await startRun(server, modifiers);
  await handle.result().catch(() => undefined);
  await keepEnds('modifiers', handle);
});

it('records decisions about things, by persons', async () => {
  const handle = await startRun(server, decided);
  await waitsAt(handle, 'both/b/invoice');
  const approve = (step: string, by: string) => {
    const decision = { step, by, as: { roles: [], groups: [] }, via: 'api' };
    return handle.executeUpdate('approve', { args: [decision] as [unknown] });
  };
  await approve('order', 'ann');
  for (const by of ['ann', 'bob']) await approve('invoice', by);
  await handle.result();
  await keep('decided', handle);
});

it('records texts that are joined and cut', async () => {
  const handle = await startRun(server, joins);
  await handle.result();
  await keep('joins', handle);
});

it('records an answer that fits neither a pattern nor a format, and one that does', async () => {
  const handle = await startRun(server, formats);
  await waitsAt(handle, 'ask');
  await handle.signal('submit', { data: { code: 'abcd', host: '1.2.3' } });
  await handle.signal('submit', { data: { code: 'ABC', host: '1.2.3.4' } });
  await handle.result();
  await keep('formats', handle);
});

it('records branches', async () => {
  const handle = await startRun(server, abreast);
  await waitsAt(handle, 'all/person/ask');
  await handle.signal('approve', {});
  await handle.result();
  await keep('abreast', handle);
});

it('records messages', async () => {
  const handle = await startRun(server, collect, { input: { count: 8 } });
  for (let i = 0; i < 8; i++) await handle.signal('message', { name: 'n', payload: i });
  await handle.result();
  await keep('collect', handle);
});

it('records a cancelled run', async () => {
  const handle = await startRun(server, approve, { input: { amount: 1, customer: 'x' } });
  await waitsAt(handle, 'review');
  await handle.cancel();
  await handle.result().catch(() => undefined);
  await keep('cancelled', handle);
});

it('records local activities, and long walks that yield', async () => {
  for (const definition of [local, longWalk]) {
    const handle = await startRun(server, definition);
    await handle.result();
    const { events } = await handle.fetchHistory();
    if (!events?.some((event) => event.activityTaskScheduledEventAttributes))
      throw new Error(`${definition.slug} had no activity.`);
    await keep(definition.slug, handle);
  }
});

it('records segments, with an update, a signal and a cancellation while they run', async () => {
  const isUnderWay = async (handle: WorkflowHandle): Promise<void> => {
    await until(
      async () => (await handle.fetchHistory()).events ?? [],
      (events) => events.some((event) => event.activityTaskScheduledEventAttributes?.activityId === '$segment'),
    );
  };
  const handle = await startRun(server, segments);
  await isUnderWay(handle);
  await handle.signal('message', { name: 'n', payload: 1 });
  await handle.executeUpdate('approve', { args: [{ step: 'ask' }] as [unknown] });
  await handle.result();
  await keep('segments', handle);
  const cancelled = await startRun(server, segments);
  await isUnderWay(cancelled);
  await cancelled.cancel();
  await cancelled.result().catch(() => undefined);
  await keep('segments-cancelled', cancelled);
});

it('records segments of a run that has done many light effects', async () => {
  const handle = await startRun(server, segmentsGrown);
  await handle.result();
  await keepEnds('segments-grown', handle);
});

it('records a run that waits for a slot, one that is aborted, and their gates', async () => {
  const limited = { ...approve, slug: 'limited', config: { concurrency: { limit: 1 } } };
  const restarting = { ...approve, slug: 'restarting', config: { mode: 'restart' as const } };
  const input = { amount: 1, customer: 'x' };
  const [first, second] = [await startRun(server, limited, { input }), await startRun(server, limited, { input })];
  let waited: { handle: WorkflowHandle; gate: string } | undefined;
  for (const handle of [first, second]) {
    await until(() => memoOf(handle), (memo) => (memo?.waitingFor ?? []).length > 0);
    const [wait] = (await memoOf(handle)).waitingFor;
    if (wait?.gate !== undefined) waited = { handle, gate: wait.gate };
  }
  if (waited === undefined) throw new Error('No run had to wait for a slot.');
  for (const _turn of [first, second]) {
    for (const handle of [first, second]) await handle.signal('approve', {}).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  await Promise.all([first.result(), second.result()]);
  const old = await startRun(server, restarting, { input });
  await waitsAt(old, 'review');
  const young = await startRun(server, restarting, { input });
  await old.result().catch(() => undefined);
  await waitsAt(young, 'review');
  await keep('slot-waited', waited.handle);
  await keep('aborted', old);
  const gate = await server.client.workflow.getHandle(waited.gate).describe();
  const firstRunId = gate.raw.workflowExecutionInfo?.firstRunId ?? gate.runId;
  await keep('gate', server.client.workflow.getHandle(waited.gate, firstRunId));
});

type Actor = [type: string, start: object, ...requests: [name: string, request: object][]];

/** An actor with the updates and signals that it takes, one after the other. */
const ACTORS: Actor[] = [
  [
    'definition',
    { slug: 'w', proposalMs: 1_000 },
    ...['h1', 'h2', 'h3', 'h4'].map((hash) => ['put', putOf(hash)] as [string, object]),
    ['propose', { id: 'p', baseHash: 'h4', hash: 'h5' }],
    ['review', { id: 'p', decision: 'approve', ownToo: true }],
    ['put', { ...putOf('h5'), proposalId: 'p' }],
    ['propose', { id: 'q', baseHash: 'h5', hash: 'h6' }],
    ['failProposal', { id: 'q', error: 'It does not fit.' }],
    ['remove', {}],
  ],
  [
    'hook',
    { path: 'p' },
    ['claim', { workflow: 'w', trigger: 't' }],
    ['configure', { workflow: 'w', trigger: 't', revision: 1, config: { enabled: true } }],
    ['free', { workflow: 'w', revision: 2 }],
  ],
  ['inbox', {}, ['deliver', { message: { id: 'm', to: ['ann'] } }], ['remove', { id: 'm' }]],
  [
    'lender',
    {},
    ...['a', 'b', 'a', 'b'].map((shard, n): [string, object] => [
      'borrow',
      { shard, seq: n + 1, limit: 20, keeps: n, waits: 2, spare: 1 },
    ]),
  ],
  [
    'organization',
    {},
    ['put', { collection: 'models', name: 'm', value: { a: 1 } }],
    ['amend', { collection: 'models', name: 'm', members: { b: 2 } }],
    ['putKey', { name: 'k', value: { role: 'admin' }, adminElsewhere: false }],
    ['deleteKey', { name: 'k', adminElsewhere: false }],
    ['delete', { collection: 'models', name: 'm' }],
  ],
  [
    'recording',
    { id: 'r', name: 'Refund', input: { email: 'ann@example.org' }, idleMs: 600_000, maxBytes: 1_000_000 },
    ['call', { tool: 'get_user', server: 's', input: { email: '@input.email' }, content: 'c1' }],
    ['signal callEnded', { name: 'get_user_1', output: '{"id": 42}' }],
    ['call', { tool: 'get_user', server: 's', input: {}, content: 'c2' }],
    ['signal callEnded', { name: 'get_user_2', error: { code: 'tool_error', message: 'No.' } }],
    ['append', { step: { action: { toolName: 'refund' }, input: { userId: 42 } } }],
    ['confirm', { items: [{ step: 'refund_1', pointer: '/userId', reference: '@get_user_1.id' }] }],
    ['preset', { name: 'refund_1', output: { ok: true } }],
    ['drop', { name: 'get_user_2' }],
    ['change', { input: { email: 'bob@example.org' } }],
    ['saved', { slug: 'refund', hash: 'h1' }],
  ],
  ['sync', { origin: 'git' }, ['change', { add: ['a', 'b'], remove: [] }], ['change', { add: [], remove: ['a'] }]],
  [
    'trigger',
    { id: 'w.t', workflow: 'w' },
    ['claim', { claim: 'c' }],
    ['put', { revision: 1, spec: { name: 't', type: 'event', enabled: true, config: { name: 'e' } } }],
    ['signal fired', { at: '2026-01-01T00:00:00.000Z', outcome: 'started', executionId: 'x' }],
    ['change', { change: { enabled: false } }],
    ['remove', { definition: 2 }],
  ],
];

function putOf(hash: string): object {
  return { hash, name: 'W', enabled: true, tags: ['a'], hooks: [], triggers: ['t'], source: 'update' };
}

it.each(ACTORS)('records the actor %s', async (type, start, ...requests) => {
  const workflowId = `record.${type}`;
  const args: unknown[] = [{ organizationId: 'default', historyLimit: ACTOR_LIMIT, ...start }];
  const handle = await server.client.workflow.start(type, { taskQueue: server.taskQueue, workflowId, args });
  for (const [n, [name, request]] of requests.entries()) {
    if (name.startsWith('signal ')) await handle.signal(name.slice('signal '.length), request);
    else await handle.executeUpdate(name, { args: [{ key: `k${n}`, ...request }] as [unknown] });
  }
  const { raw } = await handle.describe();
  const { firstRunId } = raw.workflowExecutionInfo ?? {};
  if (firstRunId !== undefined && firstRunId !== null && firstRunId !== raw.workflowExecutionInfo?.execution?.runId)
    await keep(`${type}-1`, server.client.workflow.getHandle(workflowId, firstRunId));
  await keep(type, server.client.workflow.getHandle(workflowId));
  await handle.terminate();
});

it('records calls of tools, by a recording that expires', async () => {
  const start = (type: string, workflowId: string, argument: object) =>
    server.client.workflow.start(type, { taskQueue: server.taskQueue, workflowId, args: [argument] as unknown[] });
  const recording = await start('recording', 'record.recording-expired', {
    organizationId: 'default',
    historyLimit: ACTOR_LIMIT,
    ...{ id: 'e', name: 'Refund', input: {}, idleMs: 2_000, maxBytes: 1_000_000 },
  });
  const call = { tool: 'get_user', server: 's', input: { id: 42 }, content: 'c' };
  for (const n of [1, 2]) {
    await recording.executeUpdate('call', { args: [{ key: `k${n}`, ...call }] as [unknown] });
    const name = `get_user_${n}`;
    const made = { organizationId: 'default', recording: recording.workflowId, name, ...call };
    const called = await start('recordedCall', `record.recorded-call-${n}`, made);
    await called.result();
    await keep(n === 1 ? 'recorded-call' : 'recorded-call-failed', called);
  }
  await recording.result();
  await keep('recording-expired', recording);
});

it('records a debouncer', async () => {
  const handle = await server.client.workflow.start('debounce', {
    taskQueue: server.taskQueue,
    workflowId: 'record.debounce',
    args: [{ organizationId: 'default', historyLimit: ACTOR_LIMIT }] as unknown[],
  });
  for (const id of ['a', 'b', 'b']) await handle.signal('hold', { id, due: 0, forMs: 200, mostMs: 1_000 });
  await handle.result();
  await keep('debounce', handle);
});

/** The first and the last execution of a run that continued as new; of others the only one. */
async function keepEnds(name: string, { workflowId }: WorkflowHandle): Promise<void> {
  const last = server.client.workflow.getHandle(workflowId);
  const { raw, runId } = await last.describe();
  const { firstRunId } = raw.workflowExecutionInfo ?? {};
  if (!firstRunId) throw new Error('The server did not say which execution was the first.');
  if (firstRunId === runId) return await keep(name, last);
  await keep(`${name}-1`, server.client.workflow.getHandle(workflowId, firstRunId));
  await keep(`${name}-last`, last);
}

async function keep(name: string, handle: WorkflowHandle): Promise<void> {
  const history: unknown = JSON.parse(historyToJSON(await handle.fetchHistory()));
  const text = `${JSON.stringify(scrubbed(history, ''), null, 1)}\n`;
  const machine = [hostname(), process.cwd(), server.taskQueue];
  const traces = machine.filter((trace) => trace.length > 2 && text.includes(trace));
  if (traces.length > 0) throw new Error(`${name} would tell about this machine: ${traces.join(', ')}`);
  writeFileSync(join(folder, `${name}.json`), text);
}

/** Takes out who ran it and where: identities, names of queues, stacks. */
function scrubbed(value: unknown, key: string): unknown {
  if (key === 'identity') return 'worker';
  if (key === 'deploymentName' || key === 'workerDeploymentName') return 'signalbox';
  if (key === 'stackTrace') return '';
  if (key === 'taskQueue') return { name: 'signalbox', kind: (value as { kind?: string }).kind };
  if (Array.isArray(value)) return value.map((member) => scrubbed(member, ''));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, scrubbed(member, name)]));
}
