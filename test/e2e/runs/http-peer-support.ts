/** Support for tests of runs that call an HTTP peer. */
import type { ServerResponse } from 'node:http';
import { type TestServer as HttpServer, type Seen, serve } from '../../activities/server.ts';
import { startWorker, type TestServer, testServer } from '../../support/temporal.ts';

/** An HTTP peer on loopback with the given answers, and a worker whose runs may reach it. */
export async function startHttpPeer(
  answer: (seen: Seen, response: ServerResponse) => void,
): Promise<{ server: TestServer; other: HttpServer; close(): Promise<void> }> {
  const other = await serve(answer);
  const server = await testServer({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
  const worker = await startWorker(server);
  const close = async (): Promise<void> => {
    await worker.stop();
    await server.close();
    await other.close();
  };
  return { server, other, close };
}
