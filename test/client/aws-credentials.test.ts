// Large payloads in a bucket with the credentials of a role: of EKS (IRSA, Pod Identity) and ECS.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { roleCredentials } from '../../src/client/payloads/aws-credentials.ts';
import { s3Store } from '../../src/client/payloads/s3-store.ts';
import { readBlobSettings } from '../../src/config/blob-settings.ts';

const BLOB = { place: 'a'.repeat(64), name: 'b'.repeat(64) };
const ROLE = 'arn:aws:iam::123456789012:role/signalbox';
let server: Server;
let url: string;
let folder: string;
let asked: { at: string; headers: IncomingMessage['headers']; body: string }[];
let answer: (response: ServerResponse, at: string) => void;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-role-'));
  asked = [];
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const at = `${request.method} ${request.url}`;
    asked.push({ at, headers: request.headers, body });
    answer(response, at);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const xml = (until: string): string =>
  '<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIA1</AccessKeyId>' +
  `<SecretAccessKey>secret/1+</SecretAccessKey><SessionToken>token-1</SessionToken><Expiration>${until}</Expiration>` +
  '</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>';
const json = (until: string): string =>
  JSON.stringify({ AccessKeyId: 'ASIA2', SecretAccessKey: 'secret-2', Token: 'token-2', Expiration: until });
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();
const file = (text: string): string => {
  const path = join(folder, 'token');
  writeFileSync(path, text);
  return path;
};
const settingsOf = (env: Record<string, string>) =>
  readBlobSettings({ SIGNALBOX_BLOBS: `s3://bucket?endpoint=${url}`, ...env }, 'data').s3!;
const webIdentity = () => ({
  AWS_WEB_IDENTITY_TOKEN_FILE: file('a.jwt.of-the-cluster\n'),
  AWS_ROLE_ARN: ROLE,
  AWS_ENDPOINT_URL_STS: `${url}/sts`,
});

describe('a bucket without keys', () => {
  it('is written with the credentials of a role for which a token of the cluster is exchanged, once', async () => {
    answer = (response, at) => void response.end(at === 'POST /sts' ? xml(inAnHour()) : '');
    const store = s3Store(settingsOf(webIdentity()));
    await Promise.all([store.write(BLOB, Buffer.from('one')), store.write(BLOB, Buffer.from('two'))]);
    const [sts, ...puts] = asked;
    expect(asked.map(({ at }) => at.split(' ')[0])).toEqual(['POST', 'PUT', 'PUT']);
    expect(Object.fromEntries(new URLSearchParams(sts?.body))).toEqual({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: ROLE,
      RoleSessionName: 'signalbox',
      WebIdentityToken: 'a.jwt.of-the-cluster',
    });
    for (const { headers } of puts) {
      expect(headers['x-amz-security-token']).toBe('token-1');
      expect(headers.authorization).toContain('Credential=ASIA1/');
    }
  });

  it('is written with the credentials that the machine answers, with the token of its file', async () => {
    answer = (response, at) => void response.end(at === 'GET /v1/credentials' ? json(inAnHour()) : '');
    const settings = settingsOf({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file('of-the-pod'),
    });
    await s3Store(settings).write(BLOB, Buffer.from('one'));
    expect(asked[0]?.headers.authorization).toBe('of-the-pod');
    expect(asked[1]?.headers['x-amz-security-token']).toBe('token-2');
  });

  it('says what STS refuses, and that a token is missing', async () => {
    answer = (response) => void response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    await expect(s3Store(settingsOf(webIdentity())).write(BLOB, Buffer.from('x'))).rejects.toMatchObject({
      code: 'blob_denied',
      reason: 'AccessDenied to the request for credentials (web identity)',
    });
    const lost = { ...webIdentity(), AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'nothing') };
    await expect(s3Store(settingsOf(lost)).write(BLOB, Buffer.from('x'))).rejects.toMatchObject({
      code: 'blob_denied',
      reason: 'the file of AWS_WEB_IDENTITY_TOKEN_FILE cannot be read',
    });
  });
});

describe('credentials of a role', () => {
  it('are renewed before they expire, used until they expire where that fails, and not after it', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    let isAway = false;
    let n = 0;
    answer = (response) => {
      n += 1;
      if (isAway) response.writeHead(503).end();
      else response.end(xml(new Date(now + 3_600_000).toISOString()).replace('token-1', `token-${n}`));
    };
    const credentials = roleCredentials(settingsOf(webIdentity()).role!, () => now);
    const token = async () => (await credentials()).sessionToken;
    const settled = (calls: number) => expect.poll(() => n).toBe(calls);
    expect([await token(), await token()]).toEqual(['token-1', 'token-1']);
    now += 54 * 60_000;
    expect(await token()).toBe('token-1');
    expect(n).toBe(1);
    now += 2 * 60_000;
    expect(await token()).toBe('token-1');
    await settled(2);
    await expect.poll(token).toBe('token-2');
    isAway = true;
    now += 56 * 60_000;
    expect(await token()).toBe('token-2');
    await settled(3);
    expect(await token()).toBe('token-2');
    now += 5 * 60_000;
    await expect(credentials()).rejects.toMatchObject({ code: 'blob_unavailable' });
    isAway = false;
    expect(await token()).toMatch(/^token-\d$/);
  });
});

describe('where they come from', () => {
  it('keys come first, then the token of the cluster, then the machine', () => {
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' };
    const machine = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials/1' };
    const web = { AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_ROLE_ARN: ROLE };
    const settings = (env: Record<string, string>) =>
      readBlobSettings({ SIGNALBOX_BLOBS: 's3://bucket?region=eu-west-1', ...env }, 'data').s3;
    expect(settings({ ...keys, ...web, ...machine })?.role).toBeUndefined();
    expect(settings({ ...web, ...machine })?.role).toMatchObject({ stsUrl: 'https://sts.eu-west-1.amazonaws.com' });
    expect(settings(machine)?.role).toEqual({ from: 'container', url: 'http://169.254.170.2/v2/credentials/1' });
    expect(settings({})?.role).toBeUndefined();
  });

  it.each(['http://10.0.0.1/credentials', 'http://metadata.example/', 'ftp://127.0.0.1/', 'nothing'])(
    'refuses %s, which others could read',
    (uri) => {
      expect(() => settingsOf({ AWS_CONTAINER_CREDENTIALS_FULL_URI: uri })).toThrow(
        'AWS_CONTAINER_CREDENTIALS_FULL_URI',
      );
    },
  );
});
