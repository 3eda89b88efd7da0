import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import { advance, genesis } from '../../src/engine/advance.ts';
import { compile } from '../../src/steps/compile/program.ts';
import { programOf } from '../support/program.ts';
import { GENESIS } from './player.ts';
import { definitions } from './random-definitions.ts';

const problemsOf = (document: unknown) => {
  const compiled = compile(document as Definition);
  return 'problems' in compiled ? compiled.problems.map(({ pointer, code }) => `${pointer} ${code}`) : [];
};

it('refuses what has not the shape of a definition, with the place', () => {
  expect(problemsOf(null)).toEqual([' wrong_type']);
  expect(problemsOf({ steps: [] })).toEqual(['/steps wrong_type']);
  expect(
    problemsOf({
      state: { a: 'text', b: { type: 'number' }, c: 1 },
      config: { maxSteps: 'many', onFailure: 'panic' },
      steps: {
        a: null,
        'b/c': { stepType: 5, nextSteps: { success: 1 } },
        d: { stepType: 'mapping', when: { eq: 1 }, saveToState: 4, rollback: {} },
      },
    }),
  ).toEqual([
    '/config/maxSteps wrong_type',
    '/config/onFailure wrong_type',
    '/state/a wrong_type',
    '/state/c wrong_type',
    '/steps/a wrong_type',
    '/steps/b~1c/stepType wrong_type',
    '/steps/b~1c/nextSteps wrong_type',
    '/steps/d/when wrong_type',
    '/steps/d/saveToState wrong_type',
    '/steps/d/rollback/stepType wrong_type',
  ]);
});

it('takes the short forms of a definition as they are written', () => {
  const program = programOf({
    state: { total: 'number' },
    config: { timeoutMs: 60_000 },
    steps: { a: { stepType: 'mapping', config: { output: 5 }, saveToState: 'total' } },
  } as unknown as Definition);
  const state = genesis(program, GENESIS);
  const commands = advance(program, state, { type: 'started', at: GENESIS.startedAt });
  expect(state.state).toEqual({ total: 5 });
  expect(commands.map(({ type }) => type)).toEqual(['complete', 'visible']);
  expect(program).toMatchObject({ timeoutMs: 60_000, definition: { slug: 'inline' } });
});

/** Any JSON in the place of any member of a definition that was sound. */
const spoilt = fc
  .record({ definition: definitions, place: fc.nat(10_000), instead: fc.jsonValue({ maxDepth: 2 }) })
  .map(({ definition, place, instead }) => {
    const copy = JSON.parse(JSON.stringify(definition)) as unknown;
    const places: [{ [key: string]: unknown }, string][] = [];
    const collect = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const key of Object.keys(value)) {
        places.push([value as { [key: string]: unknown }, key]);
        collect((value as { [key: string]: unknown })[key]);
      }
    };
    collect(copy);
    const [object, key] = places[place % places.length]!;
    object[key] = instead;
    return copy;
  });

it('never throws, and what it takes can be walked', () => {
  fc.assert(
    fc.property(fc.oneof(spoilt, fc.jsonValue()), (document) => {
      const compiled = compile(document as Definition);
      if ('problems' in compiled) {
        for (const { message, pointer } of compiled.problems) {
          expect(message.length).toBeGreaterThan(10);
          expect(pointer).toMatch(/^(\/.*)?$/s);
        }
        return;
      }
      const state = genesis(compiled.program, GENESIS);
      advance(compiled.program, state, { type: 'started', at: GENESIS.startedAt });
      if (state.ending?.status === 'failed') expect(state.ending.error.code).not.toBe('internal_error');
    }),
    { numRuns: 500 },
  );
});
