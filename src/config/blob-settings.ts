/** SIGNALBOX_BLOBS: a folder, `off`, or a bucket of S3. */
import { join, resolve } from 'node:path';
import { omitUndefined } from '../json/omit-undefined.ts';
import { type AwsRole, awsRoleOf } from './aws-role.ts';
import { ConfigError } from './config-error.ts';

export interface S3Settings {
  readonly bucket: string;
  /** Empty, or a path that ends with a slash. */
  readonly prefix: string;
  readonly region: string;
  /** The URL of a server that is compatible with S3, without a slash at the end. Absent: AWS. */
  readonly endpoint?: string;
  /** From the standard variables of AWS; absent where they are not set. */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  /** Where temporary credentials come from, where those variables are not set. */
  readonly role?: AwsRole;
}

/** Where payloads over 256 KB are stored, and whether new ones are. Without `s3` they are in the folder. */
export interface BlobSettings {
  readonly folder: string;
  readonly isOn: boolean;
  readonly s3?: S3Settings;
}

const VARIABLE = 'SIGNALBOX_BLOBS';
const EXPECTED_FORMAT = 'expected a folder, off, or s3://bucket/prefix?endpoint=https://host&region=name.';
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Characters that every server writes and signs alike. */
const PREFIX = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/;
const MAX_PREFIX = 500;
const REGION = /^[a-z0-9-]{1,50}$/;

/**
 * If the store is switched off, earlier payloads are still read from the default folder.
 * @throws ConfigError, which never repeats the value
 */
export function readBlobSettings(env: Readonly<Record<string, string>>, dataDir: string): BlobSettings {
  const setting = env[VARIABLE];
  const folder = resolve(join(dataDir, 'blobs'));
  if (setting === undefined) return { folder, isOn: true };
  if (setting === 'off') return { folder, isOn: false };
  if (setting.startsWith('s3://')) return { folder, isOn: true, s3: parseS3Settings(setting, env) };
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(setting)) throw new ConfigError(VARIABLE, EXPECTED_FORMAT);
  return { folder: resolve(setting), isOn: true };
}

function parseS3Settings(text: string, env: Readonly<Record<string, string>>): S3Settings {
  if (!URL.canParse(text)) throw new ConfigError(VARIABLE, EXPECTED_FORMAT);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    throw new ConfigError(VARIABLE, 'expected no credentials: they are read from AWS_ACCESS_KEY_ID and the like.');
  const unknown = [...url.searchParams.keys()].some((name) => name !== 'endpoint' && name !== 'region');
  if (unknown || url.hash !== '' || url.port !== '') throw new ConfigError(VARIABLE, EXPECTED_FORMAT);
  if (!BUCKET.test(url.hostname))
    throw new ConfigError(VARIABLE, `the name of the bucket is invalid; ${EXPECTED_FORMAT}`);
  const path = url.pathname.replace(/^\/|\/$/g, '');
  const prefix = path === '' ? '' : `${path}/`;
  if (!PREFIX.test(prefix) || prefix.length > MAX_PREFIX)
    throw new ConfigError(VARIABLE, 'expected a prefix of letters, digits, `.`, `_`, `-` and single slashes.');
  const endpoint = endpointOf(url.searchParams.get('endpoint') ?? undefined);
  const region =
    url.searchParams.get('region') ??
    env['AWS_REGION'] ??
    env['AWS_DEFAULT_REGION'] ??
    (endpoint === undefined ? '' : 'us-east-1');
  if (!REGION.test(region))
    throw new ConfigError(VARIABLE, 'expected a region, such as ?region=eu-central-1, here or in AWS_REGION.');
  const credentials = credentialsOf(env);
  const role = credentials === undefined ? awsRoleOf(env, region) : undefined;
  return { bucket: url.hostname, prefix, region, ...omitUndefined({ endpoint, credentials, role }) };
}

function endpointOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!URL.canParse(text) || !/^https?:\/\/[^@?#]+$/.test(text))
    throw new ConfigError(VARIABLE, 'expected an endpoint such as https://s3.example.com, without credentials.');
  return text.replace(/\/+$/, '');
}

function credentialsOf(env: Readonly<Record<string, string>>): S3Settings['credentials'] {
  const accessKeyId = env['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'];
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { accessKeyId, secretAccessKey, ...omitUndefined({ sessionToken: env['AWS_SESSION_TOKEN'] }) };
}
