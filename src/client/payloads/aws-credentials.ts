/** Temporary credentials of a role, cached until shortly before they expire. */
import { readFile } from 'node:fs/promises';
import { request } from 'undici';
import type { AwsRole } from '../../config/aws-role.ts';
import type { S3Settings } from '../../config/blob-settings.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { BlobStoreError } from './blob-store.ts';

export type AwsCredentials = NonNullable<S3Settings['credentials']>;

interface TemporaryCredentials {
  readonly credentials: AwsCredentials;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

const REQUEST_TIMEOUT_MS = 5_000;
/** Credentials are renewed this long before they expire, and used until they expire where that fails. */
const RENEWAL_MARGIN_MS = 5 * 60_000;
/** After a failed renewal. */
const RENEWAL_BACKOFF_MS = 10_000;

/** Answers the current credentials. Rejects with a BlobStoreError. */
export function roleCredentials(role: AwsRole, now: () => number = Date.now): () => Promise<AwsCredentials> {
  let cached: TemporaryCredentials | undefined;
  let renewing: Promise<TemporaryCredentials> | undefined;
  let nextRenewalAt = 0;
  const renew = (): Promise<TemporaryCredentials> => {
    renewing ??= fetchCredentials(role)
      .then((fresh) => {
        cached = fresh;
        return fresh;
      })
      .finally(() => {
        renewing = undefined;
      });
    return renewing;
  };
  return async () => {
    const current = cached;
    if (current === undefined || current.expiresAt <= now()) return (await renew()).credentials;
    if (current.expiresAt - RENEWAL_MARGIN_MS <= now() && nextRenewalAt <= now()) {
      nextRenewalAt = now() + RENEWAL_BACKOFF_MS;
      // Nobody waits for it.
      void renew().catch(() => undefined);
    }
    return current.credentials;
  };
}

async function fetchCredentials(role: AwsRole): Promise<TemporaryCredentials> {
  const text = role.from === 'web identity' ? await exchangeWebIdentity(role) : await fetchContainerCredentials(role);
  const found = role.from === 'web identity' ? parseXmlCredentials(text) : parseJsonCredentials(text);
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = found;
  const expiresAt = Date.parse(expiration ?? '');
  if (accessKeyId === undefined || secretAccessKey === undefined || Number.isNaN(expiresAt))
    throw new BlobStoreError('blob_unavailable', `the answer to the request for credentials (${role.from}) has none`);
  return { credentials: { accessKeyId, secretAccessKey, ...omitUndefined({ sessionToken }) }, expiresAt };
}

async function exchangeWebIdentity(role: AwsRole & { from: 'web identity' }): Promise<string> {
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role.roleArn,
    RoleSessionName: role.sessionName,
    WebIdentityToken: await content(role.tokenFile, 'AWS_WEB_IDENTITY_TOKEN_FILE'),
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return send(role, role.stsUrl, { method: 'POST', headers, body: form.toString() });
}

async function fetchContainerCredentials(role: AwsRole & { from: 'container' }): Promise<string> {
  const { authorizationFile: file } = role;
  const authorization =
    file === undefined ? role.authorization : await content(file, 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
  return send(role, role.url, { method: 'GET', headers: omitUndefined({ authorization }) });
}

async function content(file: string, variable: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new BlobStoreError('blob_denied', `the file of ${variable} cannot be read`, { cause: error });
  }
}

type Options = { method: 'GET' | 'POST'; headers: Record<string, string>; body?: string };

async function send({ from }: AwsRole, url: string, options: Options): Promise<string> {
  let status: number;
  let text: string;
  try {
    const answer = await request(url, { ...options, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    status = answer.statusCode;
    text = await answer.body.text();
  } catch (error) {
    throw new BlobStoreError('blob_unavailable', `no answer to the request for credentials (${from})`, {
      cause: error,
    });
  }
  if (status >= 200 && status < 300) return text;
  const code = /<Code>([A-Za-z0-9.]{1,100})<\/Code>/.exec(text)?.[1] ?? `status ${status}`;
  const isDenied = status < 500 && status !== 429;
  throw new BlobStoreError(
    isDenied ? 'blob_denied' : 'blob_unavailable',
    `${code} to the request for credentials (${from})`,
  );
}

interface ParsedCredentials {
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
  readonly expiration?: string | undefined;
}

function parseXmlCredentials(text: string): ParsedCredentials {
  const named = (tag: string): string | undefined => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(text)?.[1];
  return {
    accessKeyId: named('AccessKeyId'),
    secretAccessKey: named('SecretAccessKey'),
    sessionToken: named('SessionToken'),
    expiration: named('Expiration'),
  };
}

function parseJsonCredentials(text: string): ParsedCredentials {
  try {
    const { AccessKeyId, SecretAccessKey, Token, Expiration } = JSON.parse(text) as Record<string, string | undefined>;
    return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token, expiration: Expiration };
  } catch {
    return {};
  }
}
