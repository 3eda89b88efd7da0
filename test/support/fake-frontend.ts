// A frontend of Temporal that refuses, for what a real server does rarely. It speaks gRPC over plain HTTP/2.
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import proto from '@temporalio/proto';

export interface GrpcRefusal {
  readonly code: number;
  readonly message: string;
  /** The cause of RESOURCE_EXHAUSTED, as the server puts it into the details. */
  readonly cause?: number;
}

export class FakeFrontend {
  readonly #server: Http2Server;
  readonly #sessions = new Set<{ destroy(): void }>();
  /** The calls so far, by method. */
  readonly calls: string[] = [];

  /** `refuse` answers every call but GetSystemInfo, by its method. What it answers undefined stays unanswered. */
  constructor(refuse: (method: string) => GrpcRefusal | undefined) {
    this.#server = createServer();
    this.#server.on('session', (session) => this.#sessions.add(session));
    this.#server.on('stream', (stream: ServerHttp2Stream, headers) => {
      const method = String(headers[':path']).split('/').at(-1) ?? '';
      stream.on('error', () => undefined);
      stream.resume();
      if (method === 'GetSystemInfo') return answerEmpty(stream);
      this.calls.push(method);
      const refusal = refuse(method);
      if (refusal !== undefined) refuseBy(stream, refusal);
    });
  }

  /** The address, once it listens. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Nobody listens any more. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const session of this.#sessions) session.destroy();
    await closed;
  }
}

/** A message without members. */
function answerEmpty(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.alloc(5));
}

function refuseBy(stream: ServerHttp2Stream, { code, message, cause }: GrpcRefusal): void {
  const { ResourceExhaustedFailure } = proto.temporal.api.errordetails.v1;
  const details =
    cause === undefined
      ? []
      : [
          {
            type_url: 'type.googleapis.com/temporal.api.errordetails.v1.ResourceExhaustedFailure',
            value: ResourceExhaustedFailure.encode({ cause }).finish(),
          },
        ];
  const status = proto.google.rpc.Status.encode({ code, message, details }).finish();
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': String(code),
      'grpc-message': message,
      'grpc-status-details-bin': Buffer.from(status).toString('base64'),
    },
    { endStream: true },
  );
}
