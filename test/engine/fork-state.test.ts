// What a fork takes over of the state of the run that it came from (src/engine/resume/fork.ts).
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { forkState } from '../../src/engine/resume/fork.ts';
import { programOf } from '../support/program.ts';
import { Player } from './player.ts';

const source = readFileSync(new URL('../../src/engine/state/state.ts', import.meta.url), 'utf8');
const [, members = ''] = /^export interface RunState \{$(.*?)^\}$/ms.exec(source) ?? [];
const optional = [...members.matchAll(/^ {2}(?:readonly )?(\w+)\?:/gm)].map(([, member = '']) => member);

it('leaves out what belongs to that run: its end, its costs, its decisions', () => {
  const program = programOf({
    name: 'Forked',
    slug: 'forked',
    steps: { ask: { stepType: 'approval', config: { message: 'Well?' } } },
  });
  const { state } = new Player(program);
  const full = { ...state, ...Object.fromEntries(optional.map((member) => [member, []])) };
  const start = { executionId: 'run.default.forked.1', at: 2_000, limiters: [] };
  const fork = forkState(program, full, [{ do: 'visit', frame: '', slug: 'ask' }], {}, start);
  expect(optional.filter((member) => Object.hasOwn(fork, member))).toEqual(['messageCount', 'correctedBytes']);
});
