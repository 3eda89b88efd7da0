/**
 * Standard Webhooks: `webhook-signature: v1,<base64 HMAC-SHA256>` over `id.timestamp.body`, several divided by spaces.
 * The secret is `whsec_` and base64, or any text.
 */
import { anyFits, expired, hmac, invalid, missing, OK, type Scheme } from './scheme.ts';

const SIGNATURE = 'webhook-signature';
const PREFIX = 'whsec_';

export const standard: Scheme = {
  name: 'standard',
  verify(delivery, secrets) {
    const id = delivery.header('webhook-id');
    const timestamp = delivery.header('webhook-timestamp');
    const signatures = delivery.header(SIGNATURE);
    if (id === undefined || id === '') return missing('webhook-id');
    if (signatures === undefined) return missing(SIGNATURE);
    const late = expired(timestamp, delivery.now, 'webhook-timestamp');
    if (late !== undefined) return late;
    const given = signatures.split(' ').filter((one) => one.startsWith('v1,'));
    const expected = secrets.map(
      (secret) => `v1,${hmac('sha256', keyOf(secret), 'base64', `${id}.${timestamp}.`, delivery.raw)}`,
    );
    return anyFits(given, expected) ? OK : invalid(SIGNATURE);
  },
  deliveryId: (delivery) => delivery.header('webhook-id'),
  privateHeaders: () => [SIGNATURE],
};

function keyOf(secret: string): string | Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : secret;
}
