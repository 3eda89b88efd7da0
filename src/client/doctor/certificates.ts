/** When the certificates of the connection to Temporal end. */
import type { Config } from '../../config/config.ts';
import { connectionOptions } from '../temporal/connect.ts';
import { probeAddress } from '../temporal/tls-probe.ts';
import type { Finding } from './finding.ts';

const check = 'certificates';
const DAY_MS = 86_400_000;
const EXPIRY_WARNING_MS = 21 * DAY_MS;

/** None where the connection has no TLS. */
export async function certificateFindings(config: Pick<Config, 'temporal'>, now = Date.now()): Promise<Finding[]> {
  const { address, ...options } = connectionOptions(config);
  const { serverUntil, clientUntil } = await probeAddress(address, options);
  return [
    ...(serverUntil === undefined ? [] : [findingOf('The certificate of Temporal', serverUntil, now)]),
    ...(clientUntil === undefined
      ? []
      : [findingOf('The client certificate (TEMPORAL_TLS_CLIENT_CERT_PATH)', clientUntil, now)]),
  ];
}

function findingOf(what: string, until: Date, now: number): Finding {
  const leftMs = until.getTime() - now;
  const day = until.toISOString().slice(0, 10);
  if (leftMs > EXPIRY_WARNING_MS) return { check, level: 'ok', text: `${what} is valid until ${day}.` };
  return {
    check,
    level: 'warning',
    text:
      `${what} ends in ${Math.max(0, Math.floor(leftMs / DAY_MS))} days, on ${day}. Gateways and workers read a ` +
      'renewed one when they start.',
  };
}
