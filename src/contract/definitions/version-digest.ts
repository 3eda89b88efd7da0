/** A short form of a version's hash, for long lists of versions. It needs no Node built-ins: workflows make it too. */

const HASH = /^sha256:([0-9a-f]{64})$/;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** 192 bits. Nobody finds two definitions that share them. */
const DIGITS = 48;
/** Three hexadecimal digits are two of base64. */
const GROUP = 3;

/** The first 192 bits of `sha256:…` as 32 characters of base64url. Any other text is its own digest. */
export function versionDigest(hash: string): string {
  const digits = HASH.exec(hash)?.[1]?.slice(0, DIGITS);
  if (digits === undefined) return hash;
  let digest = '';
  for (let at = 0; at < DIGITS; at += GROUP) {
    const bits = Number.parseInt(digits.slice(at, at + GROUP), 16);
    digest += ALPHABET.charAt(bits >> 6) + ALPHABET.charAt(bits & 63);
  }
  return digest;
}
