/** A change of commands that a build id marks: runs of workers without it replay as they were (TEMPORAL.md §11). */

import { describe, expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import { MAX_PATH_LENGTH } from '../../src/engine/state/limits.ts';
import { programOf } from '../support/program.ts';
import { Player } from './player.ts';

const SAVES: Definition = {
  name: 'Saves',
  slug: 'saves',
  state: { first: { type: 'number' }, total: { type: 'number' } },
  config: { variables: { page: 1 } },
  steps: {
    call: {
      stepType: 'mapping',
      config: { output: { n: 7, text: 'lots' } },
      saveToState: { first: 'output.data.n', total: 'output.data.text' },
      nextSteps: { error: 'turn' },
    },
    turn: {
      stepType: 'set',
      config: {
        values: [
          { name: 'page', value: 2 },
          { name: 'next', value: "{{ 5|addDuration('soon') }}" },
        ],
      },
      nextSteps: { error: 'mend' },
    },
    mend: { stepType: 'mapping', config: { output: ['{{ state.first }}', '{{ page }}'] } },
  },
};

const outer = `outer_${'x'.repeat(58)}`;
const middle = `middle_${'w'.repeat(57)}`;
const inner = `inner_${'y'.repeat(58)}`;
const call = `call_${'z'.repeat(59)}`;
/** The paths of `call` are shortened, and do not name the tick of the inner loop. */
const KEEPS: Definition = {
  name: 'Keeps',
  slug: 'keeps',
  config: { onFailure: 'rollback' },
  steps: {
    [outer]: { stepType: 'forEach', config: { items: [1] }, nextSteps: { item: middle, done: 'boom' } },
    [middle]: { stepType: 'loop', config: { items: [1] }, nextSteps: { loop: inner } },
    [inner]: { stepType: 'loop', config: { items: [1, 2, 3], historyKeep: 1 }, nextSteps: { loop: call } },
    [call]: {
      stepType: 'http',
      config: { url: 'https://x.test' },
      rollback: { stepType: 'http', config: { url: 'https://undo.test/{{ loop.item }}' } },
    },
    boom: { stepType: 'fail', config: { code: 'broken' } },
  },
};

function played(definition: Definition, isMarked: boolean): Player {
  const player = new Player(programOf(definition, { isMarked: (mark) => isMarked || mark !== 'modifiers2' }), {
    carries: true,
  });
  player.feed({ type: 'started' });
  for (let next = player.open.keys().next(); next.done !== true; next = player.open.keys().next())
    player.feed({ type: 'completed', id: next.value, result: { data: 1 } });
  return player;
}

const undone = ({ commands }: Player) =>
  commands.flatMap((command) =>
    command.type === 'run' && JSON.stringify(command.config).includes('undo') ? [command.config] : [],
  );

describe('with the mark modifiers2', () => {
  it('a step that fails has written nothing', () => {
    expect(played(SAVES, true).state.ending).toMatchObject({ status: 'completed', output: [null, 1] });
    expect(played(SAVES, false).state.ending).toMatchObject({ status: 'completed', output: [7, 2] });
  });

  it('historyKeep gives up rollbacks whose paths are shortened', () => {
    const url = (n: number) => expect.objectContaining({ url: `https://undo.test/${n}` });
    const marked = played(KEEPS, true);
    const paths = marked.trace.flatMap(({ t, path }) => (t === 'begin' && !path.endsWith('boom') ? [path] : []));
    expect(Math.max(...paths.map(({ length }) => length))).toBe(MAX_PATH_LENGTH);
    expect(undone(marked)).toEqual([url(3)]);
    expect(undone(played(KEEPS, false))).toEqual([url(3), url(2), url(1)]);
  });
});
