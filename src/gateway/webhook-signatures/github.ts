/** GitHub: `X-Hub-Signature-256: sha256=<hex HMAC-SHA256 of the body>`, delivery in `X-GitHub-Delivery`. */
import { anyMatches, hmac, invalid, missing, OK, type Scheme } from './scheme.ts';

const HEADER = 'X-Hub-Signature-256';

export const github: Scheme = {
  verify(delivery, secrets) {
    const given = delivery.header(HEADER);
    if (given === undefined) return missing(HEADER);
    const expected = secrets.map((secret) => `sha256=${hmac('sha256', secret, 'hex', delivery.raw)}`);
    return anyMatches([given.toLowerCase()], expected) ? OK : invalid(HEADER);
  },
  deliveryId: (delivery) => delivery.header('X-GitHub-Delivery'),
  // The delivery's id is not signed. GitHub sends a delivery again for three days, under its id.
  replayWindowMs: () => 24 * 60 * 60 * 1000,
  privateHeaders: () => ['x-hub-signature', 'x-hub-signature-256'],
};
