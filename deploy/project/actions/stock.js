// A host action: a step of your own. Replace the body of `run` with a call of your system.
import { ActionFailure, defineAction } from 'signalbox/action';
import { z } from 'zod';

export default defineAction({
  type: 'stock.reserve',
  summary: 'Reserves goods in stock.',
  input: z.strictObject({ sku: z.string(), quantity: z.number().int().positive() }),
  output: z.object({ reservation: z.string() }),
  timeoutMs: 5_000,
  // It may run more than once, always with the same idempotencyKey: pass that on to your system.
  async run({ sku, quantity }, { idempotencyKey }) {
    if (quantity > 100) throw new ActionFailure('out_of_stock', `There are less than ${quantity} of ${sku}.`);
    return { reservation: `${sku}/${idempotencyKey}` };
  },
});
