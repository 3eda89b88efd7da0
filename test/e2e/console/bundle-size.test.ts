// What a browser loads of the console: the chunks of the build that `npm run build` has made, gzipped.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { compiledRoot } from '../../../src/cli/start/project-root.ts';

const KB = 1_000;
const folder = join(compiledRoot(), 'console');
const assets = join(folder, 'assets');
const bytesOf = (name: string): number => gzipSync(readFileSync(join(assets, name)), { level: 9 }).length;
const sum = (names: readonly string[]): number => names.map(bytesOf).reduce((a, b) => a + b, 0);
const names = readdirSync(assets);
const page = readFileSync(join(folder, 'index.html'), 'utf8');
/** What a chunk loads before it runs. */
const importsOf = (name: string): string[] =>
  name.endsWith('.js')
    ? [...readFileSync(join(assets, name), 'utf8').matchAll(/(?:from|import)\s*["']\.\/([^"']+)["']/g)].map(
        ([, found]) => found!,
      )
    : [];
/** Chunks of the editor and of comparisons of texts, which only their screens load. */
const isEditorChunk = (name: string): boolean => /^(editor|codemirror|diff)/.test(name);

describe('the console as it was built', () => {
  it('begins with at most 40 kB', () => {
    const first = new Set(names.filter((name) => page.includes(`/assets/${name}`)));
    expect([...first].some((name) => name.endsWith('.js'))).toBe(true);
    for (const name of first) for (const other of importsOf(name)) first.add(other);
    expect(sum([...first])).toBeLessThanOrEqual(40 * KB);
  });

  it('has at most 95 kB without the editor, and at most 180 kB of that', () => {
    expect(sum(names.filter((name) => !isEditorChunk(name)))).toBeLessThanOrEqual(95 * KB);
    expect(sum(names.filter(isEditorChunk))).toBeLessThanOrEqual(180 * KB);
  });

  it('names no other host, and has no script or style in its page', () => {
    expect(page).not.toMatch(/https?:\/\//);
    expect(page).not.toMatch(/<style|style=|<script(?![^>]* src=)/);
    for (const name of names.filter((one) => one.endsWith('.css')))
      expect(readFileSync(join(assets, name), 'utf8')).not.toMatch(/url\(\s*['"]?https?:/);
  });

  it('has no maps and nothing that is not code or style', () => {
    expect(names.filter((name) => !/\.(js|css)$/.test(name))).toEqual([]);
  });
});
