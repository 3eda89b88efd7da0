/** Answers malformed and oversized HTTP requests with a problem. They fail before any route sees them. */
import { type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Request, RequestHandler } from 'express';
import { HttpProblem } from '../validation/http-problem.ts';
import { PROBLEM_CODES, type ProblemCode } from '../validation/problem-codes.ts';

/** Problems by the code of Node's error. */
const PROBLEMS_BY_NODE_CODE: { readonly [code: string]: readonly [ProblemCode, string] } = {
  HPE_HEADER_OVERFLOW: [
    'headers_too_large',
    'Address and headers of a request take 16 KB together at most. Send what is longer in the body.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not come to its end in time. Send it again.'],
};
const UNPARSABLE_REQUEST = ['invalid_request', 'What was sent cannot be read as an HTTP request.'] as const;

export function answerMalformedRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // An answer, or part of it, has already been sent.
    if (error.code === 'ECONNRESET' || !socket.writable || hasAnswer(socket)) {
      socket.destroy();
      return;
    }
    const [code, detail] = PROBLEMS_BY_NODE_CODE[error.code ?? ''] ?? UNPARSABLE_REQUEST;
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

/**
 * Requests with `Expect` reach the app as all others do, which refuses what it cannot do, and asks for the body when it
 * reads it (body.ts).
 */
export function forwardExpectRequests(server: Server, app: RequestListener): void {
  server.on('checkContinue', app).on('checkExpectation', app);
}

/** Refuses what Node's parser lets through. */
export const demandValidHttp: RequestHandler = (req, _res, next) => {
  const malformed = malformedIn(req);
  if (malformed !== undefined)
    throw new HttpProblem('invalid_request', malformed, { headers: { connection: 'close' } });
  const { expect } = req.headers;
  if (expect !== undefined && req.httpVersion !== '1.0' && !isContinue(expect))
    throw new HttpProblem('expectation_failed', 'Leave the header Expect out: only 100-continue can be expected.', {
      headers: { connection: 'close' },
    });
  next();
};

function malformedIn({ httpVersion, headers, headersDistinct }: Request): string | undefined {
  if (httpVersion !== '1.0' && httpVersion !== '1.1')
    return `Send HTTP/1.1: the first line of the request says HTTP/${httpVersion}.`;
  if (headers.host === undefined && httpVersion === '1.1') return 'The header Host is missing.';
  return (headersDistinct['host']?.length ?? 0) > 1 ? 'The request has several headers Host.' : undefined;
}

const isContinue = (expect: string): boolean => expect.trim().toLowerCase() === '100-continue';

/** Whether the sender waits for `100 Continue` before it sends the body. */
export const expectsContinue = ({ httpVersion, headers }: Request): boolean =>
  httpVersion === '1.1' && headers.expect !== undefined && isContinue(headers.expect);
