import { describe, expect, it } from 'vitest';
import { approvalDefinition, echoDefinition, sharedGateway, testGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway({ SIGNALBOX_HISTORY_LIMIT: '20' });

type Seen = { id: string; event: string; data: { [member: string]: unknown } };

/** Listens until `enough`, or until the stream ends. */
async function listen(
  id: string,
  enough: (seen: Seen[]) => boolean = () => false,
  lastEventId?: string,
  query = '',
): Promise<{ status: number; type: string; seen: Seen[]; ended: boolean }> {
  const response = await fetch(`${gateway.url}/api/executions/${id}/events${query}`, {
    headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
  });
  const type = response.headers.get('content-type') ?? '';
  const seen: Seen[] = [];
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]),
      );
      const [event, data] = [fields.get('event'), fields.get('data')];
      if (event !== undefined && data !== undefined)
        seen.push({ id: fields.get('id') ?? '', event, data: JSON.parse(data) });
    }
    if (enough(seen)) return { status: response.status, type, seen, ended: false };
  }
  return { status: response.status, type, seen, ended: true };
}

const told = (seen: readonly Seen[]) =>
  seen.map(({ event, data }) => [event, data['path'], data['status']].filter((part) => part !== undefined).join(' '));

async function start(definition: ReturnType<typeof echoDefinition>): Promise<string> {
  const { body } = await gateway.request('POST', '/api/executions', { json: { definition, input: { amount: 7 } } });
  return String(body.executionId);
}

const waiting = (seen: Seen[]) => seen.some(({ data }) => data['status'] === 'waiting');

describe('the events of a run', () => {
  it('come as its steps begin and end, and end with it', async () => {
    const id = await start(approvalDefinition(unique('stream')));
    const all = listen(id);
    const first = await listen(id, waiting);
    expect(first).toMatchObject({ status: 200, ended: false });
    expect(first.type).toContain('text/event-stream');
    expect(told(first.seen)).toEqual([
      'step received running',
      'step received completed',
      'step review running',
      'status waiting',
    ]);
    await gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: true } });
    const rest = await listen(id, undefined, first.seen.at(-1)?.id);
    expect(rest.ended).toBe(true);
    expect(told(rest.seen)).toEqual([
      'step review completed',
      'step yes running',
      'step yes completed',
      'end completed',
    ]);
    expect(rest.seen.at(-1)?.data).toEqual({ status: 'completed', output: { paid: 7 } });
    expect((await all).seen).toEqual([...first.seen, ...rest.seen]);
    expect((await listen(id)).seen).toEqual([...first.seen, ...rest.seen]);
    expect(await listen(id, undefined, rest.seen.at(-1)?.id)).toMatchObject({ status: 204, seen: [] });
  });

  it('have the names of agent-ops where these are asked for', async () => {
    const id = await start(approvalDefinition(unique('named')));
    const all = listen(id, undefined, undefined, '?names=002');
    const first = await listen(id, waiting, undefined, '?names=002');
    const named = (seen: readonly Seen[]) => seen.map(({ event, data }) => `${event} ${data['path'] ?? ''}`.trim());
    expect(named(first.seen)).toEqual([
      'execution.started',
      'step.started received',
      'step.completed received',
      'step.started review',
      'approval.required review',
      'status',
    ]);
    for (const { data } of first.seen) expect(data['executionId']).toBe(id);
    expect(first.seen[4]?.data).toMatchObject({ kind: 'approval', message: 'Refund 7?' });
    await gateway.request('POST', `/api/executions/${id}/approve`, { json: { approve: false, comments: 'no' } });
    const rest = await listen(id, undefined, first.seen.at(-1)?.id, '?names=agent-ops');
    expect(named(rest.seen)).toEqual([
      'approval.denied review',
      'step.completed review',
      'step.started no',
      'step.completed no',
      'execution.finished',
    ]);
    expect(rest.seen.at(-1)?.data).toEqual({ executionId: id, status: 'completed', output: { paid: 0 } });
    expect((await all).seen.map(({ event }) => event)).toEqual([...first.seen, ...rest.seen].map(({ event }) => event));
    const refused = await gateway.request('GET', `/api/executions/${id}/events?names=003`);
    expect(refused.status).toBe(400);
  });

  it('go on across continue-as-new', async () => {
    const id = await start(
      echoDefinition(unique('rounds'), {
        steps: {
          each: { stepType: 'loop', config: { items: [0, 1, 2, 3, 4, 5] }, nextSteps: { loop: 'rest' } },
          rest: { stepType: 'listen', config: { name: 'on' } },
        },
      }),
    );
    const all = listen(id);
    for (let n = 0; n < 6; n++) {
      await gateway.until(`/api/executions/${id}`, ({ body }) => body.waitingFor[0]?.path === `each~${n}/rest`);
      await gateway.request('POST', `/api/executions/${id}/messages/on`, { json: n });
    }
    const { seen, ended } = await all;
    expect(ended).toBe(true);
    const steps = told(seen).filter((line) => line.startsWith('step each~'));
    expect(steps).toEqual(
      [0, 1, 2, 3, 4, 5].flatMap((n) => [`step each~${n}/rest running`, `step each~${n}/rest completed`]),
    );
    expect(new Set(seen.map((one) => one.id.split(':')[0])).size).toBeGreaterThan(1);
    const middle = Math.floor(seen.length / 2);
    expect((await listen(id, undefined, seen[middle]?.id)).seen).toEqual(seen.slice(middle + 1));
    expect(new Set(seen.map((one) => one.id)).size).toBe(seen.length);
  });

  it('are refused for what is not there, and for ids of others', async () => {
    expect((await gateway.request('GET', '/api/executions/run.default.x.1/events')).status).toBe(404);
    const id = await start(echoDefinition(unique('echo')));
    const headers = { 'last-event-id': '00000000-0000-0000-0000-000000000000:1' };
    const answer = await gateway.request('GET', `/api/executions/${id}/events`, { headers });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } });
  });

  it('end when the gateway closes', async () => {
    const other = await testGateway();
    const definition = approvalDefinition(unique('closing'));
    const { body } = await other.request('POST', '/api/executions', { json: { definition, input: {} } });
    const response = await fetch(`${other.url}/api/executions/${body.executionId}/events`);
    const text = response.text();
    await Promise.all([text, other.close()]);
  });
});
