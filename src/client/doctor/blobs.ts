/** Whether large payloads can be stored and read as gateways and workers will do it. */
import { existsSync } from 'node:fs';
import type { S3Settings } from '../../config/blob-settings.ts';
import type { Config } from '../../config/config.ts';
import { BlobStoreError } from '../payloads/blob-store.ts';
import { blobStoreOf, probeBlobStore } from '../payloads/open-blob-store.ts';
import type { Finding } from './finding.ts';

const check = 'large payloads';
const CREDENTIAL_LINES = ['AWS_ACCESS_KEY_ID=…', 'AWS_SECRET_ACCESS_KEY=…'];

/** A folder that is not there yet is made with the first payload, and is not examined. */
export async function blobFindings({ blobs }: Pick<Config, 'blobs'>): Promise<Finding[]> {
  const { folder, s3, isOn } = blobs;
  if (!isOn) return [{ check, level: 'note', text: 'They stay in Temporal: SIGNALBOX_BLOBS is off.' }];
  if (s3 === undefined && !existsSync(folder)) return [];
  const where = s3 === undefined ? `The folder ${folder}` : `Bucket ${s3.bucket} at ${hostOf(s3)}`;
  try {
    await probeBlobStore(blobStoreOf(blobs));
    return [{ check, level: 'ok', text: `${where} can be written, read and listed.` }];
  } catch (error) {
    if (!(error instanceof BlobStoreError)) throw error;
    const isDenied = error.code === 'blob_denied';
    const folderRemedy = isDenied ? `chown -R $(id -u) ${folder}` : 'SIGNALBOX_BLOBS=/another/folder';
    const lines = s3 === undefined ? [folderRemedy] : remedyOf(s3, error.reason);
    return [{ check, level: 'blocks', text: `${where} cannot be used: ${error.reason}.`, lines }];
  }
}

const hostOf = ({ endpoint, region }: S3Settings): string => endpoint ?? `AWS in ${region}`;

/** By the code of the store's answer. */
function remedyOf(s3: S3Settings, why: string): string[] {
  const { bucket, prefix, region, endpoint } = s3;
  const locationFlags = endpoint === undefined ? `--region ${region}` : `--region ${region} --endpoint-url ${endpoint}`;
  switch (why) {
    case 'NoSuchBucket':
      return [`aws s3 mb s3://${bucket} ${locationFlags}`];
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
      return [...CREDENTIAL_LINES, 'AWS_SESSION_TOKEN=…'];
    default:
      break;
  }
  if (s3.role !== undefined && /credentials/.test(why))
    return s3.role.from === 'web identity'
      ? ['AWS_ROLE_ARN=…   # its trust policy has to name the service account']
      : ['AWS_CONTAINER_CREDENTIALS_FULL_URI=…'];
  if (s3.role === undefined && s3.credentials === undefined) return CREDENTIAL_LINES;
  if (/^(?:InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken)$/.test(why)) return CREDENTIAL_LINES;
  return [
    `curl -sI ${endpoint ?? `https://s3.${region}.amazonaws.com`}`,
    'SIGNALBOX_BLOBS=s3://bucket/prefix?endpoint=…',
  ];
}
