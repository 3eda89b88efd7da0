/**
 * Large payloads as objects of a bucket in S3, or in a server that is compatible with it. Four requests suffice: PUT,
 * GET, DELETE and the list. Keys have only characters that every server signs alike.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, request } from 'undici';
import type { S3Settings } from '../../config/blob-settings.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { type AwsCredentials, roleCredentials } from './aws-credentials.ts';
import { type BlobName, type BlobStore, BlobStoreError, DIGEST, OWNER_FILE, type StoredBlob } from './blob-store.ts';

const CONNECT_MS = 3_000;
/** One attempt: 16 MB at 2 MB a second. */
const ATTEMPT_MS = 8_000;
const ATTEMPTS = 3;
const BACKOFF_MS = 100;
const MAX_MESSAGE = 10_000;
/** More than any payload or page of a list has. What is larger was put there by others, and is not read. */
const MAX_BYTES = 64_000_000;
const TOO_LARGE = 'UND_ERR_RES_EXCEEDED_MAX_SIZE';
/** Statuses that concern settings or credentials, and so are not transient. */
const DENIED: ReadonlySet<number> = new Set([301, 307, 400, 401, 403]);

interface S3Request {
  readonly method: 'PUT' | 'GET' | 'HEAD' | 'DELETE';
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal | undefined;
}

interface S3Response {
  readonly status: number;
  readonly body: Buffer;
  readonly modifiedAt: number;
}

/** How long an attempt may take, for tests. */
interface S3Timeouts {
  readonly attemptMs?: number;
}

export function s3Store(settings: S3Settings, { attemptMs = ATTEMPT_MS }: S3Timeouts = {}): BlobStore {
  const dispatcher = new Agent({ connect: { timeout: Math.min(CONNECT_MS, attemptMs) }, maxResponseSize: MAX_BYTES });
  const cache = new Map<string, ArrayBuffer>();
  const credentials = credentialsOf(settings);
  const keyOf = ({ place, name }: BlobName): string => `${settings.prefix}${place}/${name}`;

  async function attempt({ method, key, query = {}, body, signal }: S3Request): Promise<S3Response> {
    const signed = await new AwsV4Signer({
      ...(await credentials()),
      service: 's3',
      region: settings.region,
      cache,
      method,
      url: `${urlOf(settings)}/${key}${queryText(query)}`,
      // The server compares it with what arrives.
      headers: {
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      },
    }).sign();
    const {
      statusCode,
      headers,
      body: answer,
    } = await request(signed.url, {
      method,
      headers: Object.fromEntries(signed.headers),
      dispatcher,
      signal: AbortSignal.any([AbortSignal.timeout(attemptMs), ...(signal === undefined ? [] : [signal])]),
      ...omitUndefined({ body }),
    });
    const modifiedAt = Date.parse(String(headers['last-modified'] ?? ''));
    return { status: statusCode, body: Buffer.from(await answer.arrayBuffer()), modifiedAt };
  }

  /** Retries where there is no answer, 5xx, or too many requests. @throws BlobStoreError unless it is 2xx or 404 */
  async function send(s3Request: S3Request): Promise<S3Response> {
    for (let tried = 1; ; tried++) {
      const fault = await attempt(s3Request).then(
        (answer) => statusError(answer) ?? answer,
        (error: unknown) => (error instanceof BlobStoreError ? error : networkError(error)),
      );
      if (!(fault instanceof BlobStoreError)) return fault;
      if (fault.code !== 'blob_unavailable' || tried === ATTEMPTS || s3Request.signal?.aborted === true) throw fault;
      await sleep(BACKOFF_MS * 2 ** tried * (0.5 + Math.random() / 2));
    }
  }

  async function page(after: string | undefined): Promise<{ found: StoredBlob[]; next: string | undefined }> {
    const query = { 'list-type': '2', prefix: settings.prefix, ...omitUndefined({ 'continuation-token': after }) };
    const { status, body } = await send({ method: 'GET', key: '', query });
    if (status === 404) throw noBucket();
    return pageOf(body.toString(), settings.prefix);
  }

  return {
    kind: 's3',
    write: async (blob, content, signal) => {
      const { status } = await send({ method: 'PUT', key: keyOf(blob), body: content, signal });
      if (status === 404) throw noBucket();
    },
    read: async (blob, signal) => {
      const { status, body } = await send({ method: 'GET', key: keyOf(blob), signal });
      if (status !== 404) return body;
      const reason = codeOf(body) ?? 'NoSuchKey';
      throw new BlobStoreError(reason === 'NoSuchKey' ? 'blob_unavailable' : 'blob_denied', reason);
    },
    list: async function* () {
      let next: string | undefined;
      do {
        const { found, ...rest } = await page(next);
        yield* found;
        next = rest.next;
      } while (next !== undefined);
    },
    removeOlder: async (blob, before) => {
      const key = keyOf(blob);
      // Somebody may have stored it again since the list was made.
      const { status, modifiedAt } = await send({ method: 'HEAD', key });
      if (status === 404 || !(modifiedAt < before)) return false;
      await send({ method: 'DELETE', key });
      return true;
    },
  };
}

