import assert from 'node:assert/strict';
import { test } from 'node:test';
import reserve from '../actions/stock.js';

const context = { idempotencyKey: 'a-key' };

test('stock.reserve makes the same reservation for a repeated attempt', async () => {
  const first = await reserve.run({ sku: 'chair', quantity: 2 }, context);
  assert.deepEqual(first, { reservation: 'chair/a-key' });
  assert.deepEqual(await reserve.run({ sku: 'chair', quantity: 2 }, context), first);
});

test('stock.reserve fails without a retry if there is not enough', async () => {
  await assert.rejects(reserve.run({ sku: 'chair', quantity: 500 }, context), {
    code: 'out_of_stock',
    retryable: false,
  });
});
