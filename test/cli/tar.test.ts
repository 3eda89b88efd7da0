import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { type AddFile, readTar, writeTar } from '../../src/cli/backup/tar.ts';

const LONG = `blobs/${'a'.repeat(64)}/${'b'.repeat(64)}`;

type Files = readonly (readonly [name: string, content: Buffer])[];

const archiveOf = (files: Files): Promise<Buffer> =>
  buffer(
    writeTar(async (add) => {
      for (const [name, content] of files) await add(name, content.length, [content]);
    }),
  );

async function filesOf(archive: Buffer, pieceBytes = 700): Promise<[string, Buffer][]> {
  const found: [string, Buffer][] = [];
  const pieces = async function* () {
    for (let at = 0; at < archive.length; at += pieceBytes) yield archive.subarray(at, at + pieceBytes);
  };
  await readTar(pieces(), async (name, content) => {
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(part);
    found.push([name, Buffer.concat(parts)]);
  });
  return found;
}

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-tar-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
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
        expect(await filesOf(await archiveOf(files), pieceBytes)).toEqual(files);
      },
    ),
    { numRuns: 50 },
  );
});

it('writes what tar of the system reads', async () => {
  const folder = scratch();
  const files = [['manifest.json', Buffer.from('{}')] as const, [LONG, Buffer.alloc(1_234, 7)] as const];
  writeFileSync(join(folder, 'a.tar'), await archiveOf(files));
  execFileSync('tar', ['xf', 'a.tar'], { cwd: folder });
  for (const [name, content] of files) expect(readFileSync(join(folder, name))).toEqual(content);
});

it('reads what tar of the system writes, in the formats that backups have had', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'manifest.json'), '{}');
  writeFileSync(join(folder, 'temporal.db'), Buffer.alloc(1_234, 7));
  for (const format of ['ustar', 'gnu', 'pax']) {
    execFileSync('tar', ['cf', 'a.tar', `--format=${format}`, 'manifest.json', 'temporal.db'], { cwd: folder });
    expect(await filesOf(readFileSync(join(folder, 'a.tar'))), format).toEqual([
      ['manifest.json', Buffer.from('{}')],
      ['temporal.db', Buffer.alloc(1_234, 7)],
    ]);
  }
});

it('states sizes of any length, in binary as GNU tar does', async () => {
  const archive = writeTar(async (add) => {
    await add('temporal.db', 20_000_000_000, [Buffer.alloc(1)]).catch(() => undefined);
  });
  const iterator = archive[Symbol.asyncIterator]();
  const header: Buffer = (await iterator.next()).value;
  expect([header[124], header.readBigUInt64BE(128)]).toEqual([0x80, 20_000_000_000n]);
});

it('refuses what was cut off or changed', async () => {
  const archive = await archiveOf([['one', Buffer.alloc(900, 1)]]);
  for (const length of [100, 600, 1_500])
    await expect(filesOf(archive.subarray(0, length))).rejects.toThrow('Unexpected end of data');
  const changed = Buffer.from(archive);
  changed[3] = 90;
  await expect(filesOf(changed)).rejects.toThrow('Invalid tar header');
  const folder = scratch();
  execFileSync('ln', ['-s', '/etc/passwd', 'link'], { cwd: folder });
  execFileSync('tar', ['cf', 'a.tar', 'link'], { cwd: folder });
  await expect(filesOf(readFileSync(join(folder, 'a.tar')))).rejects.toThrow('link, which is no regular file');
});

it('ends with the error of what fills it, or of what takes its files', async () => {
  const failing = async (add: AddFile): Promise<void> => {
    await add('one', 2, [Buffer.from('ab')]);
    throw new Error('The store is away.');
  };
  await expect(buffer(writeTar(failing))).rejects.toThrow('The store is away.');
  const short = async (add: AddFile): Promise<void> => add('one', 2, [Buffer.from('a')]);
  await expect(buffer(writeTar(short))).rejects.toThrow('Size mismatch');
  const archive = await archiveOf([['one', Buffer.alloc(900, 1)]]);
  const full = async (): Promise<void> => {
    throw new Error('The disk is full.');
  };
  await expect(readTar(Readable.from([archive]), full)).rejects.toThrow('The disk is full.');
});
