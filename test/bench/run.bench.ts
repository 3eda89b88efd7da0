// `npm run bench`: prints one table; every row is a ratio within this run, or says its unit.
// Not a test: nothing fails here for being slow (deploy/bench.mjs starts it, SIGNALBOX_BENCH_* come from there).
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { it } from 'vitest';
import { testServer } from '../support/temporal.ts';
import { DEFINITION_ROWS, definitionRows } from './definition-rows.ts';
import { EFFECT_ROWS, effectRows } from './effect-rows.ts';
import { approveRow, memoryRow, triggerRow } from './process-rows.ts';
import { handOver, only, type Row } from './rows.ts';
import { atOnceActivities, startSides, temporalRows } from './temporal-rows.ts';

it('measures', { timeout: 1_800_000 }, async () => {
  const rows: Row[] = [];
  const server = await testServer();
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
    logger: new DefaultLogger('WARN'),
  });
  const sides = await startSides(server, code, atOnceActivities);
  try {
    rows.push(...(await temporalRows(sides, only)));
    if (only('trigger')) rows.push(await triggerRow(server));
    if (only('approve by REST')) rows.push(await approveRow(server));
  } finally {
    await sides.stop();
    await server.close();
  }
  if (EFFECT_ROWS.some(only)) rows.push(...(await effectRows(code, only)));
  if (only('memory')) {
    const alone = await testServer();
    try {
      rows.push(await memoryRow(alone));
    } finally {
      await alone.close();
    }
  }
  if (DEFINITION_ROWS.some(only)) {
    const alone = await testServer();
    try {
      rows.push(...(await definitionRows(alone)));
    } finally {
      await alone.close();
    }
  }
  handOver('temporal', rows);
});
