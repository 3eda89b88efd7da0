/** A key in a header: config `header` (X-API-Key); `Authorization: Bearer <key>` is taken as well. */

import { constantTimeEqual } from '../../client/payloads/keys.ts';
import { sha256Hex } from '../../client/temporal/ids.ts';
import { textOf } from './hmac.ts';
import { invalid, missing, OK, type Scheme } from './scheme.ts';

export const apiKey: Scheme = {
  verify(delivery, secrets, options) {
    const header = textOf(options, 'header', 'X-API-Key');
    const given = delivery.header(header) ?? bearer(delivery.header('Authorization'));
    if (given === undefined) return missing(header);
    let fits = false;
    for (const secret of secrets) if (constantTimeEqual(sha256Hex(given), sha256Hex(secret))) fits = true;
    return fits ? OK : { ...invalid(header), message: `The key in ${header} is not the right one.` };
  },
  acceptsIdempotencyKey: true,
  privateHeaders: (options) => [textOf(options, 'header', 'X-API-Key').toLowerCase()],
};

const bearer = (header: string | undefined): string | undefined =>
  header === undefined ? undefined : /^Bearer (.+)$/i.exec(header)?.[1];
