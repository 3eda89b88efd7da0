/** How often a run near its size limit is measured, which takes units of its activation. */

import { expect, it } from 'vitest';
import { MAX_STATE_BYTES } from '../../src/definition/document/limits.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { advance, genesis } from '../../src/engine/advance.ts';
import type { Command } from '../../src/engine/state/protocol.ts';
import { serialize } from '../../src/engine/state/serialize.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import type { Json } from '../../src/json/json.ts';
import { programOf } from '../support/program.ts';
import { http, text } from './large-runs.ts';
import { GENESIS } from './player.ts';

const ITEMS = 400;
/** Configs of 3 KB that wait for their effects, and an input of 600 KB: together they are over the limit. */
const ABREAST: Definition['steps'] = {
  each: { stepType: 'forEach', config: { items: '{{ input }}', concurrency: ITEMS }, nextSteps: { item: 'call' } },
  call: http({ body: { twice: '{{ item.pad + item.pad }}' } }),
};

/** Units of all activations, and what the run came to. */
function played(isMarked: boolean) {
  const definition = { name: 'Abreast', slug: 'abreast', steps: ABREAST };
  const program = programOf(definition, { isMarked: (mark) => isMarked || mark !== 'fits2' });
  const input: Json = Array.from({ length: ITEMS }, (_, id) => ({ id, pad: `${id} ${text(1_500)}` }));
  const state = genesis(program, { ...GENESIS, input });
  const open: Command[] = [];
  let at = 1_000;
  let units = 0;
  const feed = (event: object): void => {
    open.push(...advance(program, state, { ...event, at: at++ } as Parameters<typeof advance>[2]));
    units += state.activation.units;
  };
  feed({ type: 'started' });
  const carried = jsonBytes(serialize(program, state));
  for (let next = open.shift(); next !== undefined && state.ending === undefined; next = open.shift()) {
    if (next.type === 'yield') feed({ type: 'continue' });
    if (next.type !== 'run') continue;
    feed({ type: 'completed', id: next.id, result: { data: next.id } });
  }
  return { units, carried, ending: state.ending };
}

it('is not measured at each step where only data that waits is over the limit', () => {
  const [marked, before] = [played(true), played(false)];
  expect(marked.carried, 'configs and input are over the limit together').toBeGreaterThan(MAX_STATE_BYTES);
  expect(marked.ending).toMatchObject({ status: 'completed' });
  expect(before.ending).toEqual(marked.ending);
  expect(before.units).toBeGreaterThan(1_000_000);
  expect(marked.units).toBeLessThan(before.units / 5);
});
