// `npm run bench`: prints one table; every row is a ratio within this run, or says its unit.
// Not a test: nothing fails here for being slow (deploy/bench.mjs starts it, SIGNALBOX_BENCH_* come from there).
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { testServer } from '../support/temporal.ts';
import { coreRows } from './core.ts';
import { EFFECT_ROWS, effectRows } from './effect-rows.ts';
import { memoryRow, triggerRow } from './process-rows.ts';
import { passes, type Row, table } from './rows.ts';
import { atOnceActivities, startSides, temporalRows } from './temporal-rows.ts';

it('measures', { timeout: 1_800_000 }, async () => {
  const wanted = process.env['SIGNALBOX_BENCH_ONLY'];
  const only = (name: string): boolean => wanted === undefined || name.includes(wanted);
  const rows: Row[] = [];
  if (only('core') || only('compile') || only('state')) rows.push(...coreRows());
  const server = await testServer();
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
    logger: new DefaultLogger('WARN'),
  });
  const sides = await startSides(server, code, atOnceActivities);
  try {
    rows.push(...(await temporalRows(sides, only)));
    if (only('trigger')) rows.push(await triggerRow(server));
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
  const out = process.env['SIGNALBOX_BENCH_OUT'];
  if (out !== undefined)
    writeFileSync(
      out,
      JSON.stringify({ table: table(rows), rows: rows.map((row) => ({ ...row, pass: passes(row) })) }),
    );
  expect(rows).not.toHaveLength(0);
});
