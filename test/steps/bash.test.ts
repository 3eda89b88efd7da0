import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/json.ts';
import { bash } from '../../src/steps/kinds/bash.ts';
import { begin, parse } from './kind-driver.ts';

const roots = { input: { name: 'Ann', ms: 500 } };

describe('bash', () => {
  it('runs the activity bash with its evaluated config, and names where secrets belong', () => {
    const env = { NAME: '{{ input.name }}', KEY: 'Bearer {{ secrets.KEY }}' };
    const config = { command: 'echo {{ input.name }}', cwd: '/srv', timeoutMs: '{{ input.ms }}', env };
    expect(begin(bash, config, { roots })).toMatchObject({
      run: [
        {
          activity: 'bash',
          timeoutMs: 15_500,
          config: {
            value: { command: 'echo Ann', cwd: '/srv', timeoutMs: 500, env: { NAME: 'Ann' } },
            secrets: [{ path: ['env', 'KEY'], parts: ['Bearer ', { secret: 'KEY' }] }],
          },
        },
      ],
    });
  });

  it('may be tried again where the step says how', () => {
    const step = { stepType: 'bash', config: { command: 'x' }, retry: { maxAttempts: 2 } };
    const repeatable = (given: typeof step | { stepType: string; config: JsonObject }) => {
      const outcome = bash
        .plan(given.config, parse, given)
        .begin({ render: () => 1, renderSecret: () => ({ value: 'x', secrets: [] }) } as never);
      const [spec] = (outcome as unknown as { run: { config: { value: JsonObject }; repeatable?: true }[] }).run;
      // The trace shows the config as the author knows it.
      expect(Object.keys(spec!.config.value)).not.toContain('repeatable');
      return spec!.repeatable;
    };
    expect([repeatable(step), repeatable({ stepType: 'bash', config: { command: 'x' } })]).toEqual([true, undefined]);
  });

  it('lets secrets stand in its environment only', () => {
    for (const config of [{ command: 'echo {{ secrets.KEY }}' }, { command: 'x', cwd: '/{{ secrets.KEY }}' }])
      expect(() => bash.plan(config, parse, { stepType: 'bash', config })).toThrow(
        expect.objectContaining({ code: 'secret_not_allowed' }),
      );
  });

  it.each([{}, { command: ' ' }, { command: 5 }])('wants a command: %j', (config) => {
    expect(() => bash.plan(config as JsonObject, parse, { stepType: 'bash', config })).toThrow(
      expect.objectContaining({ at: '/command' }),
    );
  });

  it('takes ten minutes at most', () => {
    expect(() => begin(bash, { command: 'x', timeoutMs: 600_001 }, { roots })).toThrow(
      expect.objectContaining({ code: 'invalid_config' }),
    );
  });
});
