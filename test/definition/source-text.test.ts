import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractSecrets } from '../../src/definition/document/extract-secrets.ts';
import { parseDocument } from '../../src/definition/document/parse.ts';
import { textToStore, withMembers } from '../../src/definition/document/source-text.ts';
import type { JsonObject } from '../../src/json/json.ts';

// The text that is stored means what the author wrote, comments and all, and holds no clear secret.

const documentOf = (text: string): JsonObject => {
  const parsed = parseDocument(text);
  if (!('document' in parsed)) throw new Error(JSON.stringify(parsed.problems));
  return parsed.document.json as JsonObject;
};
const stored = (text: string, media: 'yaml' | 'json' = 'yaml') =>
  textToStore(text, media, 'w', extractSecrets({ ...documentOf(text), slug: 'w' }).secrets);

const HOOKED = `# Who asks for this: the shop.
name: Refund   # for people
triggers:
  - name: hook
    type: webhook
    config:
      path: refunds   # agreed with the shop
      secret: "clear-secret-1" # rotate in May
      secrets: [clear-secret-2, {secretRef: other}]
config:
  secrets:
    PAY:
      value: clear-secret-3
    OLD: payments/old
steps:
  done: {stepType: finish}
`;

describe('the text that is stored', () => {
  it('is the text as written where it holds no secret', () => {
    const text = 'name: W # why\nsteps:\n\n  done: {stepType: finish}\n';
    expect(stored(text)).toBe(text);
    expect(stored(`\uFEFF${text}`)).toBe(text);
    const json = '{\n  "name": "W",\n  "steps": {}\n}\n';
    expect(stored(json, 'json')).toBe(json);
    expect(stored('{"name": "W", "steps": {}}\n', 'json')).toBeUndefined();
  });

  it('has references in place of secrets, and everything else as it was', () => {
    expect(stored(HOOKED)).toBe(
      HOOKED.replace('"clear-secret-1"', '{"secretRef": "workflows/w/triggers/hook/secret"}')
        .replace('clear-secret-2', '{"secretRef": "workflows/w/triggers/hook/secrets/0"}')
        .replace('value: clear-secret-3', '"workflows/w/secrets/PAY"'),
    );
    const json = JSON.stringify(documentOf(HOOKED), null, 2);
    const clean = stored(json, 'json') ?? '';
    expect(clean).not.toContain('clear-secret');
    expect(documentOf(clean)).toMatchObject({ config: { secrets: { PAY: 'workflows/w/secrets/PAY' } } });
  });

  it('reads block texts, and gives up where a secret stays in a comment or behind an alias', () => {
    const block = HOOKED.replace('"clear-secret-1" # rotate in May', '>-\n        clear-secret-1');
    expect(stored(block)).toContain('secret: {"secretRef": "workflows/w/triggers/hook/secret"}\n      secrets:');
    expect(stored(HOOKED.replace('rotate in May', 'was clear-secret-3'))).toBeUndefined();
    const anchored = HOOKED.replace('name: Refund', 'name: &s clear-secret-1').replace('"clear-secret-1"', '*s');
    expect(stored(anchored)).toBeUndefined();
  });

  it('never holds a secret, whatever the secret is', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8, unit: 'grapheme' }), fc.boolean(), (secret, isJson) => {
        const document = {
          name: 'W',
          triggers: [{ name: 'hook', type: 'webhook', config: { path: 'p', secret } }],
          config: { secrets: { KEY: { value: secret } } },
        };
        const text = JSON.stringify(document, null, 2);
        const result = textToStore(text, isJson ? 'json' : 'yaml', 'w', [{ name: 'n', value: secret }]);
        // A secret such as "secretRef" is a part of every reference: no text is stored then.
        if (result !== undefined) expect(result).not.toContain(secret);
      }),
    );
  });
});

describe('changing members of a text', () => {
  it('changes the member alone, or adds it at the top', () => {
    const text = '# A note\nname: Old # for people\nsteps: {}\n';
    expect(withMembers(text, { name: 'New: better', tags: ['a'] })).toBe(
      '# A note\ntags: ["a"]\nname: "New: better" # for people\nsteps: {}\n',
    );
    expect(withMembers('{\n  "name": "Old"\n}', { name: 'New', tags: [] })).toBe('{\n  "tags": [], "name": "New"\n}');
    expect(withMembers(text, { name: 'Old' })).toBe(text);
    expect(withMembers('not: [a', { name: 'New' })).toBeUndefined();
  });

  it('replaces values of any form', () => {
    const block = 'name: W\ndescription: |\n  two\n  lines\ntags:\n  - a\n  - b\nsteps: {}\n';
    expect(withMembers(block, { description: 'one', tags: ['c'] })).toBe(
      'name: W\ndescription: "one"\ntags:\n  ["c"]\nsteps: {}\n',
    );
  });
});
