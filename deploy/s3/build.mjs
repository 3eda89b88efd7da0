// Builds the S3 server that go.mod pins into the user's cache folder: three minutes of a processor, once.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPrograms, pinnedVersion } from '../go-programs.mjs';

const source = fileURLToPath(new URL('.', import.meta.url));
const MODULE = 'github.com/versity/versitygw';

/** The pinned version, such as 1.8.0. */
export const s3Version = pinnedVersion(source, MODULE);

/** The path of the program. Builds it if it is missing. @throws Error without Go, or with its output */
export const buildS3 = async () => {
  const programs = { versitygw: `${MODULE}/cmd/versitygw` };
  const what = 'the S3 server';
  return join(await buildPrograms({ source, what, name: 'versitygw', version: s3Version, programs }), 'versitygw');
};
