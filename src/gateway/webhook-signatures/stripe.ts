/** Stripe: `Stripe-Signature: t=<seconds>,v1=<hex HMAC-SHA256 of "t.body">`, several v1 while its secret rotates. */
import { anyMatches, expired, hmac, invalid, missing, OK, type Scheme } from './scheme.ts';

const HEADER = 'Stripe-Signature';

export const stripe: Scheme = {
  verify(delivery, secrets) {
    const header = delivery.header(HEADER);
    if (header === undefined) return missing(HEADER);
    const items = header.split(',').map((item) => item.trim());
    const timestamp = items.find((item) => item.startsWith('t='))?.slice(2);
    const late = expired(timestamp, delivery.now, HEADER);
    if (late !== undefined) return late;
    const given = items.filter((item) => item.startsWith('v1=')).map((item) => item.slice(3));
    const expected = secrets.map((secret) => hmac('sha256', secret, 'hex', `${timestamp}.`, delivery.raw));
    return anyMatches(given, expected) ? OK : invalid(HEADER);
  },
  privateHeaders: () => ['stripe-signature'],
};
