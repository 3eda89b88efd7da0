// The example issue-triage with events as GitHub sends them, through the real webhook route.
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import examples from '@octokit/webhooks-examples/api.github.com/index.json' with { type: 'json' };
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../../src/cli/start/project-root.ts';
import { type Answer, type TestGateway, testGateway } from '../gateway/gateway-support.ts';

type Payload = { action?: string; issue?: { title: string; html_url: string; labels?: { name: string }[] } };
const events = (name: string): Payload[] =>
  (examples as unknown as { name: string; examples: Payload[] }[]).find((one) => one.name === name)?.examples ?? [];

const yaml = readFileSync(join(projectRoot(), 'deploy/examples/issue-triage.yaml'), 'utf8');

let chat: Server;
let gateway: TestGateway;
const heard: { text: string; comments: string | null }[] = [];

beforeAll(async () => {
  chat = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    heard.push(JSON.parse(Buffer.concat(chunks).toString()));
    res.setHeader('content-type', 'application/json');
    res.end('{"ok": true}');
  });
  await new Promise<void>((resolve) => chat.listen(0, '127.0.0.1', resolve));
  gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.1/32' });
});
afterAll(async () => {
  await gateway.close();
  chat.close();
});

async function push(text: string): Promise<void> {
  const answer = await gateway.request('POST', '/api/workflows', {
    text,
    headers: { 'content-type': 'application/yaml' },
  });
  expect([200, 201]).toContain(answer.status);
}

function deliver(event: string, payload: Payload, secret = 'replace-this-secret'): Promise<Answer> {
  const text = JSON.stringify(payload);
  return gateway.request('POST', '/webhooks/github-issues', {
    text,
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`,
    },
  });
}

/** The same event once more: signed bytes that came before would be taken for a replay. */
const again = (payload: Payload, mark: string): Payload => ({ ...payload, mark }) as Payload;

async function decided(id: string, approve: boolean, comments: string): Promise<Answer> {
  await gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor?.length > 0);
  const answer = await gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve, comments } });
  expect(answer.status).toBe(200);
  return gateway.request('GET', `/api/executions/${id}/result?wait=30`);
}

const result = (id: string) => gateway.request('GET', `/api/executions/${id}/result?wait=30`);
const bugs = events('issues').filter(
  ({ action, issue }) =>
    (action === 'opened' || action === 'reopened') && issue?.labels?.some(({ name }) => name === 'bug') === true,
);

describe('issue triage, as it comes', () => {
  beforeAll(() => push(yaml));

  it('asks a person about a new bug, and ends without network', async () => {
    const [bug] = bugs;
    const { status, body } = await deliver('issues', bug!);
    expect(status).toBe(202);
    const shown = await gateway.until(`/api/executions/${body.executionId}`, (one) => one.body.waitingFor?.length > 0);
    expect(shown.body.waitingFor[0]).toMatchObject({
      kind: 'approval',
      message: 'Codertocat/Hello-World#1 "Spelling error in the README file": is it urgent?',
    });
    expect((await decided(body.executionId, true, 'At once.')).body).toEqual({
      status: 'completed',
      output: { outcome: 'urgent', issue: bug!.issue!.html_url, told: false },
    });
    const late = await deliver('issues', again(bug!, 'late'));
    expect((await decided(late.body.executionId, false, 'Later.')).body.output).toMatchObject({ outcome: 'can wait' });
    expect(heard).toEqual([]);
  });

  it('ignores every other event that GitHub sends about issues, and pings', async () => {
    const others = events('issues').filter((payload) => !bugs.includes(payload));
    expect(others.length).toBeGreaterThan(20);
    const started = await Promise.all([
      ...others.map((payload) => deliver('issues', payload)),
      ...events('ping').map((payload) => deliver('ping', payload)),
      ...events('issue_comment').map((payload) => deliver('issue_comment', payload)),
    ]);
    for (const { status, body } of started) {
      expect(status).toBe(202);
      expect((await result(body.executionId)).body).toEqual({ status: 'completed', output: { outcome: 'ignored' } });
    }
  });

  it('takes nothing that is not signed with its secret', async () => {
    expect((await deliver('issues', bugs[0]!, 'another-secret')).body.code).toBe('signature_invalid');
  });
});

describe('issue triage with a place to report to', () => {
  it('posts what is urgent there', async () => {
    const { port } = chat.address() as AddressInfo;
    await push(yaml.replace("notifyUrl: ''", `notifyUrl: http://127.0.0.1:${port}/`));
    const { body } = await deliver('issues', again(bugs[0]!, 'told'));
    expect((await decided(body.executionId, true, 'At once.')).body.output).toMatchObject({ told: true });
    expect(heard).toEqual([
      { text: `Urgent: ${bugs[0]!.issue!.title} ${bugs[0]!.issue!.html_url}`, comments: 'At once.' },
    ]);
  });
});
