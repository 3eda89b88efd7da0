/**
 * A request that the gateway makes to itself, within the process. It passes everything that a request from outside
 * passes: key check, rate limits, role, Idempotency-Key, audit and log.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Request, Response } from 'express';
import { isForwarding } from '../http/loopback.ts';
import type { Method } from '../http/method.ts';

export interface InternalRequest {
  readonly method: Method;
  /** Path and query. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string };
  readonly body?: Buffer;
}

export interface InternalAnswer {
  readonly status: number;
  readonly text: string;
}

/** What says who asks, from where, and as part of what. */
const CALLER = /^(authorization|cookie|host|origin|sec-fetch-site|traceparent|x-signalbox-console)$/;

/**
 * Makes the request as the caller of `outer`, who is also its address.
 * @throws Error if the answer was not finished, as when the signal is aborted.
 */
export function dispatchInternally(
  outer: { readonly req: Request; readonly res: Response },
  { method, url, headers, body = Buffer.alloc(0) }: InternalRequest,
  signal: AbortSignal,
): Promise<InternalAnswer> {
  const socket = socketLike(outer.req.socket);
  const req = new IncomingMessage(socket);
  Object.assign(req, { method, url, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1, complete: true });
  req.headers = {
    ...Object.fromEntries(Object.entries(outer.req.headers).filter(([name]) => isOfCaller(name))),
    // The lines of the log have the same id.
    'x-request-id': String(outer.res.locals['requestId'] ?? ''),
    ...headers,
    ...(body.length === 0 ? {} : { 'content-length': String(body.length) }),
  };
  req.push(body);
  req.push(null);
  const res = new ServerResponse(req);
  const chunks: Buffer[] = [];
  collect(res, chunks);
  res.assignSocket(socket);
  // As a server does when the answer is sent; `close` of the answer follows.
  res.once('finish', () => socket.destroy());
  return new Promise((resolve, reject) => {
    const disconnect = () => socket.destroy();
    res.once('close', () => {
      signal.removeEventListener('abort', disconnect);
      if (res.writableFinished) resolve({ status: res.statusCode, text: Buffer.concat(chunks).toString('utf8') });
      else reject(new Error('The answer was not finished.'));
    });
    signal.addEventListener('abort', disconnect, { once: true });
    if (signal.aborted) disconnect();
    else outer.req.app(req as Request, res as Response);
  });
}

const isOfCaller = (name: string): boolean => CALLER.test(name) || isForwarding(name);

/** A socket with the caller's address. What is written to it is dropped: `collect` has it. */
function socketLike({ remoteAddress, ...socket }: Request['socket']): Socket {
  const duplex = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  return Object.assign(duplex, { remoteAddress, encrypted: 'encrypted' in socket }) as unknown as Socket;
}

/** Keeps the body of an answer. Express changes the prototype of answers, so these are members of their own. */
function collect(res: ServerResponse, chunks: Buffer[]): void {
  const keep = ([chunk, encoding]: unknown[]) => {
    if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    else if (typeof chunk === 'string') chunks.push(Buffer.from(chunk, encoding === 'latin1' ? 'latin1' : 'utf8'));
  };
  const write = res.write.bind(res) as (...parts: unknown[]) => boolean;
  const end = res.end.bind(res) as (...parts: unknown[]) => ServerResponse;
  res.write = (...parts: unknown[]) => {
    keep(parts);
    return write(...parts);
  };
  res.end = (...parts: unknown[]) => {
    // `end` of Node writes its chunk without `write`.
    keep(parts);
    return end(...parts);
  };
}
