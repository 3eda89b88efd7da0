/**
 * Standard Webhooks: `webhook-signature: v1,<base64 HMAC-SHA256>` over `id.timestamp.body`, several divided by spaces.
 * Svix sends the same headers as `svix-…`. The secret is `whsec_` and base64, or any text.
 */
import { anyMatches, type Delivery, expired, hmac, invalid, missing, OK, type Scheme } from './scheme.ts';

const FAMILIES = ['webhook', 'svix'] as const;
const PREFIX = 'whsec_';

/** The family of headers that the delivery has. All of them are of one: only these are signed together. */
const familyOf = (delivery: Delivery): (typeof FAMILIES)[number] =>
  FAMILIES.find((family) => delivery.header(`${family}-signature`) !== undefined) ?? 'webhook';

export const standard: Scheme = {
  verify(delivery, secrets) {
    const family = familyOf(delivery);
    const id = delivery.header(`${family}-id`);
    const timestamp = delivery.header(`${family}-timestamp`);
    const signatures = delivery.header(`${family}-signature`);
    if (id === undefined || id === '') return missing(`${family}-id`);
    if (signatures === undefined) return missing(`${family}-signature`);
    const late = expired(timestamp, delivery.now, `${family}-timestamp`);
    if (late !== undefined) return late;
    const given = signatures.split(' ').filter((one) => one.startsWith('v1,'));
    const expected = secrets.map(
      (secret) => `v1,${hmac('sha256', keyOf(secret), 'base64', `${id}.${timestamp}.`, delivery.raw)}`,
    );
    return anyMatches(given, expected) ? OK : invalid(`${family}-signature`);
  },
  deliveryId: (delivery) => delivery.header(`${familyOf(delivery)}-id`),
  privateHeaders: () => FAMILIES.map((family) => `${family}-signature`),
};

function keyOf(secret: string): string | Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : secret;
}
