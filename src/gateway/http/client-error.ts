/** Answers malformed and oversized HTTP requests with a problem. They fail before any route sees them. */
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { PROBLEM_CODES, type ProblemCode } from '../validation/problem-codes.ts';

/** Problems by the code of Node's error. */
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
    // An answer, or part of it, has already been sent.
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

/** Node stores the answer in progress on its socket. */
function hasAnswer(socket: Duplex): boolean {
  const { _httpMessage: message } = socket as Duplex & { readonly _httpMessage?: { readonly headersSent: boolean } };
  return message?.headersSent === true;
}
