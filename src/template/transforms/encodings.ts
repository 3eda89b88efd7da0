/** Transforms between texts and their encodings. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { toJson, toText } from '../clean-json.ts';
import { chargeString, chargeWork } from '../evaluation.ts';
import type { TransformDeclarations } from './transform.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export const ENCODINGS: TransformDeclarations = {
  parseJSON: {
    gives: 'The value of a JSON text; null if the text is not JSON. Other values stay as they are.',
    apply: (value, _args, evaluation) => {
      if (typeof value !== 'string') return value;
      chargeWork(evaluation, value.length >> 2);
      try {
        return JSON.parse(value) as unknown;
      } catch {
        return null;
      }
    },
  },
  toJSON: {
    gives: 'The value as JSON text.',
    apply: (value, _args, evaluation) => {
      const json = JSON.stringify(toJson(value, evaluation) ?? null);
      chargeString(evaluation, json.length);
      return json;
    },
  },
  base64: {
    gives: 'The UTF-8 bytes of the text in Base64.',
    apply: (value, _args, evaluation) => {
      const text = toText(value, evaluation);
      chargeWork(evaluation, text.length);
      const bytes = new TextEncoder().encode(text);
      chargeString(evaluation, Math.ceil(bytes.length / 3) * 4);
      return base64(bytes);
    },
  },
  sha256: {
    gives: 'SHA-256 of the UTF-8 bytes of the text, in hex.',
    apply: (value, _args, evaluation) => {
      const text = toText(value, evaluation);
      chargeWork(evaluation, text.length);
      return bytesToHex(sha256(new TextEncoder().encode(text)));
    },
  },
};

function base64(bytes: Uint8Array): string {
  const groups: string[] = [];
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const bits = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const third = left > 1 ? ALPHABET.charAt((bits >> 6) & 63) : '=';
    const fourth = left > 2 ? ALPHABET.charAt(bits & 63) : '=';
    groups.push(ALPHABET.charAt(bits >> 18) + ALPHABET.charAt((bits >> 12) & 63) + third + fourth);
  }
  return groups.join('');
}
