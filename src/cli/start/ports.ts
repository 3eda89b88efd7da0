import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLock } from '#lock';

// Between choosing a port and listening on it, another stack that starts at the same moment could choose the same. So
// a chosen port is held by a lock file until the process ends or the port is given back.

/** A port that nobody else listens on, and how to give up the claim to it. */
export type ClaimedPort = { port: number; release: () => void };

/** A port that a setting names is not free. */
export class PortTakenError extends Error {
  readonly code = 'port_taken';
  readonly exitCode = 1;
  constructor(setting: string, port: number) {
    super(`${setting}: port ${port} is taken, or may not be used by this user. Free it, or name another one.`);
    this.name = 'PortTakenError';
  }
}

/** Claims the port that a setting names. @throws PortTakenError */
export async function claimNamedPort(host: string, port: number, setting: string): Promise<ClaimedPort> {
  const claimed = await claim(host, port);
  if (!claimed) throw new PortTakenError(setting, port);
  return claimed;
}

/** Claims the first of the preferred ports that is free, or any free one. */
export async function claimPort(host: string, ...preferred: readonly number[]): Promise<ClaimedPort> {
  for (const port of preferred) {
    const claimed = await claim(host, port);
    if (claimed) return claimed;
  }
  for (;;) {
    const claimed = await claim(host, await listenOnce(host, 0).then((port) => port ?? 0));
    if (claimed) return claimed;
  }
}

async function claim(host: string, port: number): Promise<ClaimedPort | undefined> {
  const { release } = tryLock(join(tmpdir(), `signalbox-port-${port}.lock`));
  if (!release) return undefined;
  if ((await listenOnce(host, port)) === port) return { port, release };
  release();
  return undefined;
}

/** The port that could be listened on; undefined when it is taken. */
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
