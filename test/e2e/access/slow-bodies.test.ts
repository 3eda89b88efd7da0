// Requests whose bodies do not arrive hold no slot of those that do.
import { connect, type Socket } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

/** More than a gateway has slots. */
const COUNT = 1_040;
const ADMIN = 'an-admin-key-of-enough-characters';

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: ADMIN, SIGNALBOX_RATE_ADDRESS: '0' });
const sockets: Socket[] = [];
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
});

it('changes are answered while bodies of deliveries never arrive', { timeout: 60_000 }, async () => {
  const { hostname, port } = new URL(gateway.url);
  const [path, slug] = [unique('idle'), unique('idle')];
  const triggers = [{ name: 'in', type: 'webhook', config: { path } }];
  await gateway.store(echoDefinition(slug, { triggers }));
  let answered = '';
  for (let n = 0; n < COUNT; n++) {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => (answered += chunk));
    socket.write(
      `POST /webhooks/${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\n` +
        'Content-Length: 20\r\n\r\n{',
    );
  }
  await expect.poll(() => sockets.every(({ connecting }) => !connecting)).toBe(true);
  // A delivery after all of them: they have been taken up.
  const delivered = await gateway.request('POST', `/webhooks/${path}`, { json: { n: 1 } });
  expect(delivered.status).toBe(202);
  const started = await gateway.request('POST', '/api/triggers/manual/run', { json: { workflowId: slug } });
  expect(started.status, JSON.stringify(started.body)).toBe(201);
  expect(answered).not.toMatch(/^HTTP\/1\.1 (2|503)/m);
});

it('the first key of a new organization is taken immediately', async () => {
  const organization = unique('fresh');
  // A name that was asked for, and did not exist.
  expect((await gateway.request('POST', `/webhooks/${organization}/x`, { json: {} })).status).toBe(404);
  const made = await gateway.request('POST', '/api/keys', { json: { name: 'ann', role: 'admin', organization } });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const me = await gateway.request('GET', '/api/me', { headers: { authorization: `Bearer ${made.body.key}` } });
  expect(me.body).toMatchObject({ organization });
});
