/** What may happen to a run, at random: answers in any order, people, messages, operators, and events for nobody. */
import fc from 'fast-check';
import type { Json } from '../../src/json/json.ts';
import type { Player } from './player.ts';

export type Act =
  | { readonly do: 'answer'; readonly n: number; readonly how: 'ok' | 'no' | 'again' }
  | { readonly do: 'event'; readonly n: number }
  | { readonly do: 'fire' | 'message' | 'pause' | 'resume' | 'cancel' }
  | {
      readonly do: 'decide' | 'submit' | 'cancelStep' | 'retryStep' | 'skipTimer';
      readonly n: number;
      readonly named: boolean;
    }
  | { readonly do: 'stray'; readonly n: number };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      n: fc.nat(5),
      how: fc.constantFrom('ok' as const, 'ok' as const, 'no' as const, 'again' as const),
    }),
  },
  { weight: 4, arbitrary: fc.constantFrom<Act>({ do: 'fire' }, { do: 'message' }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('event' as const), n: fc.nat(5) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('decide' as const, 'submit' as const),
      n: fc.nat(3),
      named: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('cancelStep' as const, 'retryStep' as const, 'skipTimer' as const),
      n: fc.nat(3),
      named: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('stray' as const), n: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.constantFrom<Act>({ do: 'pause' }, { do: 'resume' }) },
);

/** Lists of actions; some end with the run being cancelled. */
export const scripts: fc.Arbitrary<Act[]> = fc
  .tuple(fc.array(act, { maxLength: 60, size: 'max' }), fc.integer({ min: 0, max: 9 }))
  .map(([acts, cancels]) => (cancels === 0 ? [...acts, { do: 'cancel' }] : acts));

/**
 * Performs one act if the run has a target for it. Acts name targets by number, so that equal runs get equal acts.
 * `resultOf` gives an answer's result.
 */
export function perform(player: Player, one: Act, resultOf: (n: number) => Json = (n) => n): void {
  player.at += 100;
  switch (one.do) {
    case 'answer': {
      const effects = [...player.open.values()].filter(({ type }) => type === 'run');
      const command = effects[one.n % Math.max(1, effects.length)];
      if (command === undefined) return;
      if (one.how === 'ok') player.feed({ type: 'completed', id: command.id, result: { data: resultOf(one.n) } });
      else
        player.feed({
          type: 'failed',
          id: command.id,
          error: { code: 'http_status', message: 'It answered 500.', retryable: one.how === 'again' },
        });
      return;
    }
    case 'fire':
      player.fire();
      return;
    case 'message':
      player.feed({ type: 'message', name: 'news', payload: player.commands.length });
      return;
    case 'event':
      player.feed({
        type: 'message',
        name: one.n % 2 === 0 ? 'news' : 'gossip',
        payload: player.commands.length,
        event: one.n < 2 ? {} : { key: `k${one.n % 3}` },
      });
      return;
    case 'decide':
      player.feed({
        type: 'decide',
        decision: one.n === 0 ? 'rejected' : 'approved',
        via: 'temporal',
        ...target(player, one),
      });
      return;
    case 'submit':
      player.feed({ type: 'submit', data: one.n, via: 'temporal', ...target(player, one) });
      return;
    case 'cancelStep':
    case 'retryStep':
    case 'skipTimer':
      player.feed({ type: one.do, ...target(player, one) });
      return;
    case 'pause':
    case 'resume':
    case 'cancel':
      player.feed({ type: one.do });
      return;
    case 'stray':
      player.feed(unawaitedEvent(player, one.n));
  }
}

function target(player: Player, one: { readonly n: number; readonly named: boolean }): { step?: string } {
  const paths = Object.values(player.state.frames).flatMap(({ visit }) => (visit === undefined ? [] : [visit.path]));
  const path = paths[one.n % Math.max(1, paths.length)];
  return one.named && path !== undefined ? { step: path } : {};
}

/** Events that no open command waits for. */
export function unawaitedEvent(player: Player, n: number): Parameters<Player['feed']>[0] {
  const old = player.commands.filter((command) => 'id' in command && !player.open.has(command.id));
  const gone = old[n % Math.max(1, old.length)];
  const id = gone !== undefined && 'id' in gone ? gone.id : 'nowhere';
  if (n % 3 === 0) return { type: 'completed', id, result: { data: 'late' } };
  if (n % 3 === 1) return { type: 'fired', id };
  return { type: 'failed', id, error: { code: 'late', message: 'Too late.', retryable: true } };
}

/** Lets everything go well until the run has ended. */
export function runToEnd(player: Player): void {
  for (let i = 0; i < 2_000 && !player.ended; i++) {
    if (player.state.paused) player.feed({ type: 'resume' });
    else if (player.state.yielding) player.feed({ type: 'continue' });
    else if ([...player.open.values()].some(({ type }) => type === 'run'))
      perform(player, { do: 'answer', n: 0, how: 'ok' });
    else {
      const waiting = Object.values(player.state.frames).find(({ visit }) => visit?.waiting !== undefined)?.visit;
      if (waiting?.waiting?.kind === 'approval')
        player.feed({ type: 'decide', decision: 'approved', via: 'temporal', step: waiting.path });
      else if (waiting?.waiting?.kind === 'input')
        player.feed({ type: 'submit', data: 1, via: 'temporal', step: waiting.path });
      else if (waiting?.waiting?.kind === 'message') perform(player, { do: 'message' });
      else player.fire();
    }
  }
}
