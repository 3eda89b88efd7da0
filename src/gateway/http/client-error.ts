/** What is no HTTP request, or too large a one: it comes to no route, and is answered with a problem all the same. */
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { PROBLEM_CODES, type ProblemCode } from '../validation/problem-codes.ts';

/** By the codes of Node's errors. */
const REFUSALS: { readonly [code: string]: readonly [ProblemCode, string] } = {
  HPE_HEADER_OVERFLOW: [
    'headers_too_large',
    'Address and headers of a request take 16 KB together at most. Send what is longer in the body.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not come to its end in time. Send it again.'],
};
const NO_REQUEST = ['invalid_request', 'What was sent cannot be read as an HTTP request.'] as const;

export function answerUnparsed(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // An answer, or part of one, has been sent already.
    if (error.code === 'ECONNRESET' || !socket.writable || hasAnswer(socket)) {
      socket.destroy();
      return;
    }
    const [code, detail] = REFUSALS[error.code ?? ''] ?? NO_REQUEST;
    const { status, title } = PROBLEM_CODES[code];
    const body = JSON.stringify({ type: 'about:blank', title, status, detail, code });
    socket.end(
      [
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
        'Content-Type: application/problem+json; charset=utf-8',
        `Content-Length: ${Buffer.byteLength(body)}`,
        'Connection: close',
        '',
        body,
      ].join('\r\n'),
    );
  });
}

/** Node keeps the answer that is being sent with its socket. */
function hasAnswer(socket: Duplex): boolean {
  const { _httpMessage: message } = socket as Duplex & { readonly _httpMessage?: { readonly headersSent: boolean } };
  return message?.headersSent === true;
}
