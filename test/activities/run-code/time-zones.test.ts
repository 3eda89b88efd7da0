/** Time zones and languages in scripts: as Node has them, and the same on every machine. */

import { describe, expect, it } from 'vitest';
import { runScript } from '../../../activities/run-code/run-code.ts';
import type { Json } from '../../../src/json/json.ts';

const run = async (code: string, language: 'javascript' | 'python' = 'javascript'): Promise<Json> => {
  const signal = new AbortController().signal;
  return (await runScript({ language, code, input: null, timeoutMs: 20_000, memoryMb: 64, signal })).data;
};
const value = (expression: string) => run(`export default () => (${expression})`);

/** Summer and winter in Berlin. */
const [SUMMER, WINTER] = ['2026-07-01T22:30:00Z', '2026-01-01T22:30:00Z'];

describe('a script in JavaScript', () => {
  it.each([
    `new Date('${SUMMER}').toLocaleString('de-DE', { timeZone: 'Europe/Berlin' })`,
    `new Date('${WINTER}').toLocaleString('de-DE', { timeZone: 'Europe/Berlin' })`,
    `new Date('${SUMMER}').toLocaleDateString('en-GB', { timeZone: 'Asia/Tokyo', dateStyle: 'full' })`,
    `new Date('${SUMMER}').toLocaleTimeString(['fr-FR'], { timeZone: 'America/New_York', timeStyle: 'short' })`,
    `new Intl.DateTimeFormat('de', { timeZone: 'Europe/Berlin', hour: '2-digit', weekday: 'long' ` +
      `}).formatToParts(new Date('${SUMMER}'))`,
    `[new Date('${SUMMER}')].map(Intl.DateTimeFormat('sv', { timeZone: 'Europe/Berlin' }).format)`,
    `new Intl.DateTimeFormat('de', { timeZone: 'Europe/Berlin' }).resolvedOptions().timeZone`,
    "new Date(NaN).toLocaleString('de-DE')",
    "(1234567.891).toLocaleString('de-DE', { style: 'currency', currency: 'EUR' })",
    "[NaN, -0, 1e21].map((n) => new Intl.NumberFormat('de').format(n))",
    "(12345678901234567890n).toLocaleString('de')",
    "['z', 'ä', 'a'].sort((a, b) => a.localeCompare(b, 'de'))",
    "['z', 'ä', 'a'].sort(new Intl.Collator('sv').compare)",
    "new Intl.PluralRules('pl').select(22)",
    "new Intl.RelativeTimeFormat('de', { numeric: 'auto' }).format(-1, 'day')",
    "new Intl.ListFormat('de').format(['a', 'b', 'c'])",
    "new Intl.DisplayNames('de', { type: 'region' }).of('CH')",
  ])('gives what Node gives: %s', async (expression) => {
    // The same text, evaluated by this Node.
    const here = (await import(`data:text/javascript,export default ${encodeURIComponent(expression)}`)).default;
    expect(await value(expression)).toEqual(JSON.parse(JSON.stringify(here)));
  });

  it('has UTC and en-US where it names neither', async () => {
    expect(await value(`new Date('${SUMMER}').toLocaleString()`)).toBe(
      new Date(SUMMER).toLocaleString('en-US', { timeZone: 'UTC' }),
    );
    expect(await value(`[new Date('${SUMMER}').getHours(), new Date(0).getTimezoneOffset()]`)).toEqual([22, 0]);
    expect(await value('(1234.5).toLocaleString()')).toBe('1,234.5');
  });

  it('gets an error for unknown zones, languages and options', async () => {
    const thrown = (expression: string) =>
      run(
        `export default () => { try { return ${expression} } catch (error) { return error.name + ': ' + ` +
          'error.message } }',
      );
    expect(await thrown("new Date().toLocaleString('de', { timeZone: 'Europe/Berlim' })")).toMatch(
      /^RangeError: Invalid time zone specified: Europe\/Berlim/,
    );
    expect(await thrown("new Intl.NumberFormat('not a language')")).toMatch(/^RangeError: Incorrect locale/);
    expect(await thrown("new Intl.NumberFormat('de', { style: 'currency' })")).toMatch(/^TypeError: /);
    expect(await thrown("new Intl.ListFormat('de').format(['a'.repeat(200000)])")).toMatch(/^RangeError: .*100000/);
    expect(await thrown("new Date(0).toLocaleString('de', { toJSON: () => 1 })")).toMatch(/^1\.1\.1970/);
  });

  it('cannot reach the host by it, whatever it replaces', async () => {
    const code = `export default () => {
      Array.prototype.map = () => { throw new Error('mine') };
      Object.prototype.timeZone = 'Asia/Tokyo';
      JSON.parse = () => ({ ok: true, value: 'mine' });
      try { return Number(0).toLocaleString('de') } catch (error) { return error.message }
    }`;
    expect(['0', 'mine']).toContain(await run(code));
    expect(await value('[typeof process, typeof require, typeof globalThis.localize]')).toEqual(
      Array(3).fill('undefined'),
    );
    expect(
      await value("Intl.constructor === Object && typeof Intl.DateTimeFormat.constructor('return typeof process')()"),
    ).toBe('string');
  });
});

it('a script in Python gets advice for a zone that has no data', async () => {
  const code = 'from zoneinfo import ZoneInfo\ndef main(input):\n    return str(ZoneInfo("Europe/Berlin"))';
  await expect(run(code, 'python')).rejects.toMatchObject({
    code: 'script_error',
    message: expect.stringMatching(
      /^ZoneInfoNotFoundError: This Python has no time zone data\. .*timedelta.*toLocaleString/s,
    ),
  });
  const fixed =
    'from datetime import *\ndef main(input):\n    return datetime(2026, 7, 1, ' +
    'tzinfo=timezone(timedelta(hours=2))).isoformat()';
  expect(await run(fixed, 'python')).toBe('2026-07-01T00:00:00+02:00');
});
