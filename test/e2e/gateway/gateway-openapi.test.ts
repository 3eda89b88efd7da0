import { WorkflowNotFoundError } from '@temporalio/common';
import { approvalDefinition, echoDefinition, type TestGateway, testGateway, unique } from './gateway-support.ts';
import { holdToDocument, isAboutRuns } from './openapi-suite.ts';

/** All files share the server and this actor, which stays on the task queue of the file that created it. */
async function endOrganization({ server }: TestGateway): Promise<void> {
  const actor = server.client.workflow.getHandle('org.default');
  await actor.terminate('The next test begins anew.').catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
}

// What no request can know: the tokens of callbacks, and ids of messages. A webhook takes one method.
const METHODS = ['Get', 'Put', 'Patch', 'Delete'];
const SECRETIVE = new Set([
  ...METHODS.flatMap((method) => [`deliver${method}`, `deliver${method}ToDefault`]),
  'deleteInboxMessage',
  'getBulk',
]);

holdToDocument(
  isAboutRuns,
  ({ operationId }, path) => !path.startsWith('/callbacks/') && !SECRETIVE.has(operationId),
  async () => {
    const gateway = await testGateway();
    await endOrganization(gateway);
    const store = async (json: { [key: string]: unknown }) => {
      const slug = String(json['slug']);
      const answer = await gateway.request('PUT', `/api/workflows/${slug}`, { json: json as never });
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      return slug;
    };
    const start = async (workflowId: string) => {
      const json = { workflowId, input: { amount: 3 } };
      return String((await gateway.request('POST', '/api/triggers/manual/run', { json })).body.executionId);
    };
    const started = (slug: string, count: number) => Promise.all(Array.from({ length: count }, () => start(slug)));
    const echo = await store(echoDefinition(unique('echo')));
    const approval = await store(approvalDefinition(unique('approval')));
    const ask = { ask: { stepType: 'user_input', config: { message: 'What?' } } };
    const form = await store(echoDefinition(unique('form'), { steps: ask }));
    const no = { no: { stepType: 'fail', config: { code: 'no', message: 'No.' } } };
    const failing = await store(echoDefinition(unique('failing'), { steps: no }));
    // Bulk operations retry these while the others are retried one by one.
    const failingInBulk = await store(echoDefinition(unique('failing-in-bulk'), { steps: no }));
    const hooked = unique('hooked');
    const hook = { name: 'hook', type: 'webhook', config: { path: hooked, scheme: 'none' } };
    await store(echoDefinition(hooked, { triggers: [hook] }));
    const ended = await started(echo, 2);
    const failed = await started(failing, 3);
    const failedInBulk = await started(failingInBulk, 3);
    for (const id of [...ended, ...failed, ...failedInBulk])
      await gateway.request('GET', `/api/executions/${id}/result?wait=20`);
    const definitions = [echoDefinition(unique('new')), echoDefinition(echo), approvalDefinition(approval)];
    return {
      gateway,
      known: {
        id: [...(await started(approval, 6)), ...ended],
        run: ended,
        org: ['default'],
        slug: [echo],
        workflowId: [echo],
        page: ['http', 'loop.md', 'expressions'],
        operation: ['bulk.default.cancel.1', 'bulk.default.retry.1'],
        RunInlineRequest: definitions.flatMap((definition) => [{ definition }, { definition, dryRun: true }]),
        RunWorkflowOfOrganizationRequest: [{ payload: { a: 1 } }],
        DecideRequest: [{ approve: true }, { approve: false, comments: 'no' }],
        SubmitRequest: [{ data: { a: 1 } }],
        ForkExecutionRequest: [{ from: 'done' }, { from: 'received', edits: { input: { b: 2 } } }],
        RunBulkRequest: [{ action: 'cancel', filter: { workflowId: 'nowhere' }, preview: true }],
        filter: [{ workflowId: 'nowhere' }, { workflow_id: failingInBulk, status: 'failed', duration: { gte: 1 } }],
        EvaluateRequest: [
          { expression: 'a + 1', context: { a: 1 } },
          { template: ['{{ a }}'], context: { a: 1 } },
        ],
        wait: [0, 1],
        status: ['completed', 'waiting,failed'],
        'Idempotency-Key': ['again'],
        'Last-Event-ID': ['nonsense'],
      },
      knownBy: {
        deliverPost: { path: [hooked], org: ['default'] },
        deliverPostToDefault: { path: [hooked] },
        decide: { id: await started(approval, 3) },
        getApproval: { executionId: await started(approval, 2), path: ['review'] },
        submit: { id: await started(form, 3) },
        cancelExecution: { id: await started(approval, 3) },
        terminateExecution: { id: await started(approval, 3) },
        retryExecution: { id: failed },
        forkExecution: { id: ended },
        followExecution: { id: ended },
      },
    };
  },
);
