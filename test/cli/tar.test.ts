import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { readTar, tarEnd, tarHeader, tarPadding } from '../../src/cli/backup/tar.ts';

const AT = new Date('2026-01-02T03:04:05Z');
const LONG = `blobs/${'a'.repeat(64)}/${'b'.repeat(64)}`;

const archiveOf = (files: readonly (readonly [string, Buffer])[]): Buffer =>
  Buffer.concat([
    ...files.flatMap(([name, content]) => [
      tarHeader({ name, size: content.length }, AT),
      content,
      tarPadding(content.length),
    ]),
    tarEnd(),
  ]);

async function filesOf(archive: Buffer, pieceBytes = 700): Promise<[string, Buffer][]> {
  const found: [string, Buffer][] = [];
  const pieces = async function* () {
    for (let at = 0; at < archive.length; at += pieceBytes) yield archive.subarray(at, at + pieceBytes);
  };
  await readTar(pieces(), async ({ name }, content) => {
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(part);
    found.push([name, Buffer.concat(parts)]);
  });
  return found;
}

it('reads what it wrote, in pieces of any size', async () => {
  const file = fc.tuple(
    fc.oneof(fc.stringMatching(/^[a-z0-9._-]{1,90}$/), fc.constant(LONG)),
    fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(file, { maxLength: 6 }),
      fc.integer({ min: 1, max: 3_000 }),
      async (files, pieceBytes) => {
        expect(await filesOf(archiveOf(files), pieceBytes)).toEqual(files);
      },
    ),
    { numRuns: 50 },
  );
});

it('writes what tar of the system reads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-tar-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = [['manifest.json', Buffer.from('{}')] as const, [LONG, Buffer.alloc(1_234, 7)] as const];
  writeFileSync(join(folder, 'a.tar'), archiveOf(files));
  execFileSync('tar', ['xf', 'a.tar'], { cwd: folder });
  for (const [name, content] of files) expect(readFileSync(join(folder, name))).toEqual(content);
});

it('states sizes of any length', () => {
  const large = tarHeader({ name: 'temporal.db', size: 20_000_000_000 }, AT);
  const readSize = large.readBigUInt64BE(128);
  expect([large[124], readSize]).toEqual([0x80, 20_000_000_000n]);
});

it('refuses what was cut off or changed', async () => {
  const archive = archiveOf([['one', Buffer.alloc(900, 1)]]);
  for (const length of [100, 600, 1_500]) {
    await expect(filesOf(archive.subarray(0, length))).rejects.toMatchObject({ code: 'archive_damaged' });
  }
  const changed = Buffer.from(archive);
  changed[3] = 90;
  await expect(filesOf(changed)).rejects.toMatchObject({ code: 'archive_damaged' });
  const link = tarHeader({ name: 'link', size: 0 }, AT);
  link.write('2', 156);
  await expect(filesOf(Buffer.concat([link, tarEnd()]))).rejects.toMatchObject({ code: 'archive_damaged' });
});
