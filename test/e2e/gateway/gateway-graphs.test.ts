import { describe, expect, it } from 'vitest';
import { approvalDefinition, sharedGateway, unique } from './gateway-support.ts';

const gateway = sharedGateway();

const idsOf = (body: { nodes: { id: string }[] }) => body.nodes.map(({ id }) => id);

describe('the graph of a run', () => {
  it('is there for an inline run, as its definition is', async () => {
    const definition = approvalDefinition(unique('inline'));
    const { body } = await gateway.request('POST', '/api/executions', { json: { definition, input: { amount: 1 } } });
    const path = `/api/executions/${body.executionId}`;
    const graph = await gateway.request('GET', `${path}/graph`);
    expect(graph).toMatchObject({ status: 200, body: { slug: definition['slug'], flow: 'ports', start: 'received' } });
    expect(idsOf(graph.body)).toEqual(['received', 'review', 'yes', 'no']);
    expect(graph.body.nodes[1]).toMatchObject({
      kind: 'approval',
      ports: ['approved', 'rejected', 'timeout', 'error'],
    });
    const read = await gateway.request('GET', `${path}/definition`);
    expect(read.body.definition.steps.review.config.message).toBe('Refund {{ input.amount }}?');
    await gateway.request('POST', `${path}/terminate`);
  });

  it('is that of the version that the run walks, also once the workflow was changed and deleted', async () => {
    const slug = unique('graph');
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
    const executionId = await gateway.start(slug);
    const path = `/api/executions/${executionId}`;
    const before = await gateway.request('GET', `/api/workflows/${slug}/graph`);
    const steps = { only: { stepType: 'finish' } };
    expect(
      (await gateway.request('PUT', `/api/workflows/${slug}`, { json: { name: 'Other', slug, steps } })).status,
    ).toBe(200);
    expect((await gateway.request('DELETE', `/api/workflows/${slug}`)).status).toBe(204);
    const { status, body: graph } = await gateway.request('GET', `${path}/graph`);
    expect(status).toBe(200);
    expect(graph).toEqual(before.body);
    expect((await gateway.request('GET', `${path}/definition`)).body).toMatchObject({
      workflowId: slug,
      workflowHash: graph.hash,
    });
    await gateway.request('POST', `${path}/terminate`);
  });

  it('is not found where there is no run', async () => {
    expect((await gateway.request('GET', '/api/executions/run.default.none.1/graph')).body.code).toBe('not_found');
  });
});

describe('the graph of a draft', () => {
  const draw = (options: { json?: never; text?: string; headers?: Record<string, string> }) =>
    gateway.request('POST', '/api/workflows/graph', options);

  it('is that of the stored workflow where the draft has no problem', async () => {
    const slug = unique('draft');
    const { status, body } = await draw({ json: approvalDefinition(slug) as never });
    expect(status).toBe(200);
    expect(body).toMatchObject({ slug, flow: 'ports', problems: [] });
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
    const { problems: _problems, warnings: _warnings, ...graph } = body;
    expect((await gateway.request('GET', `/api/workflows/${slug}/graph`)).body).toEqual(graph);
  });

  it('shows what there is of a draft with problems, with their places', async () => {
    const text = [
      'name: Draft',
      'steps:',
      '  first: {stepType: set, config: {values: {a: 1}}, nextSteps: {success: second, error: nowhere}}',
      '  second: {stepType: approvall}',
      '  third: {config: []}',
    ].join('\n');
    const { status, body } = await draw({ text, headers: { 'content-type': 'application/yaml' } });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(idsOf(body)).toEqual(['first', 'second', 'third']);
    expect(body.nodes.map(({ kind }: { kind: string }) => kind)).toEqual(['set', 'unknown', 'unknown']);
    expect(body.edges).toEqual([{ from: 'first', to: 'second', port: 'success' }]);
    expect(body.problems.length).toBeGreaterThan(0);
    expect(body.problems[0]).toMatchObject({ pointer: expect.stringMatching(/^\/steps/), code: expect.any(String) });
    expect(body).not.toHaveProperty('hash');
  });

  it('refuses what is no document', async () => {
    const yaml = { 'content-type': 'application/yaml' };
    expect((await draw({ text: 'a: [', headers: yaml })).body.code).toBe('invalid_yaml');
    expect((await draw({ text: 'x', headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    const wrong = await gateway.request('POST', '/api/workflows/graph?dialect=x', { json: {} });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });
});
