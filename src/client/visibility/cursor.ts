/** Cursors of lists. A cursor is signed, and valid only for the list that gave it. */

import { ClientError } from '../errors.ts';
import { constantTimeEqual, hmacHex } from '../payloads/keys.ts';

const SIGNATURE_DIGITS = 32;

/** `list` identifies the list with all its filters and its organization. */
export function writeCursor(key: Uint8Array, list: string, position: Uint8Array): string {
  const text = Buffer.from(position).toString('base64url');
  return `${sign(key, list, text)}${text}`;
}

/** @throws ClientError `invalid_cursor`. */
export function readCursor(key: Uint8Array, list: string, cursor: string): Uint8Array {
  const [signature, text] = [cursor.slice(0, SIGNATURE_DIGITS), cursor.slice(SIGNATURE_DIGITS)];
  if (!constantTimeEqual(signature, sign(key, list, text))) {
    throw new ClientError(
      'invalid_cursor',
      'The cursor is not one of this list. Give the nextCursor of an answer, with the same filters.',
    );
  }
  return Buffer.from(text, 'base64url');
}

const sign = (key: Uint8Array, list: string, text: string): string =>
  hmacHex(key, JSON.stringify([list, text])).slice(0, SIGNATURE_DIGITS);
