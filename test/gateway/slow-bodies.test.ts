// Bodies that come slowly or never end, by a clock of the test's own.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BodyReader } from '../../src/gateway/http/body-reader.ts';
import { type GatewayWithoutTemporal, gatewayWithoutTemporal } from './gateway-support.ts';

let gateway: GatewayWithoutTemporal;
let now = 0;
const looks = new Set<() => void>();
const sockets: Socket[] = [];
/** The gateway's ends. */
const accepted: Socket[] = [];
const accept = (message: unknown): void => void accepted.push((message as { socket: Socket }).socket);
const clock = {
  now: () => now,
  every: (_ms: number, act: () => void) => {
    looks.add(act);
    return () => looks.delete(act);
  },
};

beforeEach(async () => {
  now = 0;
  subscribe('net.server.socket', accept);
  gateway = await gatewayWithoutTemporal({}, undefined, undefined, undefined, { clock });
});
afterEach(async () => {
  unsubscribe('net.server.socket', accept);
  accepted.length = 0;
  for (const socket of sockets.splice(0)) socket.destroy();
  await gateway.close();
  expect(looks.size).toBe(0);
});

function pass(ms: number): void {
  now += ms;
  for (const look of [...looks]) look();
}

/** A request that has sent the first part of its body. `ended` resolves to all that came back when it is closed. */
async function sending(part: string, length = 1_000_000): Promise<{ socket: Socket; told(): string }> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  let received = '';
  socket.on('data', (chunk) => (received += chunk));
  socket.on('error', () => undefined);
  socket.write(
    `POST /api/workflows/validate HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${length}\r\n\r\n${part}`,
  );
  await expect.poll(() => looks.size).toBe(1);
  await arrived(socket);
  return { socket, told: () => received };
}

/** Until the gateway has read all that was written. */
const arrived = (socket: Socket) =>
  expect
    .poll(() => accepted.find(({ remotePort }) => remotePort === socket.localPort)?.bytesRead)
    .toBe(socket.bytesWritten);

const isClosed = (socket: Socket) => expect.poll(() => socket.closed || socket.readableEnded).toBe(true);
const TOO_SLOW = /^HTTP\/1\.1 408 [\s\S]*"code":"request_timeout"/;

it('a body of which nothing comes is refused after 5 seconds, and its connection ends', async () => {
  const { socket, told } = await sending('{');
  pass(4_900);
  expect(told()).toBe('');
  pass(101);
  await isClosed(socket);
  expect(told()).toMatch(TOO_SLOW);
  expect(told()).toMatch(/connection: close/i);
});

it('a body may come at a kilobyte a second, but has no more than 20 seconds', async () => {
  const { socket, told } = await sending(`{"name": "${'x'.repeat(1_000)}`);
  for (let second = 1; second < 20; second++) {
    const before = second * 1_000;
    pass(1_000);
    expect(looks.size, `after ${before} ms`).toBe(1);
    socket.write('x'.repeat(2_000));
    await arrived(socket);
  }
  pass(999);
  expect(told()).toBe('');
  pass(1);
  await isClosed(socket);
  expect(told()).toMatch(TOO_SLOW);
});

it('a body that comes in time is read, and nothing is watched any more', async () => {
  const text = JSON.stringify({ name: 'a', steps: { a: { stepType: 'finish' } } });
  const { socket, told } = await sending(text.slice(0, 10), text.length);
  pass(4_900);
  socket.write(text.slice(10));
  await expect.poll(told).toMatch(/^HTTP\/1\.1 200 [\s\S]*"valid":true/);
  expect(looks.size).toBe(0);
});

it('bodies that hold too much together are refused: without keys first, the oldest first', async () => {
  const bodyReader = new BodyReader(clock, 1_000_000);
  const received: string[] = [];
  const ends: (() => void)[] = [];
  const reader: RequestHandler = (_req, _res, next) => ends.push(() => next());
  const body = (name: string, hasKey: boolean, bytesRead: number, encoding?: string) => {
    const socket = { bytesRead: 0 };
    const req = { socket, get: () => encoding } as unknown as Request;
    void bodyReader
      .read(reader, req, {} as Response, hasKey)
      .catch((error: { code: string }) => received.push(`${name}: ${error.code}`));
    socket.bytesRead = bytesRead;
    return socket;
  };
  const own = body('with a key', true, 400_000);
  body('first', false, 300_000);
  body('second', false, 200_000);
  body('compressed', false, 96, 'gzip');
  pass(500);
  await new Promise(setImmediate);
  expect(received).toEqual([]);
  own.bytesRead += 200_000;
  pass(500);
  await new Promise(setImmediate);
  expect(received).toEqual(['first: gateway_busy']);
  own.bytesRead += 400_000;
  pass(500);
  await new Promise(setImmediate);
  expect(received).toEqual(['first: gateway_busy', 'second: gateway_busy', 'compressed: gateway_busy']);
  for (const end of ends) end();
});
