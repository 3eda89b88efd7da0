import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadActions } from '../../src/actions/load.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-actions-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
/**
 * What defineAction gives; test/e2e/activities/effects-code-actions.test.ts imports the real one, as a developer would.
 */
const action = (name: string, type: string): void =>
  write(name, `export default { kind: 'signalbox/action', type: '${type}' };\nexport const other = 1;`);

describe('the folder of host actions', () => {
  it('is read module by module, without its folders and other files', async () => {
    action('b.mjs', 'b.one');
    action('a.js', 'a.one');
    mkdirSync(join(folder, 'shared'));
    action('shared/c.mjs', 'c.one');
    write('readme.md', '# Actions');
    expect([...(await loadActions(folder)).keys()]).toEqual(['a.one', 'b.one']);
    expect((await loadActions(undefined)).size).toBe(0);
  });

  it('runs TypeScript where Node does, and says elsewhere that it does not', async () => {
    action('c.ts', 'c.one');
    if ('typescript' in process.features && process.features.typescript !== false)
      expect([...(await loadActions(folder)).keys()]).toEqual(['c.one']);
    else
      await expect(loadActions(folder)).rejects.toThrow(/^SIGNALBOX_ACTIONS: c\.ts is TypeScript, .* from 22\.18 on/);
    // Its JavaScript beside it is what runs.
    action('c.js', 'c.one');
    expect([...(await loadActions(folder)).keys()]).toEqual(['c.one']);
  });

  it.each<[string, () => void, RegExp]>([
    [
      'defines a type twice',
      () => {
        action('a.mjs', 'a.one');
        action('b.mjs', 'a.one');
      },
      /a\.mjs and b\.mjs both define a\.one/,
    ],
    ['exports no action', () => write('a.mjs', 'export const a = 1;'), /a\.mjs exports no action\. Write:/],
    ['throws', () => write('a.mjs', 'throw new Error("no database");'), /a\.mjs cannot be imported: no database/],
    ['takes a name that is ours', () => action('a.mjs', 'http.request'), /http\.… is reserved/],
    ['is not there', () => rmSync(folder, { recursive: true }), /cannot be read \(ENOENT\)/],
  ])('is refused with what to mend where it %s', async (_what, make, message) => {
    make();
    const refused = loadActions(folder);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toMatchObject({ code: 'bad_action', exitCode: 20 });
  });
});
