// What can be known of the container files without a container engine. test/start/image.long.test.ts plays the
// Dockerfile.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { s3Version } from '../../deploy/s3/build.mjs';
import { readConfig } from '../../src/config/config.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { healthRoutes } from '../../src/gateway/routes/process/health.ts';
import { startWorkerHttp } from '../../workers/http.ts';
import { environmentOf, ignores, listOf, stagesOf } from './dockerfile.ts';
import { deployment, interpolated, objects, readCompose } from './manifests.ts';

const run = promisify(execFile);
const read = (path: string): string => readFileSync(path, 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };
const stages = stagesOf(read('deploy/Dockerfile'));
const image = stages.at(-1)!;
const imageEnvironment = environmentOf(image);
const compose = readCompose();
const { gateway, worker } = compose.services;
const GIVEN = {
  POSTGRES_PASSWORD: 'a-password',
  S3_SECRET_KEY: 'the-key-of-the-s3-server',
  SIGNALBOX_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
  SIGNALBOX_ADMIN_KEY: 'k'.repeat(64),
};

/** The environment of a container: that of the image, under that of the service. */
function environment(name: string, given: { [name: string]: string } = GIVEN): { [name: string]: string } {
  const own = Object.entries(compose.services[name]!.environment);
  return { ...imageEnvironment, ...Object.fromEntries(own.map(([key, value]) => [key, interpolated(value, given)])) };
}

const unknownSettings = (names: readonly string[]): string[] =>
  names.filter((name) => name.startsWith('SIGNALBOX_') && !(name in SETTINGS.shape));

describe('deploy/Dockerfile', () => {
  it('runs as a user that is not root, under tini', () => {
    expect(image.steps.findLast(({ word }) => word === 'USER')?.rest).toBe('1000:1000');
    expect(listOf(image, 'ENTRYPOINT')).toEqual(['/usr/bin/tini', '--', 'node', '/app/dist/src/cli/main.js']);
    expect(listOf(image, 'CMD')).toEqual(['start', '--only', 'gateway']);
    expect(listOf(image, 'HEALTHCHECK')).toEqual(['node', 'deploy/health.mjs']);
  });

  it('installs what the lock file says, without install scripts, and the sandbox of bash steps', () => {
    const runs = stages.flatMap(({ steps }) => steps.filter(({ word }) => word === 'RUN').map(({ rest }) => rest));
    const npm = runs.flatMap((line) => [...line.matchAll(/\bnpm [^&|]*/g)].map(([command]) => command.trim()));
    expect(npm.map((command) => command.split(' ').slice(0, 3).join(' '))).toEqual([
      'npm ci --ignore-scripts',
      'npm prune --omit=dev',
    ]);
    expect(npm.filter((command) => !command.includes('--ignore-scripts'))).toEqual([]);
    expect(runs.at(-1)).toMatch(/apt-get install .*\bbubblewrap\b.*\btini\b/);
  });

  it('sets only settings that exist, to values that are accepted', () => {
    expect(unknownSettings(Object.keys(imageEnvironment))).toEqual([]);
    expect(() => readConfig(imageEnvironment)).not.toThrow();
  });

  it('exposes the ports of gateway and worker', () => {
    const exposed = image.steps.find(({ word }) => word === 'EXPOSE')?.rest.split(' ');
    expect(exposed).toEqual([
      String(readConfig(environment('gateway')).port),
      environment('worker')['SIGNALBOX_WORKER_PORT'],
    ]);
  });

  it('has a Node that package.json allows', () => {
    const [, major] = /^ARG NODE=(\d+)-/m.exec(read('deploy/Dockerfile')) ?? [];
    expect(Number(major)).toBeGreaterThanOrEqual(20);
  });
});

describe('.dockerignore', () => {
  const isIgnored = ignores(read('.dockerignore'));

  it('keeps out what was built, stored or is secret', () => {
    const out = [
      'node_modules/ms/index.js',
      '.git/config',
      'dist/built.json',
      '.signalbox/master.key',
      '.npmrc',
      '.env',
    ];
    for (const path of [...out, 'deploy/.env', 'deploy/start.log', 'test/e2e/blobs/large-runs.long.test.ts'])
      expect([path, isIgnored(path)]).toEqual([path, true]);
  });

  it('lets in what the build reads', () => {
    const wanted = [
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'deploy/build.mjs',
      'deploy/tsconfig.build.json',
    ];
    for (const path of [...wanted, 'src/cli/main.ts', 'workers/main.ts', 'test/programs/a.yaml'])
      expect([path, isIgnored(path)]).toEqual([path, false]);
  });
});

