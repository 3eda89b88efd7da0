// How the command line and `npm run temporal` find the stack they speak to.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { notePort } from '#stacks';
import { connectionError } from '../../src/cli/connection-error.ts';
import { projectRoot } from '../../src/cli/start/project-root.ts';
import { CERTIFICATE, KEY } from '../activities/certificates.ts';
import { cli, filesFolder } from './terminal.ts';

const files = filesFolder();
let server: Server;
let port = 0;
let asked: string[] = [];
let dataDir = '';
beforeAll(async () => {
  server = createServer((req, res) => {
    asked.push(req.url ?? '');
    res.setHeader('content-type', 'application/json').end('{"items": []}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  dataDir = join(files.path, 'data');
  mkdirSync(dataDir);
  files.write('data/stack.json', JSON.stringify(note()));
});
afterAll(() => {
  server.close();
  files.remove();
});
beforeEach(() => {
  asked = [];
});

/** The note of a stack that this process runs; its Temporal CLI is Node. */
const note = () => ({
  pid: process.pid,
  gateway: { url: `http://127.0.0.1:${port}` },
  temporal: { address: 'temporal.test:7', namespace: 'ours', binary: process.execPath },
});

describe('the command line', () => {
  it.each([
    ['comes before host and port', () => ({ SIGNALBOX_HOST: 'nowhere.test', SIGNALBOX_PORT: '1' })],
    ['comes before the data folder', () => ({ SIGNALBOX_DATA: '/nowhere' })],
  ])('takes SIGNALBOX_URL, which %s', async (_what, more) => {
    const env = { ...more(), SIGNALBOX_URL: `http://127.0.0.1:${port}/signalbox/` };
    expect(await cli(['list', 'workflows'], { env })).toMatchObject({ exit: 0 });
    expect(asked).toEqual([expect.stringMatching(/^\/signalbox\/api\/workflows\?/)]);
  });

  it('speaks https where the URL says so', async () => {
    const { exit, err } = await cli(['list'], { env: { SIGNALBOX_URL: 'https://127.0.0.1:1' } });
    expect(exit).toBe(10);
    expect(err).toContain('No gateway answers at https://127.0.0.1:1.');
  });

  it('says so where it does not trust the certificate', async () => {
    const secure = createSecureServer({ cert: CERTIFICATE, key: KEY }, (_req, res) => res.end('{"items": []}'));
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const url = `https://localhost:${(secure.address() as AddressInfo).port}`;
    const { exit, err } = await cli(['list'], { env: { SIGNALBOX_URL: url } });
    secure.close();
    expect(exit).toBe(10);
    expect(err).toMatch(new RegExp(`The certificate of ${url} is not trusted \\([A-Z_]+\\)\\. .*NODE_EXTRA_CA_CERTS`));
  });

  it.each([
    [{ SIGNALBOX_HOST: 'https://gw.example.com' }, 'set SIGNALBOX_URL'],
    [{ SIGNALBOX_URL: 'gw.example.com' }, 'expected an http or https URL'],
    [{ SIGNALBOX_URL: 'https://ann:sesame@gw.example.com' }, 'SIGNALBOX_API_KEY'],
  ])('refuses %o with what to do', async (env, advice) => {
    const { exit, err } = await cli(['list'], { env });
    expect(exit).toBe(20);
    expect(err).toContain(advice);
    expect(err).not.toContain('sesame');
  });

  it('finds the gateway that the stack on SIGNALBOX_DATA has noted', async () => {
    expect(await cli(['list'], { env: { SIGNALBOX_DATA: dataDir } })).toMatchObject({ exit: 0 });
    expect(asked).toHaveLength(1);
  });

  it('takes no other gateway for that of a data folder without a stack', async () => {
    const { exit, err } = await cli(['list'], { env: { SIGNALBOX_DATA: '/nowhere' } });
    expect(exit).toBe(10);
    expect(err).toContain('No stack runs on /nowhere.');
  });
});

describe('the key', () => {
  const seen: (string | undefined)[] = [];
  let elsewhere: Server;
  let url = '';
  let answer: (url: string) => { status: number; headers?: Record<string, string>; body?: string };
  beforeAll(async () => {
    elsewhere = createServer((req, res) => {
      seen.push(req.headers.authorization);
      const { status, headers = {}, body = '' } = answer(req.url ?? '');
      res.writeHead(status, headers).end(body);
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/base`;
  });
  afterAll(() => elsewhere.close());
  beforeEach(() => {
    seen.length = 0;
  });
  const list = () => cli(['list'], { env: { SIGNALBOX_URL: url, SIGNALBOX_API_KEY: 'sbk_of-ann' } });

  it('is not sent to the target of a redirect, which is reported', async () => {
    answer = (path) => ({ status: 308, headers: { location: `http://127.0.0.1:${port}/other${path.slice(5)}` } });
    const { exit, err } = await list();
    expect(exit).toBe(10);
    expect(seen).toEqual(['Bearer sbk_of-ann']);
    expect(asked).toEqual([]);
    expect(err).toContain(`Redirects are not followed, because the API key is for this address only.`);
    expect(err).toContain(`Set the address to http://127.0.0.1:${port}/other.`);
  });

  it.each([
    [401, 'key_required', /requires an API key\. Set SIGNALBOX_API_KEY to your key\./],
    [401, 'key_invalid', /does not accept this API key\. It is wrong, or was revoked\. Check SIGNALBOX_API_KEY\./],
    [403, 'role_required', /^Not with this role\. The command line reads its key from SIGNALBOX_API_KEY\./],
  ])('%i %s is told in a sentence, without the key', async (status, code, sentence) => {
    answer = () => ({ status, body: JSON.stringify({ status, code, detail: 'Not with this role.' }) });
    const { exit, err } = await list();
    expect(exit).toBe(10);
    expect(err).toMatch(sentence);
    expect(err).not.toContain('sbk_of-ann');
  });

  it('says so where a proxy before the gateway refuses', async () => {
    answer = () => ({ status: 401, body: '<html>Authorization required</html>' });
    expect((await list()).err).toContain('a proxy before it may ask for other credentials');
  });
});

describe('TLS', () => {
  it.each([
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'The certificate of https://gw.test is for another host name'],
    ['CERT_HAS_EXPIRED', 'The certificate of https://gw.test has expired'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'The certificate of https://gw.test is not trusted'],
    ['ENOTFOUND', 'The host of https://gw.test cannot be found'],
  ])('%s is told in a sentence', (code, sentence) => {
    const cause = Object.assign(new Error(code), { code });
    expect(connectionError('https://gw.test', new TypeError('fetch failed', { cause })).message).toContain(sentence);
  });

  it('says so where the address is http', async () => {
    const { exit, err } = await cli(['list'], { env: { SIGNALBOX_URL: `https://127.0.0.1:${port}` } });
    expect(exit).toBe(10);
    expect(err).toContain(`https://127.0.0.1:${port} does not speak TLS`);
  });
});

describe('npm run temporal', () => {
  const temporal = (env: NodeJS.ProcessEnv) =>
    spawnSync(
      process.execPath,
      [
        join(projectRoot(), 'deploy/temporal.mjs'),
        '-p',
        'process.env.TEMPORAL_ADDRESS+" "+process.env.TEMPORAL_NAMESPACE',
      ],
      { env: { PATH: process.env['PATH'], HOME: files.path, ...env }, cwd: files.path, encoding: 'utf8' },
    );

  it('finds the stack by its data folder, and by the port of its gateway', () => {
    const forget = notePort(`http://127.0.0.1:${port}`, dataDir, { HOME: files.path });
    for (const env of [{ SIGNALBOX_DATA: dataDir }, { SIGNALBOX_PORT: String(port) }])
      expect(temporal(env)).toMatchObject({ status: 0, stdout: 'temporal.test:7 ours\n' });
    forget();
    const gone = temporal({ SIGNALBOX_PORT: String(port) });
    expect(gone).toMatchObject({ status: 1, stdout: '' });
    expect(gone.stderr).toContain(`gateway on port ${port}`);
  });

  it('does not take the stack that had the port before for the one that has it', () => {
    const forget = notePort('http://127.0.0.1:4321', dataDir, { HOME: files.path });
    expect(temporal({ SIGNALBOX_PORT: '4321' })).toMatchObject({ status: 1, stdout: '' });
    forget();
  });
});
