/** MCP's reference server ("everything"), as a process with streamable HTTP, or as a command for stdio. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

export const EVERYTHING = { command: process.execPath, args: [PROGRAM, 'stdio'] } as const;

export interface ReferenceServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts it on a free port, or on the one given. */
export async function everythingServer(port?: number): Promise<ReferenceServer> {
  const own = port ?? (await freePort());
  const child = fork(PROGRAM, ['streamableHttp'], { env: { ...process.env, PORT: String(own) }, silent: true });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('listening')) resolve();
    });
    child.once('exit', () => reject(new Error(`The reference server ended: ${said}`)));
  });
  return {
    url: `http://127.0.0.1:${own}/mcp`,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
