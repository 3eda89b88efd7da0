import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import { programOf } from '../support/program.ts';
import { Player } from './player.ts';
import { perform, runToEnd, scripts, unawaitedEvent } from './random-actions.ts';
import { definitions } from './random-definitions.ts';

/** On a machine that does other things too. */
function started(definition: Definition, carries = false): Player {
  const player = new Player(programOf(definition), { carries });
  player.feed({ type: 'started' });
  return player;
}

it('whatever happens, and when: ids are unique, nothing is left open, and every run comes to its end (E3, E9)', () => {
  fc.assert(
    fc.property(definitions, scripts, (definition, script) => {
      const player = started(definition);
      for (const one of script) perform(player, one);
      runToEnd(player);
      expect(player.ended).toBe(true);
    }),
    { numRuns: 150 },
  );
});

it('continue-as-new after every event changes nothing of what follows (E2)', () => {
  fc.assert(
    fc.property(definitions, scripts, (definition, script) => {
      const [plain, carried] = [started(definition), started(definition, true)];
      for (const one of script) {
        perform(plain, one);
        perform(carried, one);
      }
      for (const player of [plain, carried]) runToEnd(player);
      expect(carried.commands).toEqual(plain.commands);
      expect(carried.trace).toEqual(plain.trace);
    }),
    { numRuns: 75 },
  );
});

it('events for what is not open change nothing (E4)', () => {
  fc.assert(
    fc.property(definitions, scripts, fc.nat(99), (definition, script, n) => {
      const player = started(definition);
      for (const one of script) {
        perform(player, one);
        const before = player.stateWithoutClock();
        expect(player.feed(unawaitedEvent(player, n))).toEqual([]);
        expect(player.stateWithoutClock()).toBe(before);
      }
    }),
    { numRuns: 50 },
  );
});

it('a run that has ended takes nothing more', () => {
  fc.assert(
    fc.property(definitions, scripts, (definition, script) => {
      const player = started(definition);
      runToEnd(player);
      const before = player.stateWithoutClock();
      for (const one of script) perform(player, one);
      expect(player.stateWithoutClock()).toBe(before);
      expect(player.admit({ type: 'decide', decision: 'approved', via: 'api' })).toMatchObject({ code: 'closed' });
    }),
    { numRuns: 50 },
  );
});

it('what admit takes, advance takes, and what it refuses changes nothing (E5)', () => {
  fc.assert(
    fc.property(definitions, scripts, (definition, script) => {
      const player = started(definition);
      for (const one of script) {
        for (const type of ['decide', 'submit', 'skipTimer', 'cancelStep', 'retryStep'] as const) {
          const asked =
            type === 'decide'
              ? { type, decision: 'approved' as const, via: 'api', by: 'ann', key: `${type} ${player.trace.length}` }
              : type === 'submit'
                ? { type, data: 1, via: 'api' }
                : { type };
          const answer = player.admit(asked);
          const before = player.stateWithoutClock();
          if ('accepted' in answer) {
            if (one.do === type) player.feed(asked);
            if (one.do === 'decide' && type === 'decide') expect(player.admit(asked)).toEqual(answer);
          } else {
            expect(answer.message).toMatch(/^.{15,}[.]$/s);
            expect(player.feed(asked)).toEqual([]);
            expect(player.stateWithoutClock()).toBe(before);
          }
        }
        perform(player, one);
      }
    }),
    { numRuns: 50 },
  );
});
