/**
 * Any HMAC of the body: config `header` (X-Signature), `algorithm` (sha256, sha1, sha512), `encoding` (hex, base64) and
 * `prefix` ('', such as `sha256=`). With `timestampHeader`, `timestamp.body` is signed, and at most five minutes old.
 */
import type { JsonObject } from '../../json/json.ts';
import { anyMatches, expired, hmac, invalid, missing, OK, type Scheme } from './scheme.ts';

export const genericHmac: Scheme = {
  verify(delivery, secrets, options) {
    const header = textOf(options, 'header', 'X-Signature');
    const algorithm = textOf(options, 'algorithm', 'sha256');
    const encoding = textOf(options, 'encoding', 'hex') === 'base64' ? 'base64' : 'hex';
    const prefix = textOf(options, 'prefix', '');
    const timestampHeader = textOf(options, 'timestampHeader', '');
    const given = delivery.header(header);
    if (given === undefined) return missing(header);
    const timestamp = timestampHeader === '' ? undefined : delivery.header(timestampHeader);
    const late = timestampHeader === '' ? undefined : expired(timestamp, delivery.now, timestampHeader);
    if (late !== undefined) return late;
    const signed = timestamp === undefined ? [delivery.raw] : [`${timestamp}.`, delivery.raw];
    const expected = secrets.map((secret) => prefix + hmac(algorithm, secret, encoding, ...signed));
    return anyMatches(
      [encoding === 'hex' ? given.toLowerCase() : given],
      expected.map((one) => (encoding === 'hex' ? one.toLowerCase() : one)),
    )
      ? OK
      : invalid(header);
  },
  replayWindowMs: (options) => (textOf(options, 'timestampHeader', '') === '' ? 5 * 60 * 1000 : undefined),
  privateHeaders: (options) => [textOf(options, 'header', 'X-Signature').toLowerCase()],
};

export function textOf(options: JsonObject, name: string, otherwise: string): string {
  const value = options[name];
  return typeof value === 'string' && value !== '' ? value : otherwise;
}
