// Runs every command of the manual's page on operating with Temporal's CLI, on real runs, and looks at what becomes of
// them in Signalbox.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { deploymentOf } from '../../../src/contract/build-id.ts';
import type { Json } from '../../../src/json/json.ts';
import { startWorker, testServer } from '../../support/temporal.ts';
import { approvalDefinition, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';
import { until } from '../runs/run-support.ts';
import { commandsOf, type ManualCommands } from './manual-commands.ts';

const PAGE = 'operating-with-temporal.md';
const LIMIT_S = 30;

let gateway: TestGateway;
let page: ManualCommands;
let other: Server;
let url: string;
let folder: string;
let deleted: string;
/** The idempotency keys of the requests to each path of the other side. */
const asked = new Map<string, string[]>();
beforeAll(async () => {
  // Refuses, does not answer, or answers, as the path says.
  other = createServer((req, res) => {
    const path = req.url ?? '';
    asked.set(path, [...(asked.get(path) ?? []), String(req.headers['idempotency-key'])]);
    if (path.startsWith('/silent')) return;
    res.statusCode = path.startsWith('/ok') ? 200 : 503;
    res.setHeader('content-type', 'application/json').end('{"n":1}');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), 'signalbox-operating-'));
  gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.1/32' });
  page = commandsOf(PAGE, {
    program: inject('temporalBinary'),
    folder,
    env: {
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      TEMPORAL_NAMESPACE: gateway.server.namespace,
      QUEUE: gateway.server.taskQueue,
      STEP: 'call',
    },
  });
});
afterAll(async () => {
  await gateway.close();
  other.closeAllConnections();
  other.close();
  rmSync(folder, { recursive: true, force: true });
});

type Definition = { [member: string]: Json };

async function start(definition: Definition, input: Json = { amount: 1 }): Promise<string> {
  return gateway.startInline(definition, input);
}
/** A run that waits at the approval `review`. */
async function asking(slug = unique('asked')): Promise<string> {
  const id = await start(approvalDefinition(slug));
  await waits(id, 'approval');
  return id;
}
/** A run whose step `call` asks the other side. */
const calling = (path: string, step: Definition = {}): Promise<string> =>
  start({
    name: 'Call',
    slug: unique('call'),
    steps: {
      call: {
        stepType: 'http',
        config: { url: `${url}/${path}/${unique('call')}` },
        local: false,
        retry: { maxAttempts: 50, initialInterval: '60s' },
        nextSteps: { success: 'done' },
        ...step,
      },
      done: { stepType: 'finish', config: { output: '{{ steps.call.output }}' } },
    },
  });
/** A run that asks a person, then listens to the message `go`. */
async function listening(): Promise<string> {
  const id = await start({
    name: 'Listen',
    slug: unique('listen'),
    steps: {
      first: {
        stepType: 'http',
        config: { url: `${url}/ok/${unique('first')}`, method: 'POST' },
        local: false,
        nextSteps: { success: 'review' },
      },
      review: { stepType: 'approval', config: { message: 'Well?' }, nextSteps: { approved: 'hear', rejected: 'no' } },
      hear: { stepType: 'listen', config: { name: 'go' }, nextSteps: { received: 'done' } },
      done: { stepType: 'finish', config: { output: '{{ steps.hear.output.data }}' } },
      no: { stepType: 'finish', config: { output: 'no' } },
    },
  });
  await waits(id, 'approval');
  return id;
}
const at = (id: string): string => `/api/executions/${id}`;
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape.
type Body = any;
const run = async (id: string): Promise<Body> => (await gateway.request('GET', at(id))).body;
const waits = (id: string, kind: string) =>
  gateway.until(at(id), ({ body }) => body.waitingFor?.some((wait: Body) => wait.kind === kind), LIMIT_S);
const ended = async (id: string): Promise<Body> => (await gateway.request('GET', `${at(id)}/result?wait=20`)).body;
/** The trace: path and status of every visit. */
async function trace(id: string): Promise<string[]> {
  const { body } = await gateway.request('GET', `${at(id)}/steps`);
  expect(body).toMatchObject({ uncertain: false });
  return body.items.map(({ path, status }: Body) => `${path} ${status}`);
}
/** Waits until Visibility shows so many runs for the query. */
const counted = (query: string, n: number) =>
  until(
    async () => (await gateway.server.client.workflow.count(query)).count,
    (count) => count === n,
    LIMIT_S * 1_000,
  );

