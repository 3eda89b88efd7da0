/** Receivers of OpenTelemetry traces on loopback: for both encodings over HTTP, and for gRPC. */
import { createServer } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';

export interface SeenSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly attributes: { readonly [name: string]: unknown };
  readonly failed: boolean;
}

export interface Receiver {
  readonly url: string;
  readonly spans: SeenSpan[];
  /** Everything received, as text. */
  readonly bodies: string[];
  readonly types: Set<string>;
  close(): Promise<void>;
}

/** What these tests read of opentelemetry/proto/collector/trace/v1/trace_service.proto. */
const SCHEMA = `syntax = "proto3";
message Request { repeated ResourceSpans resourceSpans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopeSpans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { repeated Span spans = 2; }
message Span {
  bytes traceId = 1; bytes spanId = 2; bytes parentSpanId = 4; string name = 5;
  repeated KeyValue attributes = 9; Status status = 15;
}
message Status { int32 code = 3; }
message KeyValue { string key = 1; Value value = 2; }
message Value {
  oneof value { string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4; }
}
`;
const Request = protobuf.parse(SCHEMA).root.lookupType('Request');
const FAILED = 2;

type Attribute = { key: string; value: { [type: string]: unknown } };
type Sent = {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: (Omit<SeenSpan, 'attributes' | 'service'> & { attributes?: Attribute[]; status?: { code?: number } })[];
    }[];
  }[];
};

export async function receiveTraces(): Promise<Receiver> {
  const spans: SeenSpan[] = [];
  const bodies: string[] = [];
  const types = new Set<string>();
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const type = req.headers['content-type'] ?? '';
    types.add(`${req.url} ${type}`);
    bodies.push(body.toString('latin1'));
    spans.push(...spansIn(type === 'application/json' ? (JSON.parse(body.toString()) as Sent) : decoded(body)));
    res.setHeader('content-type', type).end(type === 'application/json' ? '{}' : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    types,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Each message over gRPC has five bytes before it: whether it is compressed, and its length. */
const FRAME_BYTES = 5;

export async function receiveTracesByGrpc(): Promise<Receiver> {
  const spans: SeenSpan[] = [];
  const bodies: string[] = [];
  const types = new Set<string>();
  const sessions = new Set<ServerHttp2Session>();
  const server = createHttp2Server();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', async (stream, headers) => {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).subarray(FRAME_BYTES);
    types.add(`${headers[':path']} ${headers['content-type']}`);
    bodies.push(body.toString('latin1'));
    spans.push(...spansIn(decoded(body)));
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(FRAME_BYTES));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    types,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) session.destroy();
      }),
  };
}

function decoded(body: Buffer): Sent {
  const sent = Request.toObject(Request.decode(body), { defaults: true, longs: Number }) as Sent;
  const hex = (bytes: unknown): string => Buffer.from(bytes as Uint8Array).toString('hex');
  for (const { scopeSpans } of sent.resourceSpans)
    for (const { spans } of scopeSpans)
      for (const span of spans)
        Object.assign(span, {
          traceId: hex(span.traceId),
          spanId: hex(span.spanId),
          parentSpanId: hex(span.parentSpanId),
        });
  return sent;
}

const membersOf = (attributes: Attribute[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const spansIn = ({ resourceSpans }: Sent): SeenSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId = '', attributes, status }) => ({
        service: String(membersOf(resource.attributes)['service.name']),
        name,
        traceId,
        spanId,
        parentSpanId,
        attributes: membersOf(attributes),
        failed: status?.code === FAILED,
      })),
    ),
  );
