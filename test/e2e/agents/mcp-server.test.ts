// The official MCP client works with workflows by `/mcp`, and by nothing else.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { approvalDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const ADMIN_KEY = 'an-admin-of-the-environment-for-models-0123456789';
const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: ADMIN_KEY });
const people: { [role: string]: Client } = {};

async function connected(key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit });
  await client.connect(transport as Transport);
  return client;
}

beforeAll(async () => {
  for (const role of ['viewer', 'approver', 'editor']) {
    people[role] = await connected(await gateway.makeKey({ name: unique(role), user: role, role }));
  }
});
afterAll(async () => {
  for (const client of Object.values(people)) await client.close();
});

/** The answer of a tool; for a refusal, the problem. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape.
type Told = { isError: boolean; body: any; text: string };

async function ask(role: string, name: string, args: { [name: string]: unknown } = {}): Promise<Told> {
  const client = people[role];
  if (client === undefined) throw new Error(`Nobody here is ${role}.`);
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: args });
  const [{ text }] = content as [{ text: string }];
  return { isError: isError === true, body: structuredContent, text };
}

async function told(role: string, name: string, args: { [name: string]: unknown } = {}): Promise<Told['body']> {
  const { isError, body, text } = await ask(role, name, args);
  expect(isError, `${name}: ${text}`).toBe(false);
  return body;
}

describe('an MCP client', () => {
  it('creates, checks, simulates, runs and approves a workflow', async () => {
    const slug = unique('by-model');
    const definition = approvalDefinition(slug);
    const wrong = { ...definition, steps: { a: { stepType: 'set', config: {}, nextSteps: { success: 'nowhere' } } } };
    const checked = await told('viewer', 'VALIDATE_WORKFLOW', { definition: wrong });
    expect(checked).toMatchObject({ valid: false });
    expect(checked.problems.map(({ pointer }: { pointer: string }) => pointer)).toContain('/steps/a/nextSteps/success');
    expect(await told('editor', 'VALIDATE_WORKFLOW', { definition })).toMatchObject({ valid: true, problems: [] });

    const presets = { review: { data: { decision: 'approved' }, port: 'approved' } };
    const walked = await told('editor', 'DRY_RUN_WORKFLOW', { definition, input: { amount: 7 }, presets });
    const asText = { definition: stringify(definition), input: { amount: 7 }, presets };
    const again = await told('editor', 'DRY_RUN_WORKFLOW', asText);
    expect(again.steps.map(({ path }: { path: string }) => path)).toEqual(
      walked.steps.map(({ path }: { path: string }) => path),
    );
    expect(walked).toMatchObject({ status: 'completed', output: { paid: 7 } });

    const stored = await told('editor', 'COLLECTION_WORKFLOW_CREATE', { definition });
    expect(stored).toMatchObject({ slug });
    expect(await ask('editor', 'COLLECTION_WORKFLOW_CREATE', { definition })).toMatchObject({
      isError: true,
      body: { code: 'already_exists' },
    });
    expect((await told('viewer', 'COLLECTION_WORKFLOW_GET', { slug })).definition.steps.review.stepType).toBe(
      'approval',
    );

    const start = { workflowId: slug, input: { amount: 40 }, idempotencyKey: unique('start') };
    const { executionId } = await told('editor', 'COLLECTION_WORKFLOW_EXECUTION_CREATE', start);
    // The same call again is the same run.
    expect((await told('editor', 'COLLECTION_WORKFLOW_EXECUTION_CREATE', start)).executionId).toBe(executionId);
    const run = () => told('approver', 'COLLECTION_WORKFLOW_EXECUTION_GET', { executionId });
    await expect.poll(async () => (await run()).waitingFor.length).toBe(1);
    const { resumeToken, path } = (await run()).waitingFor[0];
    expect(path).toBe('review');
    // Who may not decide it does not see its token, here as there.
    const seen = await told('viewer', 'COLLECTION_WORKFLOW_EXECUTION_GET', { executionId });
    expect(JSON.stringify(seen)).not.toContain(resumeToken);

    const decision = { executionId, approve: true, comments: 'Fine.', resumeToken };
    expect(await ask('viewer', 'DECIDE_APPROVAL', decision)).toMatchObject({ body: { code: 'role_required' } });
    expect(await told('approver', 'DECIDE_APPROVAL', decision)).toMatchObject({ path, decision: 'approved' });
    const ended = await told('viewer', 'GET_EXECUTION_RESULT', { executionId, wait: 20 });
    expect(ended).toMatchObject({ status: 'completed', output: { paid: 40 } });
    const visits = await told('viewer', 'GET_STEP_RESULT', { executionId, step: 'review' });
    expect(visits.items).toMatchObject([{ path: 'review', status: 'completed' }]);
    expect(await ask('approver', 'DECIDE_APPROVAL', decision)).toMatchObject({ isError: true });

    const listed = () =>
      told('viewer', 'COLLECTION_WORKFLOW_EXECUTION_LIST', { workflowId: slug, status: ['completed'] });
    await expect.poll(async () => (await listed()).items.map((one: { id: string }) => one.id)).toEqual([executionId]);
  });

  it('updates, proposes and deletes', async () => {
    const slug = unique('changed');
    const definition = approvalDefinition(slug, { constraints: { allowSelfModification: true } });
    expect(await ask('editor', 'COLLECTION_WORKFLOW_UPDATE', { slug, definition })).toMatchObject({ isError: true });
    await told('editor', 'COLLECTION_WORKFLOW_CREATE', { definition });
    const changed = { ...definition, description: 'By a model.' };
    const { hash } = await told('editor', 'COLLECTION_WORKFLOW_UPDATE', { slug, definition: changed });
    const other = { slug, definition, ifMatch: 'another' };
    expect(await ask('editor', 'COLLECTION_WORKFLOW_UPDATE', other)).toMatchObject({ body: { code: 'hash_mismatch' } });
    const proposal = { ...definition, description: 'Proposed.' };
    const proposed = await told('approver', 'PROPOSE_WORKFLOW_CHANGE', { slug, baseWorkflowHash: hash, proposal });
    expect(proposed).toMatchObject({ workflowId: slug, proposedBy: 'approver', status: 'pending' });
    const again = { slug, baseWorkflowHash: hash, proposal: stringify(proposal) };
    expect((await told('approver', 'PROPOSE_WORKFLOW_CHANGE', again)).hash).toBe(proposed.hash);
    expect(await told('editor', 'COLLECTION_WORKFLOW_DELETE', { slug })).toMatchObject({ status: 204 });
    expect(await ask('editor', 'COLLECTION_WORKFLOW_GET', { slug })).toMatchObject({ body: { code: 'not_found' } });
  });

  it('cancels a run, and resumes one that failed', async () => {
    const slug = unique('waiting');
    await told('editor', 'COLLECTION_WORKFLOW_CREATE', { definition: approvalDefinition(slug) });
    const start = async (workflowId: string): Promise<string> =>
      (await told('editor', 'COLLECTION_WORKFLOW_EXECUTION_CREATE', { workflowId, input: { amount: 1 } })).executionId;
    const result = (executionId: string) => told('viewer', 'GET_EXECUTION_RESULT', { executionId, wait: 20 });
    const executionId = await start(slug);
    await told('approver', 'CANCEL_EXECUTION', { executionId, reason: 'Enough.' });
    expect(await result(executionId)).toMatchObject({ status: 'cancelled' });
    expect(await ask('editor', 'RESUME_EXECUTION', { executionId })).toMatchObject({ body: { code: 'not_failed' } });

    const failing = unique('failing');
    const code = 'export default function () { throw new Error("Not today."); }';
    const steps = { work: { stepType: 'run_code', config: { code } } };
    await told('editor', 'COLLECTION_WORKFLOW_CREATE', { definition: { name: 'Failing', slug: failing, steps } });
    const failed = await start(failing);
    expect(await result(failed)).toMatchObject({ status: 'failed' });
    expect(await told('editor', 'RESUME_EXECUTION', { executionId: failed })).toMatchObject({ executionId: failed });
    expect(await result(failed)).toMatchObject({ status: 'failed' });
    const visits = await told('viewer', 'GET_STEP_RESULT', { executionId: failed, step: 'work', attempts: 'true' });
    expect(visits.items.length).toBe(2);
  });

  it('may do with a key what the key may do', async () => {
    const definition = approvalDefinition(unique('refused'));
    const refused = await ask('viewer', 'COLLECTION_WORKFLOW_CREATE', { definition });
    expect(refused).toMatchObject({ isError: true, body: { code: 'role_required', status: 403 } });
    expect(refused.text).toContain('the role editor');
    const unknown = connected('sbk_default_0123456789');
    await expect(unknown).rejects.toMatchObject({ code: 401 });
    await expect(unknown).rejects.toThrow(/key_invalid/);
  });

  it('is in the audit with what it changed, by person and route', async () => {
    const slug = unique('audited');
    await told('editor', 'COLLECTION_WORKFLOW_CREATE', { definition: approvalDefinition(slug) });
    const isOurs = (one: { target?: { slug?: string } }) => one.target?.slug === slug;
    const { body } = await gateway.until('/api/audit?limit=20', (answer) => answer.body.items.some(isOurs));
    expect(body.items.filter(isOurs)).toMatchObject([{ action: 'POST /api/workflows', by: 'editor', outcome: 'done' }]);
  });

  it('sees no secret that a definition had in clear', async () => {
    const slug = unique('hooked');
    const secret = 'a-secret-of-a-webhook-0123456789';
    const triggers = [{ name: 'hook', type: 'webhook', config: { path: slug, scheme: 'github', secret } }];
    const { text } = await ask('editor', 'COLLECTION_WORKFLOW_CREATE', {
      definition: approvalDefinition(slug, { triggers }),
    });
    expect(text).not.toContain(secret);
    const read = await ask('editor', 'COLLECTION_WORKFLOW_GET', { slug });
    expect(read.isError, text).toBe(false);
    expect(read.text).not.toContain(secret);
  });
});
