/** Temporary credentials of a role, kept until shortly before they end. */
import { readFile } from 'node:fs/promises';
import { request } from 'undici';
import type { AwsRole } from '../../config/aws-role.ts';
import type { S3Place } from '../../config/blob-place.ts';
import { defined } from '../../json/defined.ts';
import { BlobFault } from './blob-store.ts';

export type AwsCredentials = NonNullable<S3Place['credentials']>;

interface Temporary {
  readonly credentials: AwsCredentials;
  /** Epoch milliseconds. */
  readonly until: number;
}

const ASK_MS = 5_000;
/** Credentials are renewed this long before they end, and used to their end where they cannot be. */
const EARLY_MS = 5 * 60_000;
/** After a failed renewal. */
const PAUSE_MS = 10_000;

/** Answers the present credentials. Rejects with a BlobFault. */
export function roleCredentials(role: AwsRole, now: () => number = Date.now): () => Promise<AwsCredentials> {
  let kept: Temporary | undefined;
  let renewing: Promise<Temporary> | undefined;
  let notBefore = 0;
  const renew = (): Promise<Temporary> => {
    renewing ??= ask(role)
      .then((fresh) => {
        kept = fresh;
        return fresh;
      })
      .finally(() => {
        renewing = undefined;
      });
    return renewing;
  };
  return async () => {
    const present = kept;
    if (present === undefined || present.until <= now()) return (await renew()).credentials;
    if (present.until - EARLY_MS <= now() && notBefore <= now()) {
      notBefore = now() + PAUSE_MS;
      // Nobody waits for it.
      void renew().catch(() => undefined);
    }
    return present.credentials;
  };
}

async function ask(role: AwsRole): Promise<Temporary> {
  const text = role.from === 'web identity' ? await exchanged(role) : await answered(role);
  const found = role.from === 'web identity' ? ofXml(text) : ofJson(text);
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = found;
  const until = Date.parse(expiration ?? '');
  if (accessKeyId === undefined || secretAccessKey === undefined || Number.isNaN(until))
    throw new BlobFault('blob_unavailable', `the answer to the request for credentials (${role.from}) has none`);
  return { credentials: { accessKeyId, secretAccessKey, ...defined({ sessionToken }) }, until };
}

async function exchanged(role: AwsRole & { from: 'web identity' }): Promise<string> {
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

async function answered(role: AwsRole & { from: 'container' }): Promise<string> {
  const { authorizationFile: file } = role;
  const authorization =
    file === undefined ? role.authorization : await content(file, 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
  return send(role, role.url, { method: 'GET', headers: defined({ authorization }) });
}

async function content(file: string, variable: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new BlobFault('blob_denied', `the file of ${variable} cannot be read`, { cause: error });
  }
}

type Options = { method: 'GET' | 'POST'; headers: Record<string, string>; body?: string };

async function send({ from }: AwsRole, url: string, options: Options): Promise<string> {
  let status: number;
  let text: string;
  try {
    const answer = await request(url, { ...options, signal: AbortSignal.timeout(ASK_MS) });
    status = answer.statusCode;
    text = await answer.body.text();
  } catch (error) {
    throw new BlobFault('blob_unavailable', `no answer to the request for credentials (${from})`, { cause: error });
  }
  if (status >= 200 && status < 300) return text;
  const code = /<Code>([A-Za-z0-9.]{1,100})<\/Code>/.exec(text)?.[1] ?? `status ${status}`;
  const isDenied = status < 500 && status !== 429;
  throw new BlobFault(
    isDenied ? 'blob_denied' : 'blob_unavailable',
    `${code} to the request for credentials (${from})`,
  );
}

interface Found {
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
  readonly expiration?: string | undefined;
}

function ofXml(text: string): Found {
  const named = (tag: string): string | undefined => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(text)?.[1];
  return {
    accessKeyId: named('AccessKeyId'),
    secretAccessKey: named('SecretAccessKey'),
    sessionToken: named('SessionToken'),
    expiration: named('Expiration'),
  };
}

function ofJson(text: string): Found {
  try {
    const { AccessKeyId, SecretAccessKey, Token, Expiration } = JSON.parse(text) as Record<string, string | undefined>;
    return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token, expiration: Expiration };
  } catch {
    return {};
  }
}