describe('finding out', () => {
  it('why a run stopped: workers, attempts, waits, history', async () => {
    const ID = await asking();
    expect(await page.run('temporal task-queue describe', {})).toMatch(/workflow +\d+@/);
    expect(await page.run('temporal workflow describe', { ID })).toContain('Pending Activities: 0');
    const details = await page.run('temporal workflow metadata', { ID });
    expect(details).toContain('`review` waits for an approval');
    expect(await page.run('temporal workflow show … --reverse', { ID })).toContain('WorkflowExecutionStarted');
    await page.run('temporal workflow terminate --workflow-id $ID', { ID });
  });

  it('which runs there are, by search attributes', async () => {
    const SLUG = unique('found');
    const ids = await Promise.all([asking(SLUG), asking(SLUG)]);
    await counted(`SignalboxWorkflow = '${SLUG}' AND SignalboxWaiting = 'approval'`, 2);
    const listed = await page.run('temporal workflow list --query "SignalboxWorkflow', { SLUG });
    for (const id of ids) expect(listed).toContain(id);
    expect(await page.run('temporal workflow list --query "SignalboxWaiting', {})).toContain(ids[0]);
    expect(await page.run('temporal workflow count --query "SignalboxWorkflow = \'$SLUG\'"', { SLUG })).toContain('2');
    expect(await page.run('temporal workflow count … GROUP BY', { SLUG })).toContain('Group total: 2, values: Running');
    // Batches.
    await page.run('temporal workflow signal --query', { SLUG });
    for (const id of ids) expect(await ended(id)).toMatchObject({ status: 'completed', output: { paid: 1 } });
    const [job] = JSON.parse(await json('batch', 'list', '--limit', '1'));
    expect(await page.run('temporal batch list', {})).toContain(job.jobId);
    expect(await page.run('temporal batch describe', { JOB: job.jobId })).toMatch(/CompletedCount +2/);
  });

  it('what one run is and holds', async () => {
    const ID = await asking();
    const history = JSON.parse(await page.run('temporal workflow show … json', { ID }));
    expect(history.events[0].eventType).toBe('EVENT_TYPE_WORKFLOW_EXECUTION_STARTED');
    expect(await page.run('temporal workflow query … status', { ID })).toContain('"status":"waiting"');
    expect(await page.run('temporal workflow query … waiting', { ID })).toContain('"path":"review"');
    await gateway.request('POST', `${at(ID)}/approve`, { json: { approve: true } });
    expect(await page.run('temporal workflow trace', { ID })).toContain('run');
    await ended(ID);
    await page.run('temporal workflow delete', { ID });
    deleted = ID;
  });
});

describe('talking to a run', () => {
  it('by signals and updates', async () => {
    const ID = await listening();
    await page.run('temporal workflow signal … --name pause', { ID });
    expect((await gateway.until(at(ID), ({ body }) => body.paused === true, LIMIT_S)).body.status).toBe('waiting');
    await page.run('temporal workflow update execute', { ID });
    await expect(page.run('temporal workflow update execute', { ID })).rejects.toThrow('already_decided');
    expect(await trace(ID)).toEqual(['first completed', 'review completed']);
    await page.run('temporal workflow signal … --name resume', { ID });
    await waits(ID, 'message');
    await page.run('temporal workflow signal … --name approve --input \'{"step"', { ID });
    const details = () => page.run('temporal workflow metadata', { ID });
    await until(details, (text) => text.includes('The signal `approve` of'), LIMIT_S * 1_000);
    await page.run('temporal workflow signal … --name message', { ID });
    expect(await ended(ID)).toMatchObject({ status: 'completed', output: 5 });
  });
});

