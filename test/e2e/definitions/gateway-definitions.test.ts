import { describe, expect, it } from 'vitest';
import { ACTOR_PRIORITY } from '../../../src/client/temporal/actor-calls.ts';
import { approvalDefinition, echoDefinition, sharedGateway, testGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();

describe('definitions over HTTP', () => {
  it('stores a definition, says 201 at first and 200 after, and keeps the hash of what did not change', async () => {
    const slug = unique('refund');
    const first = await gateway.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
    expect(first).toMatchObject({
      status: 201,
      body: { slug, name: 'Refund approval', version: '1.0.0', enabled: true, tags: ['finance'] },
    });
    expect(first.body.hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(first.headers.get('etag')).toBe(`"${first.body.hash}"`);

    const same = await gateway.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
    expect(same).toMatchObject({ status: 200, body: { hash: first.body.hash, version: '1.0.0' } });

    const changed = await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: approvalDefinition(slug, { description: 'changed' }),
    });
    expect(changed).toMatchObject({ status: 200, body: { version: '1.0.1' } });
    expect(changed.body.hash).not.toBe(first.body.hash);

    const read = await gateway.request('GET', `/api/workflows/${slug}`);
    expect(read.body).toMatchObject({
      slug,
      hash: changed.body.hash,
      version: '1.0.1',
      definition: { slug, version: '1.0.1', description: 'changed' },
    });
  });

  it('takes YAML, and gives it the hash of the same definition in JSON', async () => {
    const slug = unique('yaml');
    const text =
      `name: Echo\nslug: ${slug}\nsteps:\n  received: {stepType: trigger, nextSteps: {success: ` +
      'done}}\n  done: {stepType: finish, config: {output: "{{ input }}"}}\n';
    const yaml = await gateway.request('PUT', `/api/workflows/${slug}`, {
      text,
      headers: { 'content-type': 'application/yaml' },
    });
    const json = await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    expect(yaml.status).toBe(201);
    expect(json).toMatchObject({ status: 200, body: { hash: yaml.body.hash } });
  });

  it('refuses a write that expects another hash', async () => {
    const slug = unique('match');
    const never = await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: echoDefinition(slug),
      headers: { 'if-match': '"sha256:0"' },
    });
    expect(never).toMatchObject({ status: 412, body: { code: 'hash_mismatch' } });
    const { body } = await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    const stale = await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: approvalDefinition(slug),
      headers: { 'if-match': 'sha256:0' },
    });
    expect(stale).toMatchObject({ status: 412, body: { code: 'hash_mismatch' } });
    const right = await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: approvalDefinition(slug),
      headers: { 'if-match': `"${body.hash}"` },
    });
    expect(right.status).toBe(200);
    for (const [tags, status] of [
      [`W/"${right.body.hash}"`, 412],
      [`"sha256:0", W/"${right.body.hash}"`, 412],
      [`"sha256:0", "sha256:1"`, 412],
      [`"sha256:0", "${right.body.hash}", "sha256:1"`, 200],
      [`"${right.body.hash}","sha256:0"`, 200],
      ['*', 200],
    ] as const) {
      const headers = { 'if-match': tags };
      const put = await gateway.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug), headers });
      expect([tags, put.status]).toEqual([tags, status]);
    }
    const patched = await gateway.request('PATCH', `/api/workflows/${slug}`, {
      json: { tags: ['x'] },
      headers: { 'if-match': `W/"${right.body.hash}"` },
    });
    expect(patched.status).toBe(412);
    const kept = await gateway.request('DELETE', `/api/workflows/${slug}`, {
      headers: { 'if-match': `W/"${right.body.hash}"` },
    });
    expect(kept.status).toBe(412);
    const again = await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: echoDefinition(slug),
      headers: { 'if-none-match': '*' },
    });
    expect(again).toMatchObject({ status: 412, body: { code: 'already_exists' } });
  });

  it('lists, deletes, and finds nothing afterwards', async () => {
    const slug = unique('gone');
    await gateway.request('POST', '/api/workflows', { json: echoDefinition(slug, { tags: [slug] }) });
    const listed = await gateway.until(`/api/workflows?tag=${slug}`, (answer) => answer.body.items.length === 1);
    expect(listed.body.items[0]).toMatchObject({ slug, name: 'Echo', enabled: true });
    expect((await gateway.request('DELETE', `/api/workflows/${slug}`)).status).toBe(204);
    expect((await gateway.request('GET', `/api/workflows/${slug}`)).status).toBe(404);
    expect((await gateway.request('DELETE', `/api/workflows/${slug}`)).status).toBe(404);
    await gateway.until(`/api/workflows?tag=${slug}`, (answer) => answer.body.items.length === 0);
    const back = await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: echoDefinition(slug, { description: 'back' }),
    });
    expect(back).toMatchObject({ status: 201, body: { version: '1.0.1' } });
  });

  it('says with pointers what is wrong, and stores nothing', async () => {
    const slug = unique('wrong');
    const steps = {
      received: { stepType: 'trigger', nextSteps: { success: 'nowhere' } },
      odd: { stepType: 'teleport' },
    };
    const answer = await gateway.request('PUT', `/api/workflows/${slug}`, { json: { name: 'Wrong', slug, steps } });
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_definition' } });
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    const pointers = answer.body.problems.map((problem: { pointer: string }) => problem.pointer);
    expect(pointers.some((pointer: string) => pointer.startsWith('/steps/'))).toBe(true);
    expect((await gateway.request('GET', `/api/workflows/${slug}`)).status).toBe(404);
    const validated = await gateway.request('POST', '/api/workflows/validate', {
      json: { name: 'Wrong', slug, steps },
    });
    expect(validated).toMatchObject({ status: 200, body: { valid: false, dialect: 'canonical' } });
  });

  it('validates without saving', async () => {
    const slug = unique('valid');
    const answer = await gateway.request('POST', '/api/workflows/validate', { json: echoDefinition(slug) });
    expect(answer).toMatchObject({ status: 200, body: { valid: true, dialect: 'canonical', problems: [] } });
    expect((await gateway.request('GET', `/api/workflows/${slug}`)).status).toBe(404);
  });

  it('loses no write while an actor continues as new', async () => {
    const small = await testGateway({ SIGNALBOX_HISTORY_LIMIT: '20' });
    try {
      const slug = unique('often');
      for (let i = 0; i < 12; i++) {
        const answer = await small.request('PUT', `/api/workflows/${slug}`, {
          json: echoDefinition(slug, { description: `change ${i}` }),
        });
        expect(answer).toMatchObject({ status: i === 0 ? 201 : 200, body: { version: `1.0.${i}` } });
      }
      const at = (n: number) =>
        small.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, { description: `at once ${n}` }) });
      const together = await Promise.all(Array.from({ length: 30 }, (_, n) => at(n)));
      expect(together.map((answer) => answer.status)).toEqual(Array.from({ length: 30 }, () => 200));
      const versions = together.map((answer) => Number(answer.body.version.split('.')[2])).sort((a, b) => a - b);
      expect(versions).toEqual(Array.from({ length: 30 }, (_, n) => 12 + n));
      const described = await small.server.client.workflow.getHandle(`def.default.${slug}`).describe();
      expect(described.raw.workflowExecutionInfo?.firstRunId).not.toBe(described.runId);
      // Its tasks go before those of runs, also in the new run.
      expect(described.priority).toMatchObject(ACTOR_PRIORITY);
    } finally {
      await small.close();
    }
  });
});
