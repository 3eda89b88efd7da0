import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { signalbox } from './signalbox.js';

const folder = new URL('../definitions/', import.meta.url);

for (const name of readdirSync(folder).filter((file) => /\.(ya?ml|json)$/.test(file)))
  test(`definitions/${name} has no problems`, () => {
    const { printed } = signalbox('validate', `definitions/${name}`);
    assert.deepEqual(printed.problems, []);
  });
