import { connect, createServer, type Server, type Socket } from 'node:net';

// A proxy to Temporal that loses the responses of selected calls: the server executes them, and the caller gets no
// answer. For tests that kill processes at this moment.
//
//   const proxy = new ResponseDroppingProxy(server.config.temporal.address);
//   const address = await proxy.open();          // for TEMPORAL_ADDRESS of the process
//   const done = proxy.dropResponse('some text'); // a text that only the selected call contains
//   ...                                          // the process makes the call
//   await done;                                  // Temporal has answered it

const PREFACE_BYTES = 24;
const HEAD_BYTES = 9;
const DATA = 0;
const SETTINGS = 4;
const ACK = 1;
/** SETTINGS_HEADER_TABLE_SIZE = 0: headers stand for themselves, so that some may be left out. */
const NO_HEADER_TABLE = Buffer.from([0, 1, 0, 0, 0, 0]);

type Frame = { type: number; flags: number; stream: number; bytes: Buffer };

/** Cuts what comes in into the frames of HTTP/2. */
function framesOf(): (chunk: Buffer) => Frame[] {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const frames: Frame[] = [];
    while (rest.length >= HEAD_BYTES && rest.length >= HEAD_BYTES + rest.readUIntBE(0, 3)) {
      const bytes = rest.subarray(0, HEAD_BYTES + rest.readUIntBE(0, 3));
      frames.push({ type: bytes[3] ?? 0, flags: bytes[4] ?? 0, stream: bytes.readUInt32BE(5) & 0x7fffffff, bytes });
      rest = rest.subarray(bytes.length);
    }
    return frames;
  };
}

export class ResponseDroppingProxy {
  readonly #to: { host: string; port: number };
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Map<string, () => void>();
  #server: Server | undefined;

  constructor(address: string) {
    const [host = '', port] = address.split(':');
    this.#to = { host, port: Number(port) };
  }

  /** Its address. */
  async open(): Promise<string> {
    const server = createServer((near) => this.#connect(near, connect(this.#to)));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as { port: number }).port}`;
  }

  /** Resolves when Temporal has answered a call that contains the text, and the response was dropped. */
  dropResponse(text: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(text, resolve));
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #connect(near: Socket, far: Socket): void {
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    const chosen = new Map<number, () => void>();
    const requestFrames = framesOf();
    const responseFrames = framesOf();
    let preface = PREFACE_BYTES;
    let hasSentSettings = false;
    near.on('data', (chunk: Buffer) => {
      far.write(chunk.subarray(0, preface));
      const frames = requestFrames(chunk.subarray(preface));
      preface = Math.max(0, preface - chunk.length);
      for (const frame of frames) {
        for (const [text, done] of this.#waiting)
          if (frame.type === DATA && frame.bytes.includes(text)) chosen.set(frame.stream, done);
        const isFirst = frame.type === SETTINGS && (frame.flags & ACK) === 0 && !hasSentSettings;
        far.write(isFirst ? withoutHeaderTable(frame.bytes) : frame.bytes);
        if (isFirst) hasSentSettings = true;
      }
    });
    far.on('data', (chunk: Buffer) => {
      for (const { type, stream, bytes } of responseFrames(chunk)) {
        const done = chosen.get(stream);
        if (done === undefined) near.write(bytes);
        else if (type === DATA) done();
      }
    });
  }
}

function withoutHeaderTable(settings: Buffer): Buffer {
  const extended = Buffer.concat([settings, NO_HEADER_TABLE]);
  extended.writeUIntBE(extended.length - HEAD_BYTES, 0, 3);
  return extended;
}
