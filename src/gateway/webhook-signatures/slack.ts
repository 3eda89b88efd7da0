/**
 * Slack: `X-Slack-Signature: v0=<hex HMAC-SHA256 of "v0:timestamp:body">`. Its Events API sends a signed
 * `url_verification` once, and accepts an address only if it answers with the challenge
 * (https://docs.slack.dev/reference/events/url_verification).
 */
import { isObject } from '../../json/json.ts';
import { anyMatches, expired, hmac, invalid, missing, OK, type Scheme } from './scheme.ts';

const SIGNATURE = 'X-Slack-Signature';
const TIMESTAMP = 'X-Slack-Request-Timestamp';

export const slack: Scheme = {
  verify(delivery, secrets) {
    const given = delivery.header(SIGNATURE);
    if (given === undefined) return missing(SIGNATURE);
    const timestamp = delivery.header(TIMESTAMP);
    const late = expired(timestamp, delivery.now, TIMESTAMP);
    if (late !== undefined) return late;
    const expected = secrets.map((secret) => `v0=${hmac('sha256', secret, 'hex', `v0:${timestamp}:`, delivery.raw)}`);
    return anyMatches([given.toLowerCase()], expected) ? OK : invalid(SIGNATURE);
  },
  handshake(body) {
    if (!isObject(body) || body['type'] !== 'url_verification') return undefined;
    const { challenge } = body;
    return typeof challenge === 'string' ? { challenge } : undefined;
  },
  privateHeaders: () => ['x-slack-signature'],
};
