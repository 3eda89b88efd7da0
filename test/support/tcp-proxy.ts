// A TCP proxy that a test can close, for what happens while Temporal is unavailable.
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Forwards connections to Temporal until it is closed. */
export class TcpProxy {
  readonly #to: { host: string; port: number };
  readonly #open = new Set<Socket>();
  #server: Server | undefined;
  port = 0;

  constructor(address: string) {
    const [host = '', port] = address.split(':');
    this.#to = { host, port: Number(port) };
  }

  async open(): Promise<void> {
    const server = createServer((near) => {
      const far = connect(this.#to);
      for (const socket of [near, far]) {
        this.#open.add(socket);
        socket.on('error', () => socket.destroy()).on('close', () => this.#open.delete(socket));
      }
      near.pipe(far).pipe(near);
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as { port: number }).port;
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    for (const socket of this.#open) socket.destroy();
    await closed;
  }
}
