import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Finding } from '../../src/client/doctor/finding.ts';
import { bootstrap } from '../../src/client/temporal/bootstrap.ts';
import { cli } from '../cli/terminal.ts';
import { sharedServer } from '../support/temporal.ts';

const { INDEXED_VALUE_TYPE_KEYWORD_LIST } = proto.temporal.api.enums.v1.IndexedValueType;

async function findingsOf(env: NodeJS.ProcessEnv): Promise<{ exit: number; findings: Finding[] }> {
  const { exit, out, err } = await cli(['doctor', '--json'], { env });
  expect(err).toBe('');
  return { exit, findings: JSON.parse(out) as Finding[] };
}

const levels = (findings: readonly Finding[]) =>
  Object.fromEntries(findings.map(({ check, level }) => [check, level] as const));

describe('signalbox doctor, on a server that is set up for it', () => {
  const { server } = sharedServer();

  it('finds nothing to do', async () => {
    // The tests' server keeps runs for 30 days, or for the 7 of another test.
    const { exit, findings } = await findingsOf({ ...server.env, SIGNALBOX_RETENTION_DAYS: '7' });
    expect(findings.filter(({ level }) => level !== 'ok')).toEqual([]);
    expect(exit).toBe(0);
    expect(levels(findings)).toMatchObject({ timers: 'ok', lists: 'ok', worker: 'ok', 'search attributes': 'ok' });
  });

  it('leaves nothing in the lists of runs', async () => {
    await findingsOf(server.env);
    expect(await server.client.workflow.count("WorkflowType = 'doctor'")).toMatchObject({ count: 0 });
  });

  it('warns where no worker polls, and says the command', async () => {
    const { exit, findings } = await findingsOf({ ...server.env, SIGNALBOX_TASK_QUEUE: 'nobody-polls-this' });
    expect(findings.find(({ check }) => check === 'worker')).toMatchObject({
      level: 'warning',
      lines: ['npx signalbox start --only worker'],
    });
    expect(exit).toBe(0);
  });

  it('warns of a retention that is too short, with the command that sets it', async () => {
    const { findings } = await findingsOf({ ...server.env, SIGNALBOX_RETENTION_DAYS: '400' });
    expect(findings.find(({ check }) => check === 'retention')).toMatchObject({
      level: 'warning',
      lines: [`temporal operator namespace update --namespace ${server.namespace} --retention 400d`],
    });
  });
});

describe('signalbox doctor, elsewhere', () => {
  it('ends with exit code 10 where nothing answers', async () => {
    const closed = createServer();
    const port = await new Promise<number>((resolve) =>
      closed.listen(0, '127.0.0.1', () => resolve((closed.address() as { port: number }).port)),
    );
    await new Promise((resolve) => closed.close(resolve));
    const { exit, findings } = await findingsOf({ TEMPORAL_ADDRESS: `127.0.0.1:${port}`, SIGNALBOX_DATA: tmpdir() });
    expect(exit).toBe(10);
    expect(findings[0]).toMatchObject({ check: 'connection', level: 'blocks' });
  }, 30_000);

  it('ends with exit code 10 where there is no server at all, and says how to get one', async () => {
    const { exit, findings } = await findingsOf({ SIGNALBOX_DATA: join(tmpdir(), 'signalbox-no-such-folder') });
    expect(exit).toBe(10);
    expect(findings[0]?.lines).toContain('npm start');
    expect(levels(findings)['data folder']).toBe('note');
  });
});

describe('signalbox doctor, on a server with defaults', () => {
  let program: ChildProcess;
  let address: string;
  beforeAll(async () => {
    const probe = createServer();
    const port = await new Promise<number>((resolve) =>
      probe.listen(0, '127.0.0.1', () => resolve((probe.address() as { port: number }).port)),
    );
    await new Promise((resolve) => probe.close(resolve));
    address = `127.0.0.1:${port}`;
    const args = ['server', 'start-dev', '--headless', '--port', String(port), '--log-level', 'never'];
    program = spawn(
      inject('temporalBinary'),
      [...args, '--dynamic-config-value', 'frontend.namespaceRPS.visibility=5'],
      {
        stdio: 'ignore',
      },
    );
    const answers = () =>
      Connection.connect({ address, connectTimeout: 1_000 }).then(
        (made) => made.close().then(() => true),
        () => false,
      );
    while (!(await answers())) await new Promise((resolve) => setTimeout(resolve, 100));
  }, 90_000);
  afterAll(async () => {
    const gone = new Promise((resolve) => program.once('exit', resolve));
    program.kill('SIGTERM');
    await gone;
  });

  it('measures late timers and refused lists, and says the settings', async () => {
    const { exit, findings } = await findingsOf({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'default' });
    expect(exit).toBe(0);
    expect(findings.find(({ check }) => check === 'timers')).toMatchObject({
      level: 'warning',
      lines: ['history.timerProcessorMaxTimeShift:', '  - value: 10ms'],
    });
    expect(findings.find(({ check }) => check === 'lists')).toMatchObject({
      level: 'warning',
      lines: ['frontend.namespaceRPS.visibility:', '  - value: 1000'],
    });
  });

  it('blocks where another program took the search attributes, and so does the start', async () => {
    const connection = await Connection.connect({ address });
    const namespace = 'default';
    try {
      const foreign = ['Theirs1', 'Theirs2'].map((name) => [name, INDEXED_VALUE_TYPE_KEYWORD_LIST] as const);
      await connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(foreign),
      });
      const { exit, findings } = await findingsOf({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace });
      expect(exit).toBe(10);
      const found = findings.find(({ check }) => check === 'search attributes');
      expect(found).toMatchObject({ level: 'blocks' });
      expect(found?.text).toContain('3 of type KeywordList are needed, and 1 of 3 are free');
      expect(found?.lines?.[0]).toBe(
        `temporal operator search-attribute remove --namespace ${namespace} --name Theirs1`,
      );
      const temporal = { connection, client: new Client({ connection, namespace }), namespace, close: async () => {} };
      await expect(bootstrap(temporal, { retentionDays: 1 })).rejects.toThrow(
        /no room for 15 search attributes: 3 of type KeywordList[\s\S]*search-attribute remove/,
      );
    } finally {
      await connection.close();
    }
  });
});
