import { describe, expect, it } from 'vitest';
import { toCanonical } from '../../src/definition/dialects/dialects.ts';
import { DEFINITIONS_000 } from '../definition/dialects/load.ts';
import { mocked, sent, simulateProgram, writtenTrace } from './run.ts';

const walks = DEFINITIONS_000.flatMap(({ name, document, walks }) =>
  walks.map((walk, index) => ({ name: `${name}, walk ${index + 1}`, document, ...walk })),
);

describe('a definition of tale', () => {
  it.each(walks)('$name', ({ name, document, effects, sent: wanted, trace }) => {
    const { definition } = toCanonical(document);
    const file = {
      about: name,
      name,
      definition: mocked(definition!),
      input: {},
      effects,
      signals: [],
      timeouts: true,
      expect: { status: 'completed' as const },
    };
    const [plain, carried] = [simulateProgram(file), simulateProgram(file, { carryAlways: true })];
    expect({ status: plain.status, error: plain.error }).toEqual({ status: 'completed', error: undefined });
    expect(writtenTrace(plain)).toEqual(trace);
    expect(sent(plain)).toMatchObject(wanted);
    expect(carried.commands).toEqual(plain.commands);
  });
});
