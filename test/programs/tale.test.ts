import { describe, expect, it } from 'vitest';
import { toCanonical } from '../../src/compat/dialects.ts';
import { TALE_DEFINITIONS } from '../compat/dialects/load.ts';
import { sentConfigs, simulateProgram, traceLines, withMockedHost } from './run.ts';

const walks = TALE_DEFINITIONS.flatMap(({ name, document, walks }) =>
  walks.map((walk, index) => ({ name: `${name}, walk ${index + 1}`, document, ...walk })),
);

describe('a definition of tale', () => {
  it.each(walks)('$name', ({ name, document, effects, sent: wanted, trace }) => {
    const { definition } = toCanonical(document);
    const file = {
      about: name,
      name,
      definition: withMockedHost(definition!),
      input: {},
      effects,
      signals: [],
      timeouts: true,
      expect: { status: 'completed' as const },
    };
    const [plain, carried] = [simulateProgram(file), simulateProgram(file, { serializesAlways: true })];
    expect({ status: plain.status, error: plain.error }).toEqual({ status: 'completed', error: undefined });
    expect(traceLines(plain)).toEqual(trace);
    expect(sentConfigs(plain)).toMatchObject(wanted);
    expect(carried.commands).toEqual(plain.commands);
  });
});
