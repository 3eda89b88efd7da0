import { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { SecretReader } from '../activities/secrets.ts';
import { access } from '../src/client/access.ts';
import { dataConverterOf } from '../src/client/data-converter.ts';
import { secretReader } from '../src/client/secrets.ts';
import { type Config, loadMasterKey } from '../src/config.ts';

/** Reads secrets over the worker's own connection, with the host's master key. */
export function secretsOver(connection: NativeConnection, config: Config): SecretReader {
  const { namespace } = config.temporal;
  return secretReader(
    access(
      { client: new Client({ connection, namespace, dataConverter: dataConverterOf(config) }), namespace },
      config,
      loadMasterKey(config),
    ),
  );
}
