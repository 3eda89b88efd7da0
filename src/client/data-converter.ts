import type { DataConverter } from '@temporalio/common';
import type { Config } from '../config.ts';

/**
 * How payloads are written to Temporal and read back. Whoever opens a client or a worker takes it from here, once for a
 * process: gateway, worker and the fold must agree, or one cannot read what another wrote.
 */
export function dataConverterOf(_config: Config): DataConverter {
  return {};
}