describe('ending runs', () => {
  it('by cancelling and by terminating', async () => {
    const [cancelled, terminated] = await Promise.all([asking(), calling('busy')]);
    await page.run('temporal workflow cancel --workflow-id', { ID: cancelled });
    expect(await ended(cancelled)).toMatchObject({ status: 'cancelled' });
    expect(await trace(cancelled)).toEqual(['received completed', 'review cancelled']);
    await waits(terminated, 'retry');
    await page.run('temporal workflow terminate --workflow-id $ID', { ID: terminated });
    const { waitingFor, retrying, ...rest } = await run(terminated);
    expect(rest).toMatchObject({
      status: 'aborted',
      error: { code: 'terminated', details: { reason: 'Wrong customer' } },
    });
    // Temporal still describes its activity.
    expect({ waitingFor, retrying }).toEqual({ waitingFor: [], retrying: undefined });
    expect(await trace(terminated)).toEqual(['call cancelled']);
  });

  it('many at once', async () => {
    const SLUG = unique('many');
    const open = `SignalboxWorkflow = '${SLUG}' AND ExecutionStatus = 'Running'`;
    const first = await asking(SLUG);
    await counted(open, 1);
    await page.run('temporal workflow cancel --query', { SLUG });
    expect(await ended(first)).toMatchObject({ status: 'cancelled' });
    await counted(`SignalboxWorkflow = '${SLUG}' AND ExecutionStatus = 'Canceled'`, 1);
    await page.run('temporal workflow reset --query', { SLUG });
    await waits(first, 'approval');
    await counted(open, 1);
    await page.run('temporal workflow terminate --query', { SLUG });
    expect(await ended(first)).toMatchObject({ status: 'aborted', error: { details: { reason: 'Wrong price' } } });
  });
});

describe('a reset', () => {
  it('repeats steps under their keys, applies decisions again, or takes them back', async () => {
    const ID = await listening();
    const keys = () => [...asked].filter(([path]) => path.startsWith('/ok/first')).at(-1)?.[1] ?? [];
    // By REST, so as an update; it is applied again as soon as the last task is repeated.
    await gateway.request('POST', `${at(ID)}/approve`, { json: { approve: true, comments: 'Yes' } });
    await waits(ID, 'message');
    await page.run('temporal workflow reset … LastWorkflowTask … Try', { ID });
    await waits(ID, 'message');
    expect(await trace(ID)).toEqual(['first completed', 'review completed', 'hear waiting']);
    expect(keys()).toHaveLength(1);

    const { events } = await gateway.server.client.workflow.getHandle(ID).fetchHistory();
    const question = events!.filter(({ workflowTaskCompletedEventAttributes: one }) => one).at(1)!;
    await page.run('temporal workflow reset … --event-id', { ID, EVENT: String(question.eventId) });
    await waits(ID, 'approval');
    expect(await trace(ID)).toEqual(['first completed', 'review waiting']);

    // From the start, with a message: it is kept until the step listens.
    await page.run('temporal workflow signal … --name message', { ID });
    await gateway.request('POST', `${at(ID)}/approve`, { json: { approve: true } });
    expect(await ended(ID)).toMatchObject({ status: 'completed', output: 5 });
    await page.run('temporal workflow reset … FirstWorkflowTask … Begin', { ID });
    await waits(ID, 'approval');
    expect(await trace(ID)).toEqual(['first completed', 'review waiting']);
    expect(new Set(keys()).size).toBe(1);
    expect(keys().length).toBeGreaterThan(1);
    await gateway.request('POST', `${at(ID)}/approve`, { json: { approve: true } });
    expect(await ended(ID)).toMatchObject({ status: 'completed', output: 5 });
  });
});

