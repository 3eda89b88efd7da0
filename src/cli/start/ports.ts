import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLock } from '#lock';

// Another stack could choose the same port before this one listens on it. So a lock file holds a chosen port until the
// process ends or releases it.

/**
 * The ports above 1023 to which browsers refuse requests of every kind (https://fetch.spec.whatwg.org/#port-blocking).
 */
export const PORTS_CLOSED_TO_BROWSERS: readonly number[] = [
  ...[
    6665, 6666, 6667, 6668, 6669, 6679, 6697, 6566, 10_080, 4190, 4045, 3659, 1719, 1720, 1723, 5060, 5061, 2049, 6000,
  ],
];

/** A free port, and how to release its lock. */
export type ClaimedPort = { port: number; release: () => void };

/** A configured port is not free. */
export class PortTakenError extends Error {
  readonly code = 'port_taken';
  readonly exitCode = 1;
  constructor(setting: string, port: number) {
    super(`${setting}: port ${port} is taken, or this user may not use it. Free it, or set another one.`);
    this.name = 'PortTakenError';
  }
}

/** Claims a configured port. @throws PortTakenError */
export async function claimNamedPort(host: string, port: number, setting: string): Promise<ClaimedPort> {
  const claimed = await claim(host, port);
  if (!claimed) throw new PortTakenError(setting, port);
  return claimed;
}

/** Claims the first free port of the preferred ones, or any free port. */
export async function claimPort(host: string, ...preferred: readonly number[]): Promise<ClaimedPort> {
  const claimed = await claimOneOf(host, preferred);
  if (claimed) return claimed;
  for (;;) {
    const claimed = await claim(host, await listenOnce(host, 0).then((port) => port ?? 0));
    if (claimed) return claimed;
  }
}

/** Claims the first free port of these. Undefined if none is free. */
export async function claimOneOf(host: string, ports: readonly number[]): Promise<ClaimedPort | undefined> {
  for (const port of ports) {
    const claimed = await claim(host, port);
    if (claimed) return claimed;
  }
  return undefined;
}

async function claim(host: string, port: number): Promise<ClaimedPort | undefined> {
  const { release } = tryLock(join(tmpdir(), `signalbox-port-${port}.lock`));
  if (!release) return undefined;
  if ((await listenOnce(host, port)) === port) return { port, release };
  release();
  return undefined;
}

/** The port if it is free; undefined otherwise. Port 0 resolves to a free port. */
function listenOnce(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(undefined);
      else reject(error);
    });
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}