describe('deploy/compose.yaml', () => {
  it('sets only settings that exist, to values that are accepted', () => {
    for (const name of ['gateway', 'worker']) {
      const env = environment(name);
      expect(unknownSettings(Object.keys(env))).toEqual([]);
      const config = readConfig(env);
      expect(config).toMatchObject({ temporal: { address: 'temporal:7233' }, host: '0.0.0.0' });
      const { s3 } = compose.services;
      expect(config.blobs.s3).toEqual({
        bucket: 'signalbox',
        prefix: 'blobs/',
        endpoint: `http://s3${s3?.environment['VGW_PORT']}`,
        region: s3?.environment['VGW_REGION'],
        credentials: {
          accessKeyId: environment('s3')['ROOT_ACCESS_KEY_ID'],
          secretAccessKey: environment('s3')['ROOT_SECRET_ACCESS_KEY'],
        },
      });
    }
    expect(readConfig(environment('worker')).workerHttp).toEqual({ host: '0.0.0.0', port: 9464 });
    expect(readConfig(environment('gateway')).adminKey).toBe(GIVEN.SIGNALBOX_ADMIN_KEY);
    expect(environment('worker')).not.toHaveProperty('SIGNALBOX_ADMIN_KEY');
  });

  it.each(Object.keys(GIVEN))('does not start without %s', (name) => {
    const all = (): unknown => Object.keys(compose.services).map((one) => environment(one, { ...GIVEN, [name]: '' }));
    expect(all).toThrow(`${name} is not set.`);
  });

  it('starts what the image can start, two workers, and a gateway for this machine only', () => {
    expect(gateway?.command).toEqual(['start', '--only', 'gateway']);
    expect(worker?.command).toEqual(['start', '--only', 'worker']);
    expect(worker?.deploy?.replicas).toBe(2);
    expect(gateway?.ports).toEqual([`127.0.0.1:8787:${readConfig(environment('gateway')).port}`]);
    const published = Object.entries(compose.services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name]) => name)).toEqual(['gateway']);
    for (const service of [gateway, worker]) {
      expect(service?.image).toBe(`signalbox:${version}`);
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    }
  });

  it('refers to services, volumes and files that exist', () => {
    for (const { depends_on = {}, volumes = [], build } of Object.values(compose.services)) {
      for (const [name, { condition }] of Object.entries(depends_on)) {
        expect(Object.keys(compose.services)).toContain(name);
        if (condition === 'service_healthy') expect(compose.services[name]?.healthcheck).toBeDefined();
      }
      for (const volume of volumes) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('.')) expect([source, existsSync(join('deploy', source))]).toEqual([source, true]);
        else expect(Object.keys(compose.volumes)).toContain(source);
      }
      if (build !== undefined)
        expect(existsSync(normalize(join('deploy', build.context, build.dockerfile)))).toBe(true);
    }
  });

  it('runs the version of Temporal that the tests on PostgreSQL build', () => {
    const [, pinned] = /^require go\.temporal\.io\/server v(\S+)$/m.exec(read('deploy/postgres/go.mod')) ?? [];
    const { schema, temporal } = compose.services;
    expect([schema?.image, temporal?.image]).toEqual([
      `temporalio/admin-tools:${pinned}`,
      `temporalio/server:${pinned}`,
    ]);
    expect(temporal?.volumes?.[0]).toContain(`:${temporal?.environment['DYNAMIC_CONFIG_FILE_PATH']}:ro`);
  });

  it('runs the version of the S3 server that the tests build', () => {
    expect(compose.services['s3']?.image).toBe(`versity/versitygw:v${s3Version}`);
  });

  it('may store large payloads elsewhere', () => {
    const given = { ...GIVEN, SIGNALBOX_BLOBS: 's3://mine?region=eu-west-1' };
    expect(readConfig(environment('worker', given)).blobs.s3).toMatchObject({ bucket: 'mine', region: 'eu-west-1' });
  });

  it('rotates the logs of every service, and bounds the memory as Kubernetes does', () => {
    for (const [name, { logging }] of Object.entries(compose.services))
      expect([name, logging]).toEqual([name, { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } }]);
    for (const [name, service] of Object.entries({ gateway, worker })) {
      const found = objects().find((one) => one.kind === 'Deployment' && one.name === `signalbox-${name}`);
      const [{ resources }] = deployment.parse(found?.body).spec.template.spec.containers;
      expect(service?.mem_limit?.replace('g', 'Gi')).toBe(resources.limits.memory);
    }
  });

  it('gives processes the time that they need to end', () => {
    for (const service of [gateway, worker])
      expect(Number.parseInt(service?.stop_grace_period ?? '', 10)).toBeGreaterThan(longestEnd());
  });
});

/** Seconds after which `signalbox start` ends at the latest. */
function longestEnd(): number {
  const [, ms] = /^const KILL_AFTER_MS = ([\d_]+);$/m.exec(read('src/cli/start/shutdown.ts'))!;
  return Number(ms!.replaceAll('_', '')) / 1_000;
}

describe('deploy/health.mjs', () => {
  const ask = (env: { [name: string]: string }, ...args: string[]): Promise<number> =>
    run(process.execPath, ['deploy/health.mjs', ...args], { env }).then(
      () => 0,
      (error: { code: number }) => error.code,
    );

  it('distinguishes a worker that lives from one that is ready', async () => {
    const http = await startWorkerHttp({ host: '127.0.0.1', port: 0 }, 1);
    const env = { SIGNALBOX_WORKER_PORT: String(http.port) };
    try {
      expect([await ask(env), await ask(env, 'ready')]).toEqual([0, 1]);
    } finally {
      http.close();
    }
    expect(await ask(env)).toBe(1);
  });

  it('asks a gateway at paths that it has', async () => {
    const asked: string[] = [];
    const server = createServer((req, res) => {
      asked.push(req.url ?? '');
      res.writeHead(req.url === '/readyz' ? 503 : 200).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const env = { SIGNALBOX_PORT: String((server.address() as AddressInfo).port) };
    expect([await ask(env), await ask(env, 'ready')]).toEqual([0, 1]);
    server.close();
    expect(asked).toEqual(healthRoutes.map(({ path }) => path));
  });
});
