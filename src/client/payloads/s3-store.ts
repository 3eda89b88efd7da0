/**
 * Large payloads as objects of a bucket in S3, or in a server that is compatible with it. Four requests suffice: PUT,
 * GET, DELETE and the list. Keys have only characters that every server signs alike.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, request } from 'undici';
import type { S3Place } from '../../config/blob-place.ts';
import { defined } from '../../json/defined.ts';
import { type AwsCredentials, roleCredentials } from './aws-credentials.ts';
import { BlobFault, type BlobName, type BlobStore, DIGEST, OWNER_FILE, type StoredBlob } from './blob-store.ts';

const CONNECT_MS = 3_000;
/** One attempt: 16 MB at 2 MB a second. */
const ATTEMPT_MS = 8_000;
const ATTEMPTS = 3;
const PAUSE_MS = 100;
const LONGEST_MESSAGE = 10_000;
/** More than any payload or page of a list has. What is larger was put there by others, and is not read. */
const MOST_BYTES = 64_000_000;
const TOO_LARGE = 'UND_ERR_RES_EXCEEDED_MAX_SIZE';
/** What the store says of its settings and its credentials, not of the moment. */
const DENIED: ReadonlySet<number> = new Set([301, 307, 400, 401, 403]);

interface Sent {
  readonly method: 'PUT' | 'GET' | 'HEAD' | 'DELETE';
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal | undefined;
}

interface Answer {
  readonly status: number;
  readonly body: Buffer;
  readonly modifiedAt: number;
}

/** How long an attempt may take, for tests. */
interface S3Limits {
  readonly attemptMs?: number;
}

export function s3Store(place: S3Place, { attemptMs = ATTEMPT_MS }: S3Limits = {}): BlobStore {
  const dispatcher = new Agent({ connect: { timeout: Math.min(CONNECT_MS, attemptMs) }, maxResponseSize: MOST_BYTES });
  const cache = new Map<string, ArrayBuffer>();
  const credentials = credentialsOf(place);
  const keyOf = ({ place: folder, name }: BlobName): string => `${place.prefix}${folder}/${name}`;

  async function attempt({ method, key, query = {}, body, signal }: Sent): Promise<Answer> {
    const signed = await new AwsV4Signer({
      ...(await credentials()),
      service: 's3',
      region: place.region,
      cache,
      method,
      url: `${urlOf(place)}/${key}${queryText(query)}`,
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
      ...defined({ body }),
    });
    const modifiedAt = Date.parse(String(headers['last-modified'] ?? ''));
    return { status: statusCode, body: Buffer.from(await answer.arrayBuffer()), modifiedAt };
  }

  /** Repeats what may pass: no answer, 5xx, and too many requests. @throws BlobFault for all that is not 2xx or 404 */
  async function send(sent: Sent): Promise<Answer> {
    for (let tried = 1; ; tried++) {
      const fault = await attempt(sent).then(
        (answer) => faultOf(answer) ?? answer,
        (error: unknown) => (error instanceof BlobFault ? error : silenceOf(error)),
      );
      if (!(fault instanceof BlobFault)) return fault;
      if (fault.code !== 'blob_unavailable' || tried === ATTEMPTS || sent.signal?.aborted === true) throw fault;
      await sleep(PAUSE_MS * 2 ** tried * (0.5 + Math.random() / 2));
    }
  }

  async function page(after: string | undefined): Promise<{ found: StoredBlob[]; next: string | undefined }> {
    const query = { 'list-type': '2', prefix: place.prefix, ...defined({ 'continuation-token': after }) };
    const { status, body } = await send({ method: 'GET', key: '', query });
    if (status === 404) throw noBucket();
    return pageOf(body.toString(), place.prefix);
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
      const why = codeOf(body) ?? 'NoSuchKey';
      throw new BlobFault(why === 'NoSuchKey' ? 'blob_unavailable' : 'blob_denied', why);
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

function credentialsOf({ credentials, role }: S3Place): () => Promise<AwsCredentials> {
  if (role !== undefined) return roleCredentials(role);
  return async () => {
    if (credentials !== undefined) return credentials;
    throw new BlobFault('blob_denied', 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set');
  };
}

const noBucket = (): BlobFault => new BlobFault('blob_denied', 'NoSuchBucket');

/** The URL of the bucket. AWS has a host for each, but no certificate for names with dots. Other servers take paths. */
export function urlOf({ bucket, region, endpoint }: S3Place): string {
  if (endpoint !== undefined) return `${endpoint}/${bucket}`;
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}

const queryText = (query: Readonly<Record<string, string>>): string => {
  const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return text.length === 0 ? '' : `?${text.join('&')}`;
};

/** Undefined for 2xx and 404. */
function faultOf({ status, body }: Answer): BlobFault | undefined {
  if ((status >= 200 && status < 300) || status === 404) return undefined;
  const why = codeOf(body) ?? `status ${status}`;
  return new BlobFault(DENIED.has(status) && why !== 'RequestTimeout' ? 'blob_denied' : 'blob_unavailable', why);
}

/** There was no answer: by the system's code, such as ECONNREFUSED. */
function silenceOf(error: unknown): BlobFault {
  const chain = [error, error instanceof Error ? error.cause : undefined];
  const late = chain.some((one) => one instanceof Error && one.name === 'TimeoutError');
  const code = chain.flatMap((one) =>
    one instanceof Error && 'code' in one && typeof one.code === 'string' ? [one.code] : [],
  )[0];
  if (code === TOO_LARGE) return new BlobFault('blob_damaged', 'it is larger than any payload', { cause: error });
  return new BlobFault('blob_unavailable', late ? 'no answer in time' : (code ?? 'no answer'), { cause: error });
}

/** The `Code` of an error's XML. It becomes part of messages, so it has to look like one. */
function codeOf(body: Buffer): string | undefined {
  return /<Code>([A-Za-z0-9.]{1,100})<\/Code>/.exec(body.subarray(0, LONGEST_MESSAGE).toString())?.[1];
}

/** What a list answers. Keys of ours need no decoding of XML; others are left out. */
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
  text.replace(/&(?:#(\d+)|(\w+));/g, (whole, digits?: string, name = '') =>
    digits === undefined ? (ENTITIES[name] ?? whole) : String.fromCodePoint(Number(digits)),
  );
