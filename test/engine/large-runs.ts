/** Runs that are large in one way or another: walked with the core alone, an event a millisecond. */

import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import { advance, genesis } from '../../src/engine/advance.ts';
import type { Command } from '../../src/engine/state/protocol.ts';
import { serialize } from '../../src/engine/state/serialize.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import type { Json } from '../../src/json/json.ts';
import type { Program } from '../../src/steps/program-types.ts';
import { programOf } from '../support/program.ts';
import { type EventWithoutTime, GENESIS } from './player.ts';

export interface Run {
  readonly program: Program;
  readonly state: RunState;
  readonly feed: (event: EventWithoutTime) => Command[];
}

export function start(
  steps: Definition['steps'],
  input: Json = {},
  config: Definition['config'] = {},
): Run & { first: Command[] } {
  const program = programOf({ name: 'Large', slug: 'large', config, steps });
  const state = genesis(program, { ...GENESIS, input });
  let at = 1_000;
  const feed = (event: EventWithoutTime) => advance(program, state, { ...event, at: at++ });
  return { program, state, feed, first: feed({ type: 'started' }) };
}

export function message(name: string, payload: Json, id?: string): EventWithoutTime {
  return { type: 'message', name, payload, ...(id === undefined ? {} : { id }) };
}

export const completed = (id: string): EventWithoutTime => ({ type: 'completed', id, result: { data: 1 } });
export const carriedBytes = ({ program, state }: Run): number => JSON.stringify(serialize(program, state)).length;
export const http = (config = {}): StepDefinition => ({
  stepType: 'http',
  config: { url: 'https://example.test', ...config },
});
export const text = (bytes: number): string => 'x'.repeat(bytes);
export const listening: Definition['steps'] = { hear: { stepType: 'listen', config: { name: 'other' } } };
