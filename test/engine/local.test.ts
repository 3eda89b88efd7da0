import { describe, expect, it } from 'vitest';
import type { StepDefinition } from '../../src/definition/document/types.ts';
import { programOf } from '../support/program.ts';
import { Player } from './player.ts';

function player(step: StepDefinition): Player {
  const program = programOf({ name: 'Local', slug: 'local', steps: { work: { ...step, local: true } } });
  const played = new Player(program);
  played.feed({ type: 'started' });
  return played;
}

const issued = ({ commands }: Player) =>
  commands.flatMap((command) => (command.type === 'run' ? [[command.id, command.local]] : []));

describe('local: true', () => {
  it('makes the one effect of a step a local activity', () => {
    expect(issued(player({ stepType: 'http', config: { url: 'https://example.test' } }))).toEqual([['work', true]]);
  });

  it('makes none of an agent’s model and tool calls one: each is recorded by itself', () => {
    const agent = player({ stepType: 'agent', config: { userPrompt: 'Go.', actions: ['http.request'] } });
    const target = { kind: 'action', type: 'http.request' };
    const call = { id: 'a', name: 'http_request', input: { url: 'https://example.test' }, target };
    const data = { answer: null, text: '', messages: [], calls: [call] };
    agent.feed({ type: 'completed', id: 'work/turn[0]/model', result: { data } });
    expect(issued(agent)).toEqual([
      ['work/turn[0]/model', false],
      ['work/turn[0]/tool[0]', false],
    ]);
  });
});
