/**
 * Serves Temporal's Web UI, which asks for no key and answers to every name. A web page could read and start all runs
 * through it, once its own name leads to this machine (DNS rebinding). So the UI's server listens on a port to which
 * browsers refuse to connect, and this proxy passes on only what its own pages ask, and nothing once there are API
 * keys.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { isForwarded, isLoopback, nameOf, originHost } from '../../gateway/http/loopback.ts';

type UiOptions = {
  host: string;
  /** Where this proxy listens. */
  port: number;
  /** Where the server of the UI listens, on the same host. */
  serverPort: number;
  /** Origins of proxies in front of this one, which are its own too. */
  origins: readonly string[];
  /** Whether the UI is closed to everybody, since there are API keys. May reject where that is not known. */
  isClosed: () => Promise<boolean>;
};

export const CLOSED =
  "Temporal's Web UI asks for no key, and this stack has API keys. So it is closed. SIGNALBOX_UI=1 opens it for " +
  'everybody on this machine.';
const FOREIGN_NAME =
  "This is Temporal's Web UI of a Signalbox stack. It answers to names of this machine only, such as localhost, and " +
  'to those in SIGNALBOX_UI_ORIGINS.';
const FOREIGN_PAGE = "Pages of other origins may not call Temporal's Web UI.";
const FORWARDED =
  "The request came through a proxy. Temporal's Web UI asks for no key, so it serves other machines only under an " +
  'origin that SIGNALBOX_UI_ORIGINS names.';

/** Headers of one connection, which are not passed on. */
const OF_CONNECTION = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

/** Listens. @throws errors of `listen`, such as EADDRINUSE */
export async function serveUi(options: UiOptions): Promise<{ close(): Promise<void> }> {
  const { host, port, serverPort, origins, isClosed } = options;
  const agent = new Agent({ keepAlive: true });
  const server = createServer(async (incoming, answer) => {
    const why = whyRefused(incoming, origins);
    if (why !== undefined) return refuse(answer, 403, why);
    try {
      if (await isClosed()) return refuse(answer, 403, CLOSED);
    } catch {
      return refuse(answer, 503, 'Temporal does not answer, so it is not known whether there are API keys.');
    }
    pass(incoming, answer, { agent, host, port: serverPort });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => resolve());
  });
  return {
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}

/** Undefined for requests of its own pages, and for those that open one. */
function whyRefused({ headers, method, url = '' }: IncomingMessage, origins: readonly string[]): string | undefined {
  const host = (headers.host ?? '').toLowerCase();
  const named = origins.find((origin) => new URL(origin).host === host);
  if (!url.startsWith('/') || (named === undefined && !isLoopback(nameOf(host)))) return FOREIGN_NAME;
  const origin = headers.origin?.toLowerCase();
  if (origin !== undefined && originHost(origin) !== host && !origins.includes(origin)) return FOREIGN_PAGE;
  const hasOwnOrigin = origin !== undefined && origins.includes(origin);
  const site = headers['sec-fetch-site'];
  const isOpened =
    (method === 'GET' || method === 'HEAD') &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document';
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isOpened) return FOREIGN_PAGE;
  if (isForwarded({ headers }) && named === undefined && !hasOwnOrigin) return FORWARDED;
  return undefined;
}

function refuse(answer: ServerResponse, status: number, text: string): void {
  answer
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    .end(`${text}\n`);
}

function pass(incoming: IncomingMessage, answer: ServerResponse, to: { agent: Agent; host: string; port: number }) {
  const { method, url, headers } = incoming;
  const onward = request({ ...to, method, path: url, headers: without(headers), setHost: false }, (response) => {
    answer.writeHead(response.statusCode ?? 502, without(response.headers));
    response.pipe(answer);
    response.on('error', () => answer.destroy());
  });
  onward.on('error', () => {
    if (answer.headersSent) answer.destroy();
    else refuse(answer, 502, "The server of Temporal's Web UI does not answer. It may be starting again.");
  });
  answer.on('close', () => onward.destroy());
  incoming.pipe(onward);
}

function without(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.includes(name)));
}
