import { describe, expect, it } from 'vitest';
import { DIALECT_NUMBERS, type DialectNumber } from '../../src/compat/dialect-names.ts';
import { traitsOf } from '../../src/compat/traits.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { definitionLimits } from '../../src/engine/state/definition-limits.ts';
import { Player } from '../engine/player.ts';
import { programOf } from '../support/program.ts';

const canonical: Definition = {
  name: 'By hand',
  slug: 'by-hand',
  config: { concurrency: { limit: 1, key: '{{ id ?: "none" }}' } },
  steps: { a: { stepType: 'mapping', config: { output: '{{ id ?: "none" }}' } } },
};

/** The run's output, its limiters, and how many visits it may have. */
function walked(definition: Definition): unknown {
  const program = programOf(definition);
  const player = new Player(program, { genesis: { input: { id: 'given' } } });
  player.feed({ type: 'started' });
  const limiters = definitionLimits({ organizationId: 'default', definition, input: { id: 'given' } });
  return { ending: player.state.ending, limiters: limiters.map(({ gate }) => gate), maxSteps: program.maxSteps };
}

describe('the traits of a dialect', () => {
  // A run that is started by hand is not checked against the schema, and a stored history may hold any of these.
  it.each(['tale', 'mesh', '003', '005', '', 'constructor', '__proto__', 'toString'])(
    'are none where there is no dialect %j: the run walks as a canonical one',
    (dialect) => {
      expect(traitsOf(dialect as DialectNumber)).toEqual({});
      expect(walked({ ...canonical, dialect: dialect as DialectNumber })).toEqual(walked(canonical));
    },
  );

  it('are those of each dialect', () => {
    expect(Object.fromEntries(DIALECT_NUMBERS.map((number) => [number, traitsOf(number)]))).toMatchObject({
      '000': { readsInputKeys: true },
      '002': { maxSteps: 50 },
    });
    expect(walked({ ...canonical, dialect: '000' })).toMatchObject({ ending: { output: 'given' } });
    expect(walked({ ...canonical, dialect: '002' })).toMatchObject({ ending: { output: 'none' }, maxSteps: 50 });
  });
});