describe('activities', () => {
  it('are paused, changed, resumed, and tried again', async () => {
    const ID = await calling('busy');
    await waits(ID, 'retry');
    await page.run('temporal activity pause', { ID });
    const { body } = await waits(ID, 'unpause');
    expect(body.waitingFor).toMatchObject([
      { path: 'call', stepSlug: 'call', kind: 'unpause', attempt: 2, message: 'The other side is down' },
    ]);
    expect(body.retrying).toMatchObject([{ path: 'call', activityPaused: true }]);
    await page.run('temporal activity update-options', { ID });
    await page.run('temporal activity unpause', { ID });
    await gateway.until(at(ID), (answer) => answer.body.retrying?.[0]?.attempt > 2, LIMIT_S);
    await page.run('temporal activity reset', { ID });
    await page.run('temporal workflow cancel --workflow-id', { ID });
    expect(await ended(ID)).toMatchObject({ status: 'cancelled' });
  });

  it('are completed by hand, and a result of another form fails the step with a typed error', async () => {
    const results: [string | undefined, object][] = [
      [undefined, { status: 'completed', output: { type: 'http', data: { paid: true } } }],
      ['null', { status: 'failed', error: { code: 'invalid_result', path: 'call' } }],
      ['{"status": 200}', { status: 'failed', error: { code: 'invalid_result', path: 'call' } }],
      ['"paid"', { status: 'failed', error: { code: 'invalid_result', path: 'call' } }],
      ['{"data": 1, "meta": 7}', { status: 'failed', error: { code: 'invalid_result', path: 'call' } }],
    ];
    await Promise.all(
      results.map(async ([result, expected]) => {
        const ID = await calling('busy');
        await waits(ID, 'retry');
        if (result === undefined) await page.run('temporal activity complete', { ID });
        else await cli('activity', 'complete', '--workflow-id', ID, '--activity-id', 'call', '--result', result);
        expect(await ended(ID)).toMatchObject(expected);
        const isCompleted = result === undefined;
        const { items } = (await gateway.request('GET', `${at(ID)}/steps?step=call`)).body;
        expect(items[0].endedBy).toMatch(/^temporal-cli:/);
        expect(await trace(ID)).toEqual(isCompleted ? ['call completed', 'done completed'] : ['call failed']);
      }),
    );
  });

  it('that run are failed by hand, and a reset of the last attempt is reported as such', async () => {
    const [failed, reset] = await Promise.all([
      calling('silent'),
      calling('silent', { retry: { maxAttempts: 1 }, timeout: '60s' }),
    ]);
    for (const id of [failed, reset])
      await until(
        async () => (await gateway.server.client.workflow.getHandle(id).describe()).raw.pendingActivities?.[0]?.state,
        (state) => state === 2,
        LIMIT_S * 1_000,
      );
    await page.run('temporal activity fail', { ID: failed });
    expect(await ended(failed)).toMatchObject({
      status: 'failed',
      error: { code: 'activity_failed', message: 'The supplier is gone', path: 'call' },
    });
    await page.run('temporal activity reset', { ID: reset });
    expect(await ended(reset)).toMatchObject({ status: 'failed', error: { code: 'activity_reset', path: 'call' } });
    expect(await trace(reset)).toEqual(['call failed']);
  });
});

describe('by hand', () => {
  it('runs are started and executed', async () => {
    const file = (definition: Definition): void =>
      writeFileSync(join(folder, 'run.json'), JSON.stringify({ definition, input: { amount: 7 } }));
    const ID = `run.default.by-hand.${unique('one')}`;
    file(approvalDefinition('by-hand'));
    await page.run('temporal workflow start', { ID });
    expect((await waits(ID, 'approval')).body.waitingFor).toMatchObject([{ message: 'Refund 7?' }]);
    await page.run('temporal workflow cancel --workflow-id', { ID });
    file({ name: 'Hello', slug: 'hello', steps: { hello: { stepType: 'finish', config: { output: 'hello' } } } });
    const executed = await page.run('temporal workflow execute', { ID: `run.default.hello.${unique('two')}` });
    expect(executed).toContain('"hello"');
    file({ name: 'Nothing', slug: 'nothing', steps: {} });
    const broken = `run.default.nothing.${unique('three')}`;
    await expect(page.run('temporal workflow execute', { ID: broken })).rejects.toThrow('This definition cannot run');
    expect(await run(broken)).toMatchObject({ status: 'failed', error: { code: 'invalid_definition' } });
  });
});

