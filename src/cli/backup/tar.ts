/** Writes and reads tar archives (POSIX ustar), which `tar` of any system reads too. */

const BLOCK = 512;
const LONGEST_NAME = 100;
const LONGEST_PREFIX = 155;
/** Larger sizes do not fit into eleven octal digits, and are written in binary as GNU tar does. */
const MOST_OCTAL = 8 ** 11;
const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;
const SPACE = 32;
const REGULAR = ['0', '\0'];

export interface TarEntry {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/** The archive cannot be read: it was cut off or changed. */
export class TarError extends Error {
  readonly code = 'archive_damaged';
}

/** The block before the content of an entry. @throws Error for a name that does not fit. */
export function tarHeader({ name, size }: TarEntry, modifiedAt: Date): Buffer {
  const header = Buffer.alloc(BLOCK);
  const [prefix, last] = splitName(name);
  header.write(last, 0, 'utf8');
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  writeSize(header, size);
  header.write(
    `${Math.floor(modifiedAt.getTime() / 1_000)
      .toString(8)
      .padStart(11, '0')}\0`,
    136,
  );
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  header.write(prefix, 345, 'utf8');
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, CHECKSUM_AT);
  return header;
}

/** The zeros after a content of that size. */
export const tarPadding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

/** The end of an archive. */
export const tarEnd = (): Buffer => Buffer.alloc(2 * BLOCK);

/**
 * Reads an archive. `take` gets each entry in order, with its content, which it has to read to its end.
 * @throws TarError; errors of `take`.
 */
export async function readTar(
  archive: AsyncIterable<Uint8Array>,
  take: (entry: TarEntry, content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const bytes = new Bytes(archive);
  for (;;) {
    const header = await bytes.exactly(BLOCK);
    if (header.every((byte) => byte === 0)) return;
    const entry = entryOf(header);
    await take(entry, bytes.pieces(entry.size));
    await bytes.exactly(tarPadding(entry.size).length);
  }
}

function splitName(name: string): [prefix: string, last: string] {
  if (Buffer.byteLength(name) <= LONGEST_NAME) return ['', name];
  const at = name.lastIndexOf('/');
  const [prefix, last] = [name.slice(0, at), name.slice(at + 1)];
  if (at <= 0 || Buffer.byteLength(prefix) > LONGEST_PREFIX || Buffer.byteLength(last) > LONGEST_NAME)
    throw new Error(`The name ${name} is too long for an archive.`);
  return [prefix, last];
}

function writeSize(header: Buffer, size: number): void {
  if (size < MOST_OCTAL) {
    header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
    return;
  }
  header[124] = 0x80;
  header.writeBigUInt64BE(BigInt(size), 128);
}

function entryOf(header: Buffer): TarEntry {
  const stated = Number.parseInt(textAt(header, CHECKSUM_AT, CHECKSUM_BYTES), 8);
  if (stated !== checksumOf(header)) throw new TarError('The archive is damaged: a header has the wrong checksum.');
  const type = String.fromCharCode(header[156] ?? 0);
  const prefix = textAt(header, 345, LONGEST_PREFIX);
  const last = textAt(header, 0, LONGEST_NAME);
  const name = prefix === '' ? last : `${prefix}/${last}`;
  if (!REGULAR.includes(type)) throw new TarError(`The archive holds ${name}, which is no regular file.`);
  const isBinary = ((header[124] ?? 0) & 0x80) !== 0;
  const size = isBinary ? Number(header.readBigUInt64BE(128)) : Number.parseInt(textAt(header, 124, 12), 8);
  if (!Number.isSafeInteger(size) || size < 0) throw new TarError(`The archive does not say how long ${name} is.`);
  return { name, size };
}

const textAt = (header: Buffer, at: number, bytes: number): string =>
  header
    .subarray(at, at + bytes)
    .toString('utf8')
    .replace(/\0.*$/s, '')
    .trim();

/** The sum of the bytes, with spaces in the place of the checksum. */
function checksumOf(header: Buffer): number {
  return header.reduce(
    (sum, byte, at) => sum + (at >= CHECKSUM_AT && at < CHECKSUM_AT + CHECKSUM_BYTES ? SPACE : byte),
    0,
  );
}

class Bytes {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async *pieces(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (this.#rest.length === 0) await this.#more();
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  async exactly(count: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.pieces(count)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done === true) throw new TarError('The archive is cut off.');
    this.#rest = Buffer.from(value);
  }
}
