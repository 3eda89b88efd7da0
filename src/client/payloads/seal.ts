/**
 * Encryption of secrets with AES-256-GCM. The ciphertext is bound to its context, which names where the secret belongs,
 * so it is invalid elsewhere.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const FORM = 'v1';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** `v1.` and base64url of iv, tag and ciphertext. `context` must be given again to open it. */
export const seal = (key: Uint8Array, context: string, clear: string): string =>
  `${FORM}.${encryptBytes(key, context, Buffer.from(clear)).toString('base64url')}`;

/** The clear text. Undefined for a wrong key, context or text. */
export function unseal(key: Uint8Array, context: string, sealed: string): string | undefined {
  const [form, text] = sealed.split('.');
  if (form !== FORM || text === undefined) return undefined;
  return decryptBytes(key, context, Buffer.from(text, 'base64url'))?.toString('utf8');
}

/** iv, tag and ciphertext. `context` must be given again to open it. */
export function encryptBytes(key: Uint8Array, context: string, clear: Uint8Array): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  cipher.setAAD(Buffer.from(context));
  const body = [cipher.update(clear), cipher.final()];
  return Buffer.concat([iv, cipher.getAuthTag(), ...body]);
}

/** Undefined for a wrong key or context, and for bytes that were changed. */
export function decryptBytes(key: Uint8Array, context: string, bytes: Uint8Array): Buffer | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** As unseal, with several keys: the right one opens the text. */
export function unsealWithAny(keys: readonly Uint8Array[], context: string, sealed: string): string | undefined {
  for (const key of keys) {
    const clear = unseal(key, context, sealed);
    if (clear !== undefined) return clear;
  }
  return undefined;
}
