// A Temporal server on PostgreSQL, both on free ports of this machine, in a folder that goes with them. For tests: the
// database does not wait for the disk (fsync=off).
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { stringify } from 'yaml';
import { run, say } from '../progress.mjs';

const HOST = '127.0.0.1';
const READY_MS = 60_000;
const END_MS = 10_000;
const DATABASES = { temporal: 'temporal', temporal_visibility: 'visibility' };
const DYNAMIC_CONFIG = fileURLToPath(new URL('../temporal/dynamic-config.yaml', import.meta.url));

/** The folder of initdb and postgres: of the PATH, else Debian's newest. @throws Error where there is none */
export function postgresFolder() {
  const debian = '/usr/lib/postgresql';
  const versions = (() => {
    try {
      return readdirSync(debian).sort((a, b) => Number(b) - Number(a));
    } catch {
      return [];
    }
  })();
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== ''),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  const found = folders.find((folder) => spawnSync(join(folder, 'initdb'), ['--version']).status === 0);
  if (found) return found;
  throw new Error('There is no PostgreSQL here (no initdb on the PATH or in /usr/lib/postgresql). Install postgresql.');
}

/** PostgreSQL refuses to run as root: then it runs as the user that its package made, or as nobody. */
function postgresUser() {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout.trim());
    if (uid !== '' && gid !== '') return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user postgres or nobody.');
}

/** PostgreSQL's schema of Temporal keeps membership ports as smallint. Other programs get their ports from 32768 on. */
const PORTS = { least: 20_000, most: 32_000 };

/** Free ports, all different. */
export async function freePorts(count) {
  const ports = new Set();
  while (ports.size < count) {
    const port = PORTS.least + Math.floor(Math.random() * (PORTS.most - PORTS.least));
    const isFree = await new Promise((resolve) => {
      const server = createServer().once('error', () => resolve(false));
      server.listen(port, HOST, () => server.close(() => resolve(true)));
    });
    if (isFree) ports.add(port);
  }
  return [...ports];
}

/** Repeats `check` until it resolves. */
async function ready(what, child, logFile, check) {
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    try {
      return await check();
    } catch {
      await sleep(200);
    }
  }
  const last = readFileSync(logFile, 'utf8').split('\n').slice(-15).join('\n');
  throw new Error(`${what} did not start. The end of its log:\n${last.slice(-4_000)}`);
}

const listens = (port) =>
  new Promise((resolve, reject) => {
    const socket = createConnection(port, HOST, () => resolve(socket.destroy())).once('error', reject);
  });

const answers = async (address) => {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  await connection.close();
};

function begin(command, args, logFile, options = {}) {
  const log = openSync(logFile, 'a');
  return spawn(command, args, { stdio: ['ignore', log, log], ...options });
}

async function end(child, signal) {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const last = setTimeout(() => child.kill('SIGKILL'), END_MS);
  await gone;
  clearTimeout(last);
}

/** The server's configuration: four services in one process, four history shards. */
function configuration(ports, postgresPort) {
  const sql = (databaseName, maxConns) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `${HOST}:${postgresPort}`,
      connectProtocol: 'tcp',
      user: 'temporal',
      password: 'none',
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: '1h',
    },
  });
  const service = (grpcPort, membershipPort) => ({ rpc: { grpcPort, membershipPort, bindOnLocalHost: true } });
  const [frontend, matching, history, worker, ...membership] = ports;
  // As in the configuration of Temporal's image: archives can be read, and no namespace has one.
  const provider = { filestore: { fileMode: '0600', dirMode: '0700' } };
  const readable = { state: 'enabled', enableRead: true, provider };
  const none = { state: 'disabled', URI: 'file:///nowhere' };
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'main',
      visibilityStore: 'visibility',
      numHistoryShards: 4,
      datastores: { main: sql('temporal', 30), visibility: sql('temporal_visibility', 10) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: HOST } },
    services: {
      frontend: service(frontend, membership[0]),
      matching: service(matching, membership[1]),
      history: service(history, membership[2]),
      worker: service(worker, membership[3]),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `${HOST}:${frontend}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    archival: { history: readable, visibility: readable },
    namespaceDefaults: { archival: { history: none, visibility: none } },
    dynamicConfigClient: { filepath: DYNAMIC_CONFIG, pollInterval: '10s' },
  };
}

/**
 * Starts PostgreSQL on that port, with its data in the folder. The user is `temporal`, without a password. `settings`
 * are further ones of postgresql.conf. Resolves to {end}. @throws Error with the end of its log
 */
export async function startPostgres(folder, port, settings) {
  const binaries = postgresFolder();
  const user = postgresUser();
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  for (const path of [folder, data]) if ('uid' in user) chownSync(path, user.uid, user.gid);
  const init = ['-D', data, '-A', 'trust', '-U', 'temporal', '--no-locale', '-E', 'UTF8'];
  await run('Creating the database', join(binaries, 'initdb'), init, { ...user, cwd: folder, quiet: true });
  const all = {
    port,
    listen_addresses: HOST,
    unix_socket_directories: folder,
    max_connections: 100,
    shared_buffers: '256MB',
    ...settings,
  };
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const logFile = join(folder, 'postgres.log');
  const postgres = begin(join(binaries, 'postgres'), ['-D', data, ...args], logFile, { ...user, cwd: folder });
  await ready('PostgreSQL', postgres, logFile, () => listens(port));
  return { pid: postgres.pid, end: () => end(postgres, 'SIGINT') };
}

/**
 * Starts both. `programs` is the folder of temporal-server and temporal-sql-tool. Resolves to {address, folder, pids,
 * postgresPort, stop}.
 * @throws Error with the end of the log of what did not start
 */
export async function startServerOnPostgres(programs) {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-postgres-'));
  let postgres;
  let server;
  const stop = async () => {
    await end(server, 'SIGTERM');
    await postgres?.end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const [postgresPort, ...ports] = await freePorts(9);
    postgres = await startPostgres(folder, postgresPort, { fsync: 'off' });
    for (const [name, schema] of Object.entries(DATABASES)) {
      const tool = (...rest) =>
        run(`Setting up the database ${name}`, join(programs, 'temporal-sql-tool'), ['--db', name, ...rest], {
          env: {
            ...process.env,
            SQL_PLUGIN: 'postgres12',
            SQL_HOST: HOST,
            SQL_PORT: String(postgresPort),
            SQL_USER: 'temporal',
            SQL_PASSWORD: 'none',
          },
        });
      await tool('create-database');
      await tool('setup-schema', '-v', '0.0');
      await tool('update-schema', '--schema-name', `postgresql/v12/${schema}`);
    }
    const file = join(folder, 'temporal.yaml');
    writeFileSync(file, stringify(configuration(ports, postgresPort)));
    const serverLog = join(folder, 'temporal.log');
    const start = ['--config-file', file, '--allow-no-auth', 'start'];
    server = begin(join(programs, 'temporal-server'), start, serverLog, { cwd: folder });
    const address = `${HOST}:${ports[0]}`;
    await ready('The Temporal server', server, serverLog, () => answers(address));
    const [line] = spawnSync(join(postgresFolder(), 'postgres'), ['--version'], { encoding: 'utf8' }).stdout.split(
      '\n',
    );
    say(`Temporal on ${line} listens at ${address}.`);
    return { address, folder, pids: { temporal: server.pid, postgres: postgres.pid }, postgresPort, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
