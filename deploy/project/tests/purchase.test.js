import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dryRun } from './signalbox.js';

const FILE = 'definitions/purchase.yaml';
const large = { sku: 'chair', quantity: 20, amount: 2500 };
const presets = { reserve: { reservation: 'chair/1' } };

test('a small purchase asks nobody', () => {
  const run = dryRun(FILE, { input: { ...large, amount: 250 }, presets });
  assert.equal(run.status, 'completed');
  assert.deepEqual(run.output, { bought: true, reservation: 'chair/1' });
});

test('a large purchase waits for a person', () => {
  const run = dryRun(FILE, { input: large, presets });
  assert.equal(run.status, 'waiting');
  assert.equal(run.waits[0].path, 'review');
});

test('goods are reserved for an approved purchase only', () => {
  const approved = dryRun(FILE, { input: large, presets, answers: { review: { decision: 'approved' } } });
  assert.deepEqual(approved.steps.find(({ path }) => path === 'reserve').input.parameters, {
    sku: 'chair',
    quantity: 20,
  });
  assert.equal(approved.output.bought, true);
  const rejected = dryRun(FILE, { input: large, presets, answers: { review: { decision: 'rejected' } } });
  assert.deepEqual(rejected.output, { bought: false });
});

test('a purchase that nobody decides is refused', () => {
  const run = dryRun(FILE, { input: large, answers: { review: { timeout: true } } });
  assert.deepEqual(run.output, { bought: false });
});
