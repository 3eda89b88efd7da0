import { describe, expect, it } from 'vitest';
import { check as checkDocument } from '../../src/check/check.ts';
import { canonicalTimezone, timezoneProblem } from '../../src/definition/document/time-zones.ts';
import { ZONE_NAMES } from '../../src/definition/document/zone-names.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';

const withZone = (timezone: string): Json => ({
  name: 'Nightly',
  slug: 'nightly',
  triggers: [{ name: 'at-eight', type: 'schedule', config: { cron: '0 8 * * *', timezone } }],
  steps: { end: { stepType: 'finish' } },
});

describe('the step of a pattern', () => {
  const warningsOf = (cron: string) => {
    const document = {
      ...(withZone('UTC') as JsonObject),
      triggers: [{ name: 'a', type: 'schedule', config: { cron } }],
    };
    const { valid, warnings } = checkDocument(document);
    expect(valid, cron).toBe(true);
    return warnings.filter(({ code }) => code === 'overlong_step').map(({ pointer }) => pointer);
  };

  it.each(['*/61 * * * *', '*/90 * * * *', '5,10/70 * * * *', '0 */25 * * *', '0 0 */32 * *', '0 0 1 */13 *'])(
    'of %s is longer than its field: a warning',
    (cron) => {
      expect(warningsOf(cron)).toEqual(['/triggers/0/config/cron']);
    },
  );

  it.each(['*/60 * * * *', '0 */24 * * *', '*/15 9-17 * * 1-5', '@hourly', '0 0 */31 * *', '0 0 * * */7'])(
    'of %s fits',
    (cron) => {
      expect(warningsOf(cron)).toEqual([]);
    },
  );
});

describe('the time zone of a schedule', () => {
  it('is a name or a link of tzdata, each of which this host reads', () => {
    expect(ZONE_NAMES.length).toBeGreaterThan(590);
    expect(ZONE_NAMES.filter((name) => timezoneProblem(name) !== undefined)).toEqual([]);
    for (const name of ['UTC', 'Europe/Berlin', 'America/New_York', 'US/Pacific', 'EST', 'Asia/Calcutta', 'GMT+0'])
      expect(canonicalTimezone(name), name).toBe(name);
  });

  it.each([
    ['utc', 'UTC'],
    ['gmt', 'GMT'],
    ['est', 'EST'],
    ['EUROPE/BERLIN', 'Europe/Berlin'],
    ['america/port-au-prince', 'America/Port-au-Prince'],
    ['us/pacific', 'US/Pacific'],
    ['Europe/Berlin', 'Europe/Berlin'],
  ])('%s is kept as %s', (written, kept) => {
    const { valid, definition, hash } = checkDocument(withZone(written));
    expect(valid).toBe(true);
    expect(definition?.triggers?.[0]?.config?.['timezone']).toBe(kept);
    expect(hash).toBe(checkDocument(withZone(kept)).hash);
  });

  it.each([
    ['PST', /abbreviation can mean several zones/],
    ['IST', /abbreviation/],
    ['BST', /abbreviation/],
    ['CST', /abbreviation/],
    ['SystemV/EST5', /Europe\/Berlin/],
    ['US/Pacific-New', /Did you mean "US\/Pacific"\?/],
    ['Europe/Berln', /Did you mean "Europe\/Berlin"\?/],
    ['berlin', /Did you mean "Europe\/Berlin"\?/],
    ['New York', /Did you mean "America\/New_York"\?/],
    ['+02:00', /Europe\/Berlin/],
    ['Factory', /Europe\/Berlin/],
    ['', /Europe\/Berlin/],
  ])('%s is refused with what was expected', (written, words) => {
    const { valid, problems } = checkDocument(withZone(written));
    expect(valid).toBe(false);
    expect(problems).toEqual([
      {
        pointer: '/triggers/0/config/timezone',
        code: 'invalid_value',
        message: expect.stringMatching(/^timezone: expected the name of a time zone|expected the name of a time zone/i),
      },
    ]);
    expect(problems[0]?.message).toMatch(words);
  });
});
