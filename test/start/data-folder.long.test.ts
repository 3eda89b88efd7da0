import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { startToEnd } from '../support/stack.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-folder-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a data folder that cannot be used', { timeout: 30_000 }, () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');

  // In /proc, mkdir with `recursive` never ends.
  test.each([
    ['/proc/x', 'does not accept new folders'],
    ['/proc/x/y', 'does not accept new folders'],
    [file, 'a file with this name exists'],
    [join(file, 'within'), 'a parent is not a folder'],
  ])('%s: %s', async (path, reason) => {
    const { code, output } = await startToEnd(path);
    expect(output).toContain(`The data folder ${path} cannot be used: `);
    expect(output).toContain(reason);
    expect(output).toContain('SIGNALBOX_DATA=');
    expect(output).not.toMatch(/mkdir|\bat .*:\d+:\d+/);
    expect(code).toBe(1);
  });
});
