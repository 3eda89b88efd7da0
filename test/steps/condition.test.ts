import { describe, expect, it } from 'vitest';
import { condition } from '../../src/steps/kinds/condition.ts';
import { begin, parse } from './kind-driver.ts';

const roots = { input: { amount: 5, kind: 'a', tags: ['x'], text: '7' }, outputs: { deploy: true } };
const port = (config: Parameters<typeof begin>[1]) => {
  const outcome = begin(condition, config, { roots });
  return outcome.do === 'end' ? outcome.port : outcome.do;
};

describe('condition', () => {
  it.each([
    [{ expression: 'input.amount > 3' }, 'true'],
    [{ expression: 'input.missing' }, 'false'],
    [{ variable: 'outputs.deploy', equals: true }, 'true'],
    [{ variable: 'outputs.deploy', equals: 'true' }, 'false'],
    [{ variable: 'input.tags', equals: ['x'] }, 'true'],
    [{ variable: 'input.missing', equals: null }, 'true'],
    [{ ref: 'outputs.deploy' }, 'true'],
    [{ ref: 'input.kind', eq: 'a' }, 'true'],
    [{ ref: 'input.kind', eq: '{{ input.kind }}' }, 'true'],
    [{ ref: 'input.kind', neq: 'a' }, 'false'],
    [{ ref: 'input.amount', gt: 4 }, 'true'],
    [{ ref: 'input.amount', gt: 5 }, 'false'],
    [{ ref: 'input.amount', lt: 6 }, 'true'],
    [{ ref: 'input.kind', gt: 1 }, 'false'],
    [{ ref: 'input.missing', lt: 1 }, 'false'],
  ])('%j goes to %s', (config, expected) => {
    expect(port(config)).toBe(expected);
  });

  it('gives its decision as data', () => {
    expect(begin(condition, { expression: 'input.amount' }, { roots })).toEqual({
      do: 'end',
      port: 'true',
      data: true,
    });
  });

  it('takes the first branch that holds, else the default', () => {
    const branches = [
      { port: 'big', expression: 'input.amount > 100' },
      { port: 'mid', ref: 'input.amount', gt: 4 },
      { port: 'also', expression: 'true' },
    ];
    expect(begin(condition, { branches }, { roots })).toEqual({ do: 'end', port: 'mid', data: 'mid' });
    expect(port({ branches: branches.slice(0, 1) })).toBe('default');
    expect(port({ branches: branches.slice(0, 1), default: 'small' })).toBe('small');
  });

  it('has the ports of its branches, or true and false', () => {
    const ports = (config: object) => condition.ports({ stepType: 'condition', config: config as never });
    expect(ports({ expression: 'a' })).toEqual({ normal: 'false', names: ['true', 'false'] });
    expect(ports({ branches: [{ port: 'a', expression: 'x' }], default: 'b' })).toEqual({
      normal: 'b',
      names: ['a', 'b'],
    });
  });

  it.each([
    [{}, ''],
    [{ expression: 'a', ref: 'b' }, ''],
    [{ expression: 4 }, ''],
    [{ ref: 'a', eq: 1, gt: 1 }, '/gt'],
    [{ branches: {} }, '/branches'],
    [{ branches: [4] }, '/branches/0'],
    [{ branches: [{ port: 'error', expression: 'a' }] }, '/branches/0/port'],
  ])('%j is refused when it is compiled', (config, at) => {
    expect(() => condition.plan(config as never, parse, { stepType: 'condition' })).toThrow(
      expect.objectContaining({ name: 'ConfigError', at }),
    );
  });
});
