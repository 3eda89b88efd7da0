/** Decodes texts of other charsets than UTF-8. */

/** What the bytes 0x80 to 0x9F are in windows-1252 (https://encoding.spec.whatwg.org/#windows-1252). */
const HIGH =
  '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f' + // 0x80
  '\u0090‘’“”•–—˜™š›œ\u009džŸ'; // 0x90
const CONTROLS = /[\u0080-\u009f]/g;

/**
 * The text of the bytes, whose charset has this label (`iso-8859-1`, `Shift_JIS`). Undefined where the label is
 * unknown. Bytes that the charset does not have become U+FFFD, and a byte order mark is left out.
 *
 * Node 20 reads windows-1252, which also has the labels iso-8859-1, latin1 and us-ascii, as if these 32 bytes were
 * control characters.
 */
export function decodeCharset(bytes: Uint8Array, label: string): string | undefined {
  const decoder = decoderOf(label);
  if (decoder === undefined) return undefined;
  const text = decoder.decode(bytes);
  if (decoder.encoding !== 'windows-1252') return text;
  return text.replace(CONTROLS, (control) => HIGH[control.charCodeAt(0) - 0x80] ?? control);
}

function decoderOf(label: string) {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}
