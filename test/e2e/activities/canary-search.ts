/** Looks for canary secrets where none may be: in clear, in hexadecimal, and in base64 wherever in it they begin. */

/** What every canary begins with, and nothing else has. */
export const MARK = 'c4n4ryc4n4ry';

const shapes = [0, 1, 2].map((offset) => {
  const encoded = Buffer.from(`${'\0'.repeat(offset)}${MARK}`)
    .toString('base64')
    .replace(/=+$/, '');
  return encoded.slice(offset === 0 ? 0 : offset + 1, -2);
});
const HEX = Buffer.from(MARK).toString('hex');

/** The part of the text around a canary; undefined where there is none. */
export function canaryIn(text: string): string | undefined {
  const lower = text.toLowerCase();
  const found = [
    ...[MARK, HEX].map((shape) => lower.indexOf(shape)),
    ...shapes.map((shape) => text.indexOf(shape)),
  ].find((at) => at >= 0);
  return found === undefined ? undefined : text.slice(Math.max(0, found - 200), found + 80);
}

/** With what the payloads hold. */
export function unpacked(json: unknown): string {
  const text = JSON.stringify(json);
  const payloads = [...text.matchAll(/"data":"([^"]+)"/g)].map(([, data]) => Buffer.from(data!, 'base64').toString());
  return `${text} ${payloads.join(' ')}`;
}