describe('what Signalbox stores', () => {
  it('keeps schedules as Temporal Schedules, and says what was done to them', async () => {
    const slug = unique('nightly');
    const definition: Definition = {
      name: 'Nightly',
      triggers: [{ name: 'night', type: 'schedule', config: { cron: '0 3 * * *', overlap: 'allow_all' } }],
      steps: {
        t: { stepType: 'trigger', nextSteps: { success: 'd' } },
        d: { stepType: 'finish', config: { output: 1 } },
      },
    };
    const put = () => gateway.request('PUT', `/api/workflows/${slug}`, { json: definition });
    expect((await put()).status).toBe(201);
    const trigger = `/api/triggers/${slug}.night`;
    const SCHEDULE: string = (await gateway.request('GET', trigger)).body.schedule.scheduleId;
    const values = { SCHEDULE, TRIGGER: `${slug}.night` };
    const listed = () => page.run('temporal schedule list', values);
    expect(await until(listed, (found) => found.includes(SCHEDULE), LIMIT_S * 1_000)).toContain(values.TRIGGER);
    expect(await page.run('temporal schedule describe', values)).toContain('fire');
    await page.run('temporal schedule toggle … --pause', values);
    expect((await gateway.request('GET', trigger)).body).toMatchObject({
      enabled: true,
      schedule: { paused: true, nextTimes: [] },
    });
    await page.run('temporal schedule trigger', values);
    await page.run('temporal schedule backfill', values);
    const started = await gateway.until(
      `/api/executions?workflowId=${slug}`,
      ({ body }) => body.items.length === 3,
      LIMIT_S,
    );
    expect(started.body.items.map(({ id }: Body) => id).join()).toContain('20260102T030000');
    await page.run('temporal schedule toggle … --unpause', values);
    expect((await gateway.request('GET', trigger)).body).toMatchObject({ schedule: { paused: false } });
    await page.run('temporal schedule delete', values);
    expect((await gateway.request('GET', trigger)).body).not.toHaveProperty('schedule');
    definition['name'] = 'Every night';
    expect((await put()).status).toBe(200);
    expect((await gateway.request('GET', trigger)).body).toMatchObject({ schedule: { paused: false } });
  });

  it('is set apart, and comes back after a terminated actor was reset', async () => {
    const slug = unique('stored');
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: { ...approvalDefinition(slug), name: 'Second' } });
    const actor = `def.default.${slug}`;
    const query = `TemporalNamespaceDivision = 'signalbox' AND WorkflowId = '${actor}'`;
    await counted(query, 1);
    expect(await page.run('temporal workflow list --query "TemporalNamespaceDivision', {})).toContain('def');
    await cli('workflow', 'cancel', '--workflow-id', actor);
    await cli('workflow', 'signal', '--workflow-id', actor, '--name', 'approve', '--input', '{}');
    const stored = async () => (await gateway.request('GET', `/api/workflows/${slug}`)).body;
    const before = await stored();
    expect(before).toMatchObject({ name: 'Second' });
    await page.run('temporal workflow terminate --workflow-id def', { SLUG: slug });
    await gateway.until(`/api/workflows/${slug}`, ({ status }) => status === 404, LIMIT_S);
    await page.run('temporal workflow reset --workflow-id def', { SLUG: slug });
    await gateway.until(`/api/workflows/${slug}`, ({ status }) => status === 200, LIMIT_S);
    expect(await stored()).toEqual(before);
    const { status } = await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: { ...approvalDefinition(slug), name: 'Third' },
    });
    expect(status).toBe(200);
  });
});

describe('workers', () => {
  it('are listed, and their versions are described and set', async () => {
    await page.run('temporal worker list', {});
    const server = await testServer({ SIGNALBOX_WORKER_VERSIONING: 'manual' });
    const worker = await startWorker(server);
    const DEPLOYMENT = deploymentOf(server.taskQueue);
    const values = { DEPLOYMENT, BUILD: worker.buildId };
    await until(
      () => page.run('temporal worker deployment describe', values).catch(() => ''),
      (text) => text.includes(worker.buildId),
      LIMIT_S * 1_000,
    );
    await page.run('temporal worker deployment set-current-version', values);
    expect(await page.run('temporal worker deployment describe', values)).toMatch(
      new RegExp(`CurrentVersionBuildID +${worker.buildId}`),
    );
    await worker.stop();
    await server.close();
  });
});

describe('a deleted run', () => {
  // The server takes its time: it waits until Visibility shows the run as closed.
  it('is gone', async () => {
    await gateway.until(at(deleted), ({ status }) => status === 404, 2 * LIMIT_S);
  });
});

describe('the page', () => {
  it('has no command that was not run, and its table names commands that there are', async () => {
    expect(page.all.length).toBeGreaterThan(40);
    expect(page.unrun()).toEqual([]);
    const names = new Set(
      [...page.text.matchAll(/^\| `tctl .*\| `temporal ([a-z -]+?)(?= --|`| …)/gm)].map(([, words]) => words!),
    );
    expect(names.size).toBeGreaterThan(15);
    // The CLI answers the help of the group for a command that it does not know.
    const helps = await Promise.all([...names].map((words) => cliHelp(words)));
    expect(helps.filter(({ words, help }) => !help.includes(`temporal ${words} [`))).toEqual([]);
  });
});

async function cliHelp(words: string): Promise<{ words: string; help: string }> {
  const { stdout } = await promisify(execFile)(inject('temporalBinary'), [...words.split(' '), '--help']);
  return { words, help: stdout };
}

/** Another command of the CLI. */
async function cli(...args: string[]): Promise<string> {
  const where = ['--address', inject('temporalAddress'), '--namespace', gateway.server.namespace];
  const { stdout } = await promisify(execFile)(inject('temporalBinary'), [...args, ...where]);
  return stdout;
}
const json = (...args: string[]): Promise<string> => cli(...args, '--output', 'json');
