/** Restate and DBOS, from npm, installed into a folder of their own for the bench. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastOutput, runExecutable } from '../../../src/cli/start/run-executable.ts';
import { type Contender, post } from './contender.ts';

const PACKAGES = [
  '@restatedev/restate-server@1.7.12',
  '@restatedev/restate-sdk@1.17.2',
  '@dbos-inc/dbos-sdk@5.3.0',
] as const;
const HOST = '127.0.0.1';
const READY_MS = 30_000;

/** Installs the peers into the folder. @throws Error with npm's last output */
export async function installPeers(folder: string): Promise<void> {
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  const installed = await runExecutable('npm', ['install', '--ignore-scripts', '--no-audit', ...PACKAGES], {
    cwd: folder,
  });
  if (!installed.ok) throw new Error(`The peers could not be installed. ${lastOutput(installed)}`);
}

/** `ports`: free ones. */
export async function restate(folder: string, ports: readonly number[]): Promise<Contender> {
  const [service, ingress, admin, node] = ports;
  const require = createRequire(join(folder, 'package.json'));
  const manifest = require.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/package.json`);
  const data = join(folder, 'restate');
  mkdirSync(data);
  const server = spawn(join(dirname(manifest), 'bin/restate-server'), ['--base-dir', data], {
    stdio: 'ignore',
    env: {
      ...process.env,
      RESTATE_INGRESS__BIND_ADDRESS: `${HOST}:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `${HOST}:${admin}`,
      RESTATE_BIND_ADDRESS: `${HOST}:${node}`,
      DO_NOT_TRACK: '1',
    },
  });
  const app = await forkIn(folder, 'restate-service.mjs', [String(service)]);
  await again(() => post(`http://${HOST}:${admin}/deployments`, { uri: `http://${HOST}:${service}` }));
  const url = `http://${HOST}:${ingress}`;
  return {
    name: 'Restate',
    settings: 'Restate 1.7, one node with its default settings; a service with the TypeScript SDK',
    sequence: async (count) => void (await post(`${url}/sequence/run`, count)),
    park: async () => {
      const id = randomUUID();
      await post(`${url}/approval/${id}/run/send`, {});
      return id;
    },
    approve: async (id) => {
      await post(`${url}/approval/${id}/approve`, {});
      const answer = await fetch(`${url}/restate/workflow/approval/${id}/attach`);
      if (!answer.ok) throw new Error(await answer.text());
      await answer.text();
    },
    processes: [server.pid ?? 0, app.pid ?? 0],
    stop: async () => {
      app.disconnect();
      server.kill('SIGKILL');
    },
  };
}

/** `database`: of PostgreSQL, with the settings that `durability` names. */
export async function dbos(
  folder: string,
  port: number,
  database: { readonly url: string; readonly pid: number; readonly durability: string },
): Promise<Contender> {
  const app = await forkIn(folder, 'dbos-app.mjs', [String(port), database.url]);
  const url = `http://${HOST}:${port}`;
  return {
    name: 'DBOS',
    settings: `DBOS 5.3 with PostgreSQL (${database.durability}); one process, driven over HTTP`,
    sequence: async (count) => void (await post(`${url}/sequence`, { count })),
    park: async () => (await post(`${url}/park`, {})) as string,
    approve: async (id) => void (await post(`${url}/approve`, { id })),
    processes: [app.pid ?? 0, database.pid],
    stop: async () => app.disconnect(),
  };
}

/** A copy beside its packages, since Node looks for them from the file's folder. */
async function forkIn(folder: string, name: string, args: readonly string[]): Promise<ChildProcess> {
  const file = join(folder, name);
  copyFileSync(fileURLToPath(new URL(`./${name}`, import.meta.url)), file);
  const child = fork(file, args, { cwd: folder, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', (code) => reject(new Error(`${name} ended before it was ready (${code}).`)));
  });
  return child;
}

async function again(act: () => Promise<unknown>): Promise<void> {
  for (const last = Date.now() + READY_MS; ; ) {
    try {
      await act();
      return;
    } catch (error) {
      if (Date.now() > last) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
