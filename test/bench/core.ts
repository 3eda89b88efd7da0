/** The core alone: no Temporal. */

import type { Definition } from '../../src/definition/types.ts';
import { advance, genesis } from '../../src/engine/advance.ts';
import { carry } from '../../src/engine/carry.ts';
import type { RunState } from '../../src/engine/state.ts';
import { weigh } from '../../src/engine/weigh.ts';
import { compile } from '../../src/steps/program.ts';
import type { Program } from '../../src/steps/program-types.ts';
import type { Json } from '../../src/template/types.ts';
import { mixed, pure } from './definitions.ts';
import { median, type Row } from './rows.ts';

const PURE_STEPS = 200_000;
const TICKS = 100_000;
/** Compilations before it counts: a worker lives long, and V8 takes about a hundred to know this code. */
const WARM_UP = 100;

function program(definition: Definition): Program {
  const compiled = compile(definition);
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
  return compiled.program;
}

/** As the workflow does it: no trace is kept, and a long walk goes on when it has given way. */
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

export function coreRows(): Row[] {
  const speeds: number[] = [];
  for (let round = 0; round < 6; round++) {
    const begun = process.cpuUsage();
    const state = walk(pure(PURE_STEPS));
    if (round > 0) speeds.push(state.visits / (cpuMs(begun) / 1_000));
  }
  const compiling: number[] = [];
  const large = mixed(1_000);
  for (let round = 0; round < WARM_UP + 20; round++) {
    const begun = process.cpuUsage();
    program(large);
    if (round >= WARM_UP) compiling.push(cpuMs(begun));
  }
  return [
    { name: 'core: pure steps a second of CPU', value: median(speeds), unit: '/s', aim: { least: 200_000 } },
    { name: 'compile of 1,000 steps, warm', value: median(compiling), unit: ' ms of CPU', aim: { most: 20 } },
    {
      name: `state after ${TICKS.toLocaleString('en')} ticks / after 1,000`,
      value: stateAfter(TICKS) / stateAfter(1_000),
      unit: '',
      aim: { most: 1.1 },
    },
  ];
}

/** Of this process, since then: what a neighbour on the machine does not change. */
function cpuMs(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}

/** Bytes that continue-as-new carries after so many ticks. */
function stateAfter(ticks: number): number {
  const definition = pure(ticks * 2);
  return weigh(carry(program(definition), walk(definition)) as Json);
}
