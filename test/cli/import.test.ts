// What `signalbox import` prints is the same definition: the YAML, read again, has the same hash.

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { detectDialect, toCanonical } from '../../src/definition/dialects/dialects.ts';
import { definitionHash } from '../../src/definition/document/canonical.ts';
import { parseDocument } from '../../src/definition/document/parse.ts';
import type { Json } from '../../src/json/json.ts';
import { cli } from './terminal.ts';

const folder = new URL('../definition/cases/', import.meta.url);
const read = (name: string): Json => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));

const shipped = readdirSync(new URL('000/', folder)).map((name) => ({
  name,
  dialect: '000',
  document: read(`000/${name}`),
}));
const written = ['001', '002', '004'].flatMap((dialect) =>
  (read(`${dialect}.json`) as { name: string; document: Json; dialect?: string }[]).map((one) => ({
    name: one.name,
    dialect: one.dialect ?? dialect,
    document: one.document,
  })),
);

describe('imported YAML', () => {
  it.each([...shipped, ...written])('$dialect: $name', async ({ document, dialect }) => {
    const { definition } = toCanonical(document, dialect);
    const { exit, out, err } = await cli(['import', '--from', dialect, '-'], { input: JSON.stringify(document) });
    if (definition === undefined) {
      expect({ exit, out }).toEqual({ exit: 10, out: '' });
      expect(err).toContain('error /');
      return;
    }
    const again = parseDocument(out);
    if (!('document' in again)) throw new Error(JSON.stringify(again.problems));
    expect(detectDialect(again.document.json)).toBe('canonical');
    const back = toCanonical(again.document);
    expect(back.problems).toEqual([]);
    expect(back.definition && definitionHash(back.definition)).toBe(definitionHash(definition));
  });
});
