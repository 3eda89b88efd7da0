/** Slack: `X-Slack-Signature: v0=<hex HMAC-SHA256 of "v0:timestamp:body">`. */
import { anyFits, expired, hmac, invalid, missing, OK, type Scheme } from './scheme.ts';

const SIGNATURE = 'X-Slack-Signature';
const TIMESTAMP = 'X-Slack-Request-Timestamp';

export const slack: Scheme = {
  name: 'slack',
  verify(delivery, secrets) {
    const given = delivery.header(SIGNATURE);
    if (given === undefined) return missing(SIGNATURE);
    const timestamp = delivery.header(TIMESTAMP);
    const late = expired(timestamp, delivery.now, TIMESTAMP);
    if (late !== undefined) return late;
    const expected = secrets.map((secret) => `v0=${hmac('sha256', secret, 'hex', `v0:${timestamp}:`, delivery.raw)}`);
    return anyFits([given.toLowerCase()], expected) ? OK : invalid(SIGNATURE);
  },
  privateHeaders: () => ['x-slack-signature'],
};
