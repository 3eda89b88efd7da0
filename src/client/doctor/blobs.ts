/** Whether large payloads can be stored and read as gateways and workers will do it. */
import { existsSync } from 'node:fs';
import type { S3Place } from '../../config/blob-place.ts';
import type { Config } from '../../config/config.ts';
import { BlobFault } from '../payloads/blob-store.ts';
import { blobStoreOf, probe } from '../payloads/store-of.ts';
import type { Finding } from './finding.ts';

const check = 'large payloads';
const KEYS = ['AWS_ACCESS_KEY_ID=…', 'AWS_SECRET_ACCESS_KEY=…'];

/** A folder that is not there yet is made with the first payload, and is not examined. */
export async function blobFindings({ blobs }: Pick<Config, 'blobs'>): Promise<Finding[]> {
  const { folder, s3, isOn } = blobs;
  if (!isOn) return [{ check, level: 'note', text: 'They stay in Temporal: SIGNALBOX_BLOBS is off.' }];
  if (s3 === undefined && !existsSync(folder)) return [];
  const where = s3 === undefined ? `The folder ${folder}` : `Bucket ${s3.bucket} at ${hostOf(s3)}`;
  try {
    await probe(blobStoreOf(blobs));
    return [{ check, level: 'ok', text: `${where} can be written, read and listed.` }];
  } catch (error) {
    if (!(error instanceof BlobFault)) throw error;
    const isDenied = error.code === 'blob_denied';
    const ofFolder = isDenied ? `chown -R $(id -u) ${folder}` : 'SIGNALBOX_BLOBS=/another/folder';
    const lines = s3 === undefined ? [ofFolder] : remedyOf(s3, error.why);
    return [{ check, level: 'blocks', text: `${where} cannot be used: ${error.why}.`, lines }];
  }
}

const hostOf = ({ endpoint, region }: S3Place): string => endpoint ?? `AWS in ${region}`;

/** By the code of the store's answer. */
function remedyOf(s3: S3Place, why: string): string[] {
  const { bucket, prefix, region, endpoint } = s3;
  const at = endpoint === undefined ? `--region ${region}` : `--region ${region} --endpoint-url ${endpoint}`;
  switch (why) {
    case 'NoSuchBucket':
      return [`aws s3 mb s3://${bucket} ${at}`];
    case 'AccessDenied':
    case 'status 403':
      return [
        `Allow s3:ListBucket on arn:aws:s3:::${bucket}, and s3:GetObject, s3:PutObject and s3:DeleteObject on ` +
          `arn:aws:s3:::${bucket}/${prefix}*.`,
      ];
    case 'AuthorizationHeaderMalformed':
    case 'PermanentRedirect':
    case 'IllegalLocationConstraintException':
      return [
        `SIGNALBOX_BLOBS with &region=…, the region of the bucket: aws s3api get-bucket-location --bucket ${bucket}`,
      ];
    case 'RequestTimeTooSkewed':
      return ['Synchronize the clocks of this machine and of the store (NTP).'];
    case 'ExpiredToken':
      return [...KEYS, 'AWS_SESSION_TOKEN=…'];
    default:
      break;
  }
  if (s3.role !== undefined && /credentials/.test(why))
    return s3.role.from === 'web identity'
      ? ['AWS_ROLE_ARN=…   # its trust policy has to name the service account']
      : ['AWS_CONTAINER_CREDENTIALS_FULL_URI=…'];
  if (s3.role === undefined && s3.credentials === undefined) return KEYS;
  if (/^(?:InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken)$/.test(why)) return KEYS;
  return [
    `curl -sI ${endpoint ?? `https://s3.${region}.amazonaws.com`}`,
    'SIGNALBOX_BLOBS=s3://bucket/prefix?endpoint=…',
  ];
}
