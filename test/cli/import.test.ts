// What `signalbox import` prints is the same definition: the YAML, read again, has the same hash.

import { describe, expect, it } from 'vitest';
import { detectDialect, toCanonical } from '../../src/compat/dialects.ts';
import { definitionHash } from '../../src/definition/document/canonical.ts';
import { parseDocument } from '../../src/definition/document/parse.ts';
import { CASES, TALE_DEFINITIONS } from '../compat/dialects/load.ts';
import { agentOpsCases, taleCases } from '../support/shared-cases.ts';
import { cli } from './terminal.ts';

const ofTale = [...TALE_DEFINITIONS, ...taleCases].map(({ name, document }) => ({ name, document, dialect: '000' }));
const others = Object.entries(CASES).flatMap(([dialect, cases]) =>
  cases.map(({ name, document }) => ({ name, document, dialect })),
);
const ofAgentOps = agentOpsCases.map(({ name, definition }) => ({ name, document: definition, dialect: '002' }));

describe('imported YAML', () => {
  it.each([...ofTale, ...others, ...ofAgentOps])('$dialect: $name', async ({ document, dialect }) => {
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
