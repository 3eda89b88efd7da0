import { describe, expect, it } from 'vitest';
import { runCode } from '../../src/steps/kinds/run-code.ts';
import { begin, parse } from './kind-driver.ts';

// Braces of its own.
const code = 'export default (input) => ({ text: {{ n: 1 }} })';
const roots = { input: { n: 5, ms: 200 } };
const planned = (config: { [member: string]: string | number | null }) =>
  runCode.plan(config, parse, { stepType: 'run_code', config });

describe('run_code', () => {
  it('runs the activity runCode with its code as it is written, and its input evaluated', () => {
    expect(
      begin(runCode, { code, input: { n: '{{ input.n }}' }, timeoutMs: '{{ input.ms }}' }, { roots }),
    ).toMatchObject({
      run: [
        {
          activity: 'runCode',
          light: true,
          repeatable: true,
          config: {
            value: { language: 'javascript', code, input: { n: 5 }, timeoutMs: 200, memoryMb: 64 },
            secrets: [],
          },
        },
      ],
    });
  });

  it('is light in JavaScript and TypeScript only', () => {
    const light = (language: string) =>
      begin(runCode, { language, code: 'x' }, { roots }) as { run?: { light?: true }[] };
    expect(['javascript', 'typescript', 'python'].map((language) => light(language).run?.[0]?.light === true)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it.each([
    [{ language: 'ruby', code }, '/language'],
    [{ code: '  ' }, '/code'],
    [{}, '/code'],
  ])('is refused where %j', (config, at) => {
    expect(() => planned(config as { [member: string]: string })).toThrow(expect.objectContaining({ at }));
  });

  it.each([{ timeoutMs: 600_001 }, { timeoutMs: 0 }, { memoryMb: 513 }, { memoryMb: 'much' }])(
    'has limits: %j',
    (more) => {
      expect(() => begin(runCode, { code, ...more }, { roots })).toThrow(
        expect.objectContaining({ code: 'invalid_config' }),
      );
    },
  );

  it('lets no secret in', () => {
    expect(() => planned({ code, input: '{{ secrets.KEY }}' })).toThrow(
      expect.objectContaining({ code: 'secret_not_allowed' }),
    );
  });
});
