import { WorkflowNotFoundError } from '@temporalio/common';
import type { Json } from '../../../src/json/json.ts';
import { type Answer, echoDefinition, type TestGateway, testGateway, unique } from './gateway-support.ts';
import { holdToDocument, isAboutRuns } from './openapi-suite.ts';

const ADMIN_KEY = 'an-admin-key-of-the-environment-that-is-long-enough';

/** All files share the server and these actors, which stay on the task queue of the file that created them. */
async function endOrganization({ server }: TestGateway): Promise<void> {
  for (const id of ['org.default', 'inbox.default']) {
    const actor = server.client.workflow.getHandle(id);
    await actor.terminate('The next test begins anew.').catch((error: unknown) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });
  }
}

// No server of tools listens in this test, sessions are for pages of the gateway, and a console may not be built.
const OTHERS_NEEDED = new Set([
  'listMcpTools',
  'recordCall',
  'logIn',
  'logOut',
  'console',
  'consolePage',
  'consoleAsset',
  'openApprovalLink',
  'decideByApprovalLink',
]);

const OF_RECORDINGS = [
  'getRecording',
  'recordCall',
  'getRecordedStep',
  'presetRecordedStep',
  'suggestReferences',
  'getRecordedDefinition',
  'recordingMcp',
];

holdToDocument(
  (path) => !isAboutRuns(path),
  ({ operationId }) => !OTHERS_NEEDED.has(operationId),
  async () => {
    const gateway = await testGateway({ SIGNALBOX_ADMIN_KEY: ADMIN_KEY, SIGNALBOX_CODEC: '1' });
    await endOrganization(gateway);
    const as = (key: string) => ({ authorization: `Bearer ${key}` });
    const send = async (method: string, path: string, json: Json = {}): Promise<Answer['body']> => {
      const answer = await gateway.request(method, path, { json, headers: as(ADMIN_KEY) });
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
    const several = async <T>(count: number, make: () => Promise<T>) => {
      const made: T[] = [];
      for (let n = 0; n < count; n++) made.push(await make());
      return made;
    };
    const store = async (name: string, more: { [key: string]: Json } = {}) => {
      const definition = echoDefinition(unique(name), more);
      const slug = String(definition['slug']);
      const { hash } = await send('PUT', `/api/workflows/${slug}`, definition);
      return { slug, hash: String(hash), definition };
    };
    const echo = await store('echo', { config: { publicStart: true } });
    const open = await store('open', { constraints: { allowSelfModification: true } });
    const propose = async (): Promise<string> => {
      const proposal = { ...open.definition, description: unique('changed') };
      return (await send('POST', `/api/workflows/${open.slug}/proposals`, { baseWorkflowHash: open.hash, proposal }))
        .id;
    };
    const key = async () => await send('POST', '/api/keys', { name: unique('key'), role: 'viewer' });
    const reviewer = await send('POST', '/api/keys', { name: unique('reviewer'), role: 'admin' });
    const review = async (id: string) => {
      const path = `/api/workflows/${open.slug}/proposals/${id}/review`;
      await gateway.request('POST', path, { json: { decision: 'approve' }, headers: as(reviewer.key) });
      return id;
    };
    const trigger = (type: string, config: { [key: string]: Json }) => ({
      workflowId: echo.slug,
      name: unique(type),
      type,
      config,
    });
    const made = async (type: string, config: { [key: string]: Json }): Promise<string> =>
      (await send('POST', '/api/triggers', trigger(type, config))).id;
    const doomed = await several(4, async () => (await store('doomed')).slug);
    const publicKey = await send('POST', '/api/public-key');
    for (const name of ['fuzz', 'gone']) {
      await send('PUT', `/api/secrets/${name}`, { value: 'fuzz' });
      await send('PUT', `/api/models/${name}`, { provider: 'openai', model: 'm' });
      await send('PUT', `/api/mcp-servers/${name}`, { url: 'https://example.org/mcp' });
    }
    const renamed = await store('renamed');
    const recording = async () => {
      const { id } = await send('POST', '/api/recordings', { name: unique('recorded'), input: { a: 1 } });
      const step = { name: 'fuzz', action: { return: true }, input: { a: 1, b: 2 }, output: { a: 1 } };
      await send('POST', `/api/recordings/${id}/steps`, step);
      return String(id);
    };
    const recorded = await recording();
    const proposals = await several(3, propose);
    const approved = await several(2, async () => review(await propose()));
    const manual = await several(3, () => made('manual', {}));
    const schedule = await made('schedule', { cron: '0 3 * * *' });
    return {
      gateway,
      headers: as(reviewer.key),
      known: {
        slug: [echo.slug],
        hash: [echo.hash],
        from: [echo.hash],
        to: [echo.hash],
        workflowId: [echo.slug],
        name: ['fuzz'],
        scope: ['organization', 'user'],
        publicApiKey: [publicKey.publicApiKey ?? publicKey.key],
        id: manual,
        DefinitionDocument: [echoDefinition(unique('new')), echo.definition],
        RunWorkflowRequest: [{ workflowId: echo.slug, input: { a: 1 } }],
        PutSecretRequest: [{ value: 'fuzz' }],
        PutLimitRequest: [{ limit: 10_000 }, {}],
        SyncWorkflowRequest: [{ workflow: echo.definition, source: 'fuzz' }],
        SyncAllWorkflowsRequest: [{ workflows: [], source: unique('nobody') }],
        PatchWorkflowRequest: [{ description: 'Changed.' }],
        ProposeRequest: [{ baseWorkflowHash: open.hash, proposal: { ...open.definition, description: 'Proposed.' } }],
        ReviewProposalRequest: [{ decision: 'reject' }],
        RollBackWorkflowRequest: [{ workflowHash: echo.hash }],
        CreateKeyRequest: [{ name: 'fuzz', role: 'viewer' }],
        CreateTriggerRequest: [trigger('event', { name: 'fuzz' })],
        BackfillTriggerRequest: [{ start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:00:01Z' }],
        PublishEventRequest: [{ name: unique('nobody-listens') }],
        EncodePayloadsRequest: [{ payloads: [{ data: 'YQ==' }] }],
        CreateRecordingRequest: [{ name: 'fuzz' }],
        AppendRecordedStepRequest: [{ action: { return: true } }],
        PresetRecordedStepRequest: [{ output: 7 }],
        ConfirmReferencesRequest: [{ items: [{ step: 'fuzz', pointer: '/b', reference: '@input.b' }] }],
        SaveRecordingRequest: [{ slug: unique('saved') }],
        RecordCallRequest: [{ toolName: 'nobody' }],
        RecordingMcpRequest: [{ jsonrpc: '2.0', id: 1, method: 'ping' }],
        McpRequest: [{ jsonrpc: '2.0', id: 1, method: 'ping' }],
        DecodePayloadsRequest: [{ payloads: [{ data: 'YQ==' }] }],
        status: ['pending'],
        'If-Match': [echo.hash, '*'],
        'If-None-Match': ['*'],
        'Idempotency-Key': ['again'],
      },
      knownBy: {
        putWorkflow: { DefinitionDocument: [echo.definition] },
        patchWorkflow: { slug: [renamed.slug] },
        disableWorkflow: { slug: [renamed.slug] },
        ...Object.fromEntries(OF_RECORDINGS.map((name) => [name, { id: [recorded] }])),
        // What others add to a recording may be no definition.
        appendRecordedStep: { id: [await recording()] },
        changeRecording: { id: [await recording()] },
        confirmReferences: { id: [await recording()] },
        saveRecording: { id: [await recording()] },
        replayRecording: { id: [await recording()] },
        deleteRecording: { id: await several(3, recording) },
        dropRecordedStep: { id: await several(3, recording) },
        deleteWorkflow: { slug: doomed },
        propose: { slug: [open.slug] },
        getProposal: { slug: [open.slug], id: proposals },
        reviewProposal: { slug: [open.slug], id: proposals },
        applyProposal: { slug: [open.slug], id: approved },
        revokeKey: { id: (await several(3, key)).map(({ id }) => id) },
        putModel: { body: [{ provider: 'openai', model: 'm' }] },
        putMcpServer: { body: [{ url: 'https://example.org/mcp' }] },
        deleteSecret: { name: ['gone'] },
        deleteModel: { name: ['gone'] },
        deleteMcpServer: { name: ['gone'] },
        changeTrigger: { id: [await made('manual', {})] },
        deleteTrigger: { id: await several(3, () => made('manual', {})) },
        disableTrigger: { id: [await made('schedule', { cron: '0 3 * * *' })] },
        backfillTrigger: { id: [schedule] },
      },
    };
  },
);
