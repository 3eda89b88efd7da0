import { describe, expect, it } from 'vitest';
import { startGateway } from '../../../src/gateway/serve.ts';
import type { Json } from '../../../src/json/json.ts';
import { approvalDefinition, echoDefinition, requestTo, sharedGateway, unique } from './gateway-support.ts';

const gateway = sharedGateway();

const keyed = (key: string) => ({ 'idempotency-key': key });

describe('a POST with an Idempotency-Key', () => {
  it('is answered the same again, and 422 with another body', async () => {
    const slug = unique('once');
    const key = unique('key');
    const first = await gateway.request('POST', '/api/workflows', { json: echoDefinition(slug), headers: keyed(key) });
    expect(first.status).toBe(201);
    const { name, ...rest } = echoDefinition(slug);
    const again = await gateway.request('POST', '/api/workflows', {
      json: { ...rest, name: name! },
      headers: keyed(key),
    });
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    const other = await gateway.request('POST', '/api/workflows', {
      json: echoDefinition(unique('other')),
      headers: keyed(key),
    });
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } });
    const elsewhere = await gateway.request('POST', '/api/triggers', {
      json: { workflowId: slug, name: 'x', type: 'manual' },
      headers: keyed(key),
    });
    expect(elsewhere.status).toBe(201);
  });

  it('is done once when it is sent fifty times in parallel, over two gateways', async () => {
    const second = await startGateway(gateway.server.config, { temporal: gateway.server });
    const slug = unique('fifty');
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    const json = { workflowId: slug, name: 'only', type: 'manual' };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        requestTo(n % 2 === 0 ? gateway.url : second.url, 'POST', '/api/triggers', { json, headers: keyed(slug) }),
      ),
    );
    await second.close();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.id))).toEqual(new Set([`${slug}.only`]));
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(49);
  });

  it('that was refused may be sent again', async () => {
    const slug = unique('late');
    const send = () =>
      gateway.request('POST', '/api/triggers', {
        json: { workflowId: slug, name: 'x', type: 'manual' },
        headers: keyed(slug),
      });
    expect((await send()).status).toBe(404);
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    expect((await send()).status).toBe(201);
    expect((await send()).status).toBe(201);
  });

  it('decides once, and says so twice', async () => {
    const slug = unique('decided');
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
    const json = { workflowId: slug, input: { amount: 1 } };
    const { body } = await gateway.request('POST', '/api/triggers/manual/run', { json });
    await gateway.until(`/api/executions/${body.executionId}`, (answer) => answer.body.status === 'waiting');
    const decide = (approve: boolean) =>
      gateway.request('POST', `/api/executions/${body.executionId}/approve`, {
        json: { approve },
        headers: keyed('d'),
      });
    const first = await decide(true);
    expect(first.status).toBe(200);
    expect(await decide(true)).toMatchObject({ status: 200, body: first.body });
    expect((await decide(false)).status).toBe(422);
  });

  it('sends one message, and refuses another with its key', async () => {
    const slug = unique('told');
    const steps = { wait: { stepType: 'listen', config: { name: 'm', count: 2 } } };
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, { steps }) });
    const { body } = await gateway.request('POST', '/api/triggers/manual/run', { json: { workflowId: slug } });
    const tell = (n: number, key: string) =>
      gateway.request('POST', `/api/executions/${body.executionId}/messages/m`, { json: { n }, headers: keyed(key) });
    expect((await tell(1, 'one')).status).toBe(202);
    expect((await tell(1, 'one')).status).toBe(202);
    expect((await tell(2, 'one')).status).toBe(422);
    expect((await tell(2, 'two')).status).toBe(202);
    const result = await gateway.request('GET', `/api/executions/${body.executionId}/result?wait=20`);
    expect(result.body.output).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('starts one run, and refuses another workflow with its key', async () => {
    const [one, other] = [unique('one'), unique('other')];
    for (const slug of [one, other])
      await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    const starts: [path: string, body: (slug: string) => { [key: string]: Json }][] = [
      ['/api/triggers/manual/run', (slug) => ({ workflowId: slug })],
      ['/api/executions', (slug) => ({ definition: echoDefinition(slug) })],
    ];
    for (const [path, body] of starts) {
      const start = (slug: string) => gateway.request('POST', path, { json: body(slug), headers: keyed(one) });
      const first = await start(one);
      expect(first.status, path).toBe(201);
      expect(await start(other), path).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } });
      expect(await start(one), path).toMatchObject({ status: 200, body: { executionId: first.body.executionId } });
      // In the body it is the workflow's own.
      const named = (slug: string) =>
        gateway.request('POST', path, { json: { ...body(slug), clientRequestId: `${one} own` } });
      expect([(await named(one)).status, (await named(other)).status], path).toEqual([201, 201]);
    }
    const refused = { definition: { ...echoDefinition(one), input: { n: 'number' } }, input: { n: 'x' } };
    const late = { headers: keyed(unique('late')) };
    expect((await gateway.request('POST', '/api/executions', { json: refused, ...late })).status).toBe(422);
    const json = { ...refused, input: { n: 1 } };
    expect((await gateway.request('POST', '/api/executions', { json, ...late })).status).toBe(201);
  });

  it('starts one run when it is sent fifty times in parallel', async () => {
    const slug = unique('run');
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    const send = (input: number) =>
      gateway.request('POST', '/api/triggers/manual/run', {
        json: { workflowId: slug, input: { input } },
        headers: keyed('same'),
      });
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(1)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.executionId)).size).toBe(1);
    expect((await send(2)).status).toBe(422);
  });
});
