import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { durationMs, instantMs, MAX_DURATION_MS, planDuration } from '../../src/steps/config/duration.ts';
import { ConfigError, StepFailure } from '../../src/steps/kind.ts';
import { parse } from './kind-driver.ts';

describe('a duration', () => {
  it.each([
    [1500, 1500],
    [0.2, 1],
    ['300ms', 300],
    ['2d', 172_800_000],
    ['1.5h', 5_400_000],
    ['90', 90],
    ['PT5M', 300_000],
    ['P1DT12H', 129_600_000],
    ['PT0.5S', 500],
    ['P2W', 1_209_600_000],
    ['P1M', 30 * 86_400_000],
    ['P1Y', 365 * 86_400_000],
  ])('%j is %d ms', (value, ms) => {
    expect(durationMs(value)).toBe(ms);
  });

  it.each([
    [-1],
    ['-2d'],
    ['-PT1S'],
    ['soon'],
    [''],
    ['P'],
    ['PT'],
    [null],
    [true],
    [[]],
    [{}],
    ['200y'],
    [MAX_DURATION_MS + 1],
    [Number.NaN],
  ])('%j is refused as invalid_duration', (value) => {
    expect(() => durationMs(value)).toThrow(expect.objectContaining({ code: 'invalid_duration' }));
  });

  it('is a whole number within bounds, or a typed refusal, whatever is given', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        try {
          const ms = durationMs(value as never);
          expect(Number.isInteger(ms) && ms >= 0 && ms <= MAX_DURATION_MS).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(StepFailure);
        }
      }),
    );
  });

  it('that is written out is refused when the definition is compiled, at its place', () => {
    expect(() => planDuration('soon', '/timeout', parse)).toThrow(ConfigError);
    expect(() => planDuration('soon', '/timeout', parse)).toThrow(expect.objectContaining({ at: '/timeout' }));
    expect(() => planDuration('{{ input.wait }}', '/timeout', parse)).not.toThrow();
  });
});

describe('a point in time', () => {
  it.each([
    ['2026-01-31T09:00:00Z', Date.UTC(2026, 0, 31, 9)],
    ['2026-01-31T09:00:00', Date.UTC(2026, 0, 31, 9)],
    ['2026-01-31T09:00:00+02:00', Date.UTC(2026, 0, 31, 7)],
    ['2026-01-31', Date.UTC(2026, 0, 31)],
    [1_769_850_000_000, 1_769_850_000_000],
  ])('%j is read', (value, ms) => {
    expect(instantMs(value)).toBe(ms);
  });

  it.each([['tomorrow'], ['2026-02-30'], [null], [{}]])('%j is refused as invalid_time', (value) => {
    expect(() => instantMs(value)).toThrow(expect.objectContaining({ code: 'invalid_time' }));
  });
});
