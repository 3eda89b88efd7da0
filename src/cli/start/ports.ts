import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLock } from '#lock';

// Between choosing a port and listening on it, another stack that starts at the same moment could choose the same. So
// a chosen port is held by a lock file until the process ends or the port is given back.

/** A port that nobody else listens on, and how to give up the claim to it. */
export type ClaimedPort = { port: number; release: () => void };

/** Claims the preferred port, or any free one when that is taken or none is preferred. */
export async function claimPort(host: string, preferred?: number): Promise<ClaimedPort> {
  if (preferred !== undefined) {
    const claimed = await claim(host, preferred);
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
