/**
 * Secrets that are made to be dear: the parts of a secret are bounded, its tables are built once and in a thread, and
 * meanwhile the activities of others run.
 */
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scrubTextsOf } from '../../../activities/runtime/scrub-shapes.ts';
import { ScrubTables } from '../../../activities/runtime/scrub-tables.ts';
import { wrapActivity } from '../../../activities/runtime/wrap-activity.ts';
import type { ActivityOutput } from '../../../src/contract/run/activity.ts';
import { inputOf } from '../server.ts';
import { scrubOfTexts } from './scrub-support.ts';

const SIGNS = `"<'&/\\é #`;

/** Each word of it decodes as base64, to a text with a sign of every escape. */
function wordsOf(seed: number, characters = 63_000): string {
  let value = '';
  for (let i = 0; value.length < characters; i++)
    value += `${Buffer.from(`${SIGNS}${seed}.${i}`).toString('base64').replace(/=+$/, '')}!`;
  return value;
}
/** Lines of a key, each of another length, which begin alike. */
const linesOf = (seed: number): string =>
  Array.from({ length: 320 }, (_, i) => `${'a'.repeat(24 + i)}${seed}b`).join('\n');
const url = (seed: number): string => `https://user:pass${seed}word@host/${`a"b<c>'/`.repeat(7_000)}?q=${seed}`;

/** Written without the code under test. */
const WRITTEN: Readonly<Record<string, (text: string) => string>> = {
  itself: (text) => text,
  JSON: (text) => JSON.stringify(text).slice(1, -1),
  'a URL': encodeURIComponent,
  'a form': (text) => new URLSearchParams({ s: text }).toString().slice(2),
  'JSON in JSON': (text) => JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1),
  'a URL in a URL': (text) => encodeURIComponent(encodeURIComponent(text)),
  'JSON in a form': (text) => encodeURIComponent(JSON.stringify(text).slice(1, -1)),
  HTML: (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;'),
  base64: (text) => Buffer.from(`.${text}`).toString('base64'),
  base64url: (text) => Buffer.from(`..${text}`).toString('base64url'),
  'hexadecimal digits': (text) => Buffer.from(text).toString('hex'),
};

/** Whether a run of letters of the secret is in the text: its end, which a cut table would forget first. */
const holds = (text: string, secret: string): boolean => text.includes(secret.slice(-40).replace(/[^a-zA-Z0-9]/g, ''));

describe('what is scrubbed of a secret whose parts are too many', () => {
  it.each([
    ['words in base64', wordsOf(1)],
    ['lines', linesOf(1)],
    ['a URL', url(1)],
  ])('is the whole value in every shape: %s', (_name, secret) => {
    const scrub = scrubOfTexts([secret]);
    for (const [shape, write] of Object.entries(WRITTEN))
      expect(scrub.text(`before ${write(secret)} after`), shape).toBe('before [secret] after');
  });

  it('is each part up to the limits, the first ones first', () => {
    const secret = wordsOf(2);
    const scrub = scrubOfTexts([secret]);
    for (let i = 0; i < 250; i++)
      for (const [shape, write] of Object.entries(WRITTEN))
        expect(scrub.text(` ${write(`${SIGNS}2.${i}`)} `), `${shape} of ${i}`).toContain('[secret]');
    expect(scrubTextsOf(secret).shapes.size).toBeLessThan(41_000);
  });

  it('is every line of a key of 64 KB', () => {
    const lines = Array.from({ length: 980 }, (_, i) =>
      Buffer.from(`line ${i} of a key/`.padEnd(48, '?')).toString('base64'),
    );
    const scrub = scrubOfTexts([lines.join('\n')]);
    for (const line of lines) expect(scrub.text(encodeURIComponent(`> ${line}`))).toBe('%3E%20[secret]');
  });

  it('is both of two secrets, of which one begins with the other', () => {
    const word = fc.stringMatching(/^[a-z"<%é]{4,12}$/);
    fc.assert(
      fc.property(word, word, fc.constantFrom(...Object.values(WRITTEN)), (one, more, write) => {
        const both = [one, one + more];
        for (const secrets of [both, [...both].reverse()])
          expect(scrubOfTexts(secrets).text(`- ${write(one + more)} -`)).toBe('- [secret] -');
      }),
    );
  });
});

describe('tables', () => {
  it('are built once for a secret, also by several activities at the same time', async () => {
    const tables = new ScrubTables();
    const [secret, short] = [wordsOf(3), 'a short secret'];
    const [[one, other], [same]] = await Promise.all([tables.of([secret, short], 'acme'), tables.of([secret], 'bolt')]);
    expect(same).toBe(one);
    expect(await tables.of([short, secret], 'acme')).toEqual([other, one]);
    expect((await tables.of([secret], 'acme'))[0]).toBe(one);
  });

  it('are dropped where they are too many, those unused the longest first', async () => {
    const tables = new ScrubTables(200_000);
    const table = async (name: string) => (await tables.of([`secret ${name}`], 'acme'))[0];
    const first = await table('first');
    for (let i = 0; i < 30; i++) {
      await table(String(i));
      expect(await table('first')).toBe(first);
    }
    const early = await table('0');
    expect(await table('0')).toBe(early);
    for (let i = 1; i < 30; i++) await table(String(i));
    expect(await table('first')).not.toBe(first);
  });

  it('of one organization wait for no more than one of another', async () => {
    const tables = new ScrubTables();
    const ended: string[] = [];
    const build = async (secret: string, organization: string) => {
      await tables.of([secret], organization);
      ended.push(organization);
    };
    const crowd = Array.from({ length: 6 }, (_, i) => build(wordsOf(10 + i, 20_000), 'acme'));
    await Promise.all([...crowd, build(wordsOf(20, 20_000), 'bolt')]);
    expect(ended.indexOf('bolt')).toBeLessThan(3);
  });
});

describe('an activity of another organization', () => {
  const reads = (values: readonly string[]) => ({
    secrets: { read: async (_org: string, name: string) => values[Number(name.slice(1))]! },
  });
  const run = (secrets: readonly string[], data: string, organizationId: string): Promise<ActivityOutput> => {
    const handler = wrapActivity(async (_config, context) => {
      for (const [i] of secrets.entries()) await context.secret(`S${i}`, '');
      return { data };
    }, reads(secrets));
    const input = inputOf({});
    const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
    return environment.run(handler, { ...input, execution: { ...input.execution, organizationId } });
  };

  it.each([
    ['tables are built', [1, 2, 3, 4].map((seed) => wordsOf(100 + seed)), ''],
    ['a large result is compared with many lines', [1, 2].map(linesOf), 'a'.repeat(1_000_000)],
  ])('goes on while %s', async (_what, secrets, data) => {
    let isOver = false;
    const dear = run(secrets, data, 'acme').finally(() => {
      isOver = true;
    });
    let others = 0;
    // Each takes an iteration of the event loop and more.
    while (!isOver && others < 25) {
      expect((await run(['bolts secret'], `<bolts secret> ${others}`, 'bolt')).data).toBe(`<[secret]> ${others}`);
      await new Promise((resolve) => setImmediate(resolve));
      others++;
    }
    expect(others).toBe(25);
    const { data: answer } = await dear;
    expect(holds(answer as string, secrets[0]!)).toBe(false);
  });
});
