// The core alone: no Temporal, and a process of its own, whose memory holds nothing else to be collected.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { it } from 'vitest';
import { compiledRoot } from '../../src/cli/start/project-root.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import type { Json } from '../../src/json/json.ts';
import type { Program } from '../../src/steps/program-types.ts';
import { historyFromJSON } from '../support/sdk.ts';
import { mixed, pure } from './definitions.ts';
import { handOver, median, only, type Row } from './rows.ts';

// What is shipped is measured, as Node loads it, and not what the test runner makes of the sources.
const compiled = <Module>(path: string): Promise<Module> => import(join(compiledRoot(), 'src', path));
const { advance, genesis } = await compiled<typeof import('../../src/engine/advance.ts')>('engine/advance.js');
const { serialize } = await compiled<typeof import('../../src/engine/state/serialize.ts')>('engine/state/serialize.js');
const { jsonBytes } = await compiled<typeof import('../../src/json/bytes.ts')>('json/bytes.js');
const { Fold } = await compiled<typeof import('../../src/history/fold.ts')>('history/fold.js');
const { decodeHistoryEvent } = await compiled<typeof import('../../src/client/history/event-decoder.ts')>(
  'client/history/event-decoder.js',
);
const { compile } = await compiled<typeof import('../../src/steps/compile/program.ts')>('steps/compile/program.js');

const PURE_STEPS = 200_000;
const TICKS = 100_000;
const NAMES = {
  speed: 'core: pure steps a second of CPU',
  compiling: 'compile of 1,000 steps, warm',
  fold: 'fold of recorded histories, events a second of CPU',
  growth: `state after ${TICKS.toLocaleString('en')} ticks / after 1,000`,
};
/** Compilations before it counts: a worker lives long, and V8 takes about a hundred to know this code. */
const WARM_UP = 100;

function program(definition: Definition): Program {
  const made = compile(definition);
  if ('problems' in made) throw new Error(JSON.stringify(made.problems));
  return made.program;
}

/** As the workflow does it: no trace is kept, and a long walk continues after each yield. */
function walk(definition: Definition): RunState {
  const ready = program(definition);
  const state = genesis(ready, {
    executionId: 'run',
    organizationId: 'default',
    input: {},
    presets: {},
    trigger: { type: 'manual' },
    depth: 0,
    startedAt: 0,
  });
  let commands = advance(ready, state, { type: 'started', at: 0 });
  for (let at = 1; commands.some((command) => command.type === 'yield'); at++)
    commands = advance(ready, state, { type: 'continue', at });
  if (state.ending?.status !== 'completed')
    throw new Error(`The walk did not complete: ${JSON.stringify(state.ending)}`);
  return state;
}

function speed(): Row {
  const speeds: number[] = [];
  for (let round = 0; round < 6; round++) {
    const begun = process.cpuUsage();
    const state = walk(pure(PURE_STEPS));
    if (round > 0) speeds.push(state.visits / (cpuMs(begun) / 1_000));
  }
  return { name: NAMES.speed, value: median(speeds), unit: '/s', aim: { least: 200_000 } };
}

function compiling(): Row {
  const taken: number[] = [];
  const large = mixed(1_000);
  for (let round = 0; round < WARM_UP + 20; round++) {
    const begun = process.cpuUsage();
    program(large);
    if (round >= WARM_UP) taken.push(cpuMs(begun));
  }
  return { name: NAMES.compiling, value: median(taken), unit: ' ms of CPU', aim: { most: 20 } };
}

/** Walks with thousands of steps, in segments and without. */
const FOLDED = ['0.2.0/long-walk.json', '0.3.0/segments-grown.json', '0.4.0/segments-grown.json'];

async function folding(): Promise<Row> {
  const converter = {
    payloadConverter: defaultPayloadConverter,
    failureConverter: defaultFailureConverter,
    payloadCodecs: [],
  };
  const histories = await Promise.all(
    FOLDED.map((file) => {
      const text = readFileSync(new URL(`../histories/${file}`, import.meta.url), 'utf8');
      const events = historyFromJSON(JSON.parse(text)).events ?? [];
      return Promise.all(events.map((event) => decodeHistoryEvent(converter, event)));
    }),
  );
  const events = histories.reduce((sum, { length }) => sum + length, 0);
  const speeds: number[] = [];
  for (let round = 0; round < 25; round++) {
    const begun = process.cpuUsage();
    for (const history of histories) {
      const fold = new Fold('run.default.recorded.1');
      for (const event of history) fold.push(event);
      if (fold.finish().state?.ending?.status !== 'completed') throw new Error('A recorded history does not fold.');
    }
    if (round >= 5) speeds.push(events / (cpuMs(begun) / 1_000));
  }
  return { name: NAMES.fold, value: median(speeds), unit: '/s', aim: { least: 1_000 } };
}

function growth(): Row {
  return { name: NAMES.growth, value: stateAfter(TICKS) / stateAfter(1_000), unit: '', aim: { most: 1.1 } };
}

/** Of this process, since then: what a neighbour on the machine does not change. */
function cpuMs(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}

/** Bytes that continue-as-new carries after so many ticks. */
function stateAfter(ticks: number): number {
  const definition = pure(ticks * 2);
  return jsonBytes(serialize(program(definition), walk(definition)) as Json);
}

it('measures the core', { timeout: 600_000 }, async () => {
  const rows: Row[] = [];
  if (only(NAMES.speed)) rows.push(speed());
  if (only(NAMES.compiling)) rows.push(compiling());
  if (only(NAMES.fold)) rows.push(await folding());
  if (only(NAMES.growth)) rows.push(growth());
  handOver('core', rows);
});
