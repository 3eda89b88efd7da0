/**
 * Serves Temporal's Web UI, which asks for no key and answers to every name. A web page could read and start all runs
 * through it, once its own name leads to this machine (DNS rebinding). So the UI's server listens on a port to which
 * browsers refuse to connect, and this proxy passes on only what its own pages ask, and nothing once there are API
 * keys.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { hostnameOf, isForwarded, isLoopback, originHost } from '../../gateway/http/loopback.ts';

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

const CLOSED_MESSAGE =
  "Temporal's Web UI asks for no key, and this stack has API keys. So it is closed. SIGNALBOX_UI=1 opens it for " +
  'everybody on this machine.';
const FOREIGN_HOST_MESSAGE =
  "This is Temporal's Web UI of a Signalbox stack. It answers to names of this machine only, such as localhost, and " +
  'to those in SIGNALBOX_UI_ORIGINS.';
const FOREIGN_ORIGIN_MESSAGE = "Pages of other origins may not call Temporal's Web UI.";
const FORWARDED_MESSAGE =
  "The request came through a proxy. Temporal's Web UI asks for no key, so it serves other machines only under an " +
  'origin that SIGNALBOX_UI_ORIGINS names.';

/** Headers of one connection, which are not passed on. */
const HOP_BY_HOP_HEADERS = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Listens. @throws errors of `listen`, such as EADDRINUSE */
export async function serveUi(options: UiOptions): Promise<{ close(): Promise<void> }> {
  const { host, port, serverPort, origins, isClosed } = options;
  const agent = new Agent({ keepAlive: true });
  const server = createServer(async (incoming, answer) => {
    const why = refusalReason(incoming, origins);
    if (why !== undefined) return refuse(answer, 403, why);
    try {
      if (await isClosed()) return refuse(answer, 403, CLOSED_MESSAGE);
    } catch {
      return refuse(answer, 503, 'Temporal does not answer, so it is not known whether there are API keys.');
    }
    forward(incoming, answer, { agent, host, port: serverPort });
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
function refusalReason({ headers, method, url = '' }: IncomingMessage, origins: readonly string[]): string | undefined {
  const host = (headers.host ?? '').toLowerCase();
  const named = origins.find((origin) => new URL(origin).host === host);
  if (!url.startsWith('/') || (named === undefined && !isLoopback(hostnameOf(host)))) return FOREIGN_HOST_MESSAGE;
  const origin = headers.origin?.toLowerCase();
  if (origin !== undefined && originHost(origin) !== host && !origins.includes(origin)) return FOREIGN_ORIGIN_MESSAGE;
  const hasOwnOrigin = origin !== undefined && origins.includes(origin);
  const site = headers['sec-fetch-site'];
  const isOpened =
    (method === 'GET' || method === 'HEAD') &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document';
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isOpened) return FOREIGN_ORIGIN_MESSAGE;
  if (isForwarded({ headers }) && named === undefined && !hasOwnOrigin) return FORWARDED_MESSAGE;
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

function forward(incoming: IncomingMessage, answer: ServerResponse, to: { agent: Agent; host: string; port: number }) {
  const { method, url, headers } = incoming;
  const upstream = request(
    { ...to, method, path: url, headers: withoutHopByHopHeaders(headers), setHost: false },
    (response) => {
      answer.writeHead(response.statusCode ?? 502, withoutHopByHopHeaders(response.headers));
      response.pipe(answer);
      response.on('error', () => answer.destroy());
    },
  );
  upstream.on('error', () => {
    if (answer.headersSent) answer.destroy();
    else refuse(answer, 502, "The server of Temporal's Web UI does not answer. It may be starting again.");
  });
  answer.on('close', () => upstream.destroy());
  incoming.pipe(upstream);
}

function withoutHopByHopHeaders(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP_HEADERS.includes(name)));
}
