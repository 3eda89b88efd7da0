import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findPython } from '../../../activities/run-code/find-python.ts';

it('says what to install where Python cannot run', () => {
  const elsewhere = join(process.cwd(), '..', 'nowhere', 'worker.js');
  expect(() => findPython(elsewhere)).toThrow(
    expect.objectContaining({
      code: 'python_unavailable',
      message: expect.stringMatching(/@deno\/\S+ and pyodide.*npm install --include=optional/),
    }),
  );
});