function credentialsOf({ credentials, role }: S3Settings): () => Promise<AwsCredentials> {
  if (role !== undefined) return roleCredentials(role);
  return async () => {
    if (credentials !== undefined) return credentials;
    throw new BlobStoreError('blob_denied', 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set');
  };
}

const noBucket = (): BlobStoreError => new BlobStoreError('blob_denied', 'NoSuchBucket');

/** The URL of the bucket. AWS has a host for each, but no certificate for names with dots. Other servers take paths. */
export function urlOf({ bucket, region, endpoint }: S3Settings): string {
  if (endpoint !== undefined) return `${endpoint}/${bucket}`;
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}

const queryText = (query: Readonly<Record<string, string>>): string => {
  const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return text.length === 0 ? '' : `?${text.join('&')}`;
};

/** Undefined for 2xx and 404. */
function statusError({ status, body }: S3Response): BlobStoreError | undefined {
  if ((status >= 200 && status < 300) || status === 404) return undefined;
  const reason = codeOf(body) ?? `status ${status}`;
  const isDenied = DENIED.has(status) && reason !== 'RequestTimeout';
  return new BlobStoreError(isDenied ? 'blob_denied' : 'blob_unavailable', reason);
}

/** For a request without an answer. Its reason is the system's code, such as ECONNREFUSED. */
function networkError(error: unknown): BlobStoreError {
  const chain = [error, error instanceof Error ? error.cause : undefined];
  const isTimeout = chain.some((one) => one instanceof Error && one.name === 'TimeoutError');
  const code = chain.flatMap((one) =>
    one instanceof Error && 'code' in one && typeof one.code === 'string' ? [one.code] : [],
  )[0];
  if (code === TOO_LARGE) return new BlobStoreError('blob_damaged', 'it is larger than any payload', { cause: error });
  return new BlobStoreError('blob_unavailable', isTimeout ? 'no answer in time' : (code ?? 'no answer'), {
    cause: error,
  });
}

/** The `Code` of an error's XML. It becomes part of messages, so it has to look like one. */
function codeOf(body: Buffer): string | undefined {
  return /<Code>([A-Za-z0-9.]{1,100})<\/Code>/.exec(body.subarray(0, MAX_MESSAGE).toString())?.[1];
}

/** Reads a page of a list. Keys of ours need no decoding of XML; others are left out. */
function pageOf(xml: string, prefix: string): { found: StoredBlob[]; next: string | undefined } {
  const found: StoredBlob[] = [];
  for (const [, content = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
    const key = textOf(content, 'Key') ?? '';
    const writtenAt = Date.parse(textOf(content, 'LastModified') ?? '');
    const [place = '', name = '', ...more] = key.slice(prefix.length).split('/');
    const isOurs = key.startsWith(prefix) && more.length === 0 && DIGEST.test(place);
    if (isOurs && (name === OWNER_FILE || DIGEST.test(name)) && !Number.isNaN(writtenAt))
      found.push({ place, name, writtenAt });
  }
  const next = textOf(xml, 'IsTruncated') === 'true' ? textOf(xml, 'NextContinuationToken') : undefined;
  return { found, next: next === undefined ? undefined : unescaped(next) };
}

const textOf = (xml: string, tag: string): string | undefined => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(xml)?.[1];

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d+)|(\w+));/g, (entity, digits?: string, name = '') =>
    digits === undefined ? (ENTITIES[name] ?? entity) : String.fromCodePoint(Number(digits)),
  );
