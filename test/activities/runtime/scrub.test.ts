/** What scrubbing must hold whatever the secrets are: nothing of them leaves the worker, and nothing ends it. */
import { randomBytes } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ActivityError } from '../../../activities/runtime/failure.ts';
import { growingScrub } from '../../../activities/runtime/growing-scrub.ts';
import { needlesOf, randomBases, runToCompletion, searchOf } from '../../../activities/runtime/scrub-search.ts';
import { type ActivityHandler, wrapActivity } from '../../../activities/runtime/wrap-activity.ts';
import { MAX_SECRET_BYTES } from '../../../src/client/organization/secrets.ts';
import type { ActivityOutput } from '../../../src/contract/run/activity.ts';
import type { SecretString } from '../../../src/template/types.ts';
import { canaryIn, MARK } from '../../e2e/activities/canary-search.ts';
import { countCharactersRead } from '../../support/work-counters.ts';
import { failure, http, inputOf, serve, type TestServer } from '../server.ts';
import { scrubOfTexts } from './scrub-support.ts';

let server: TestServer;

beforeAll(async () => {
  server = await serve((seen, response) => {
    response.statusCode = seen.url.startsWith('/fail') ? 500 : 200;
    response.end(JSON.stringify([seen.headers, seen.url, seen.body]));
  });
});
afterAll(() => server.close());

const reads = (values: { readonly [name: string]: string }) => ({
  secrets: { read: async (_org: string, name: string) => values[name]! },
});
/** Of the length that a secret may have. */
const LONG: readonly [string, string][] = [
  ['letters and digits', MARK + randomBytes(MAX_SECRET_BYTES).toString('hex')],
  ['base64', MARK + randomBytes(MAX_SECRET_BYTES).toString('base64')],
  ['signs', MARK + '%&"<>\'\\/ü '.repeat(MAX_SECRET_BYTES / 11)],
  ['words', `${MARK} ${Array.from({ length: 8_000 }, (_, i) => `word${i}`).join(' ')}`],
  ['lines of a key', [MARK, ...Array.from({ length: 1_200 }, () => randomBytes(48).toString('base64'))].join('\n')],
].map(([name, value]) => [name!, Buffer.from(value!).subarray(0, MAX_SECRET_BYTES).toString().replace(/�/g, '')]);

describe('a secret of 64 KB', () => {
  it.each(LONG)('of %s stays in the worker, and so does another one beside it', async (_name, long) => {
    const target = `${MARK}x${randomBytes(20).toString('hex')}`;
    const secrets: SecretString[] = [
      { path: ['headers', 'x-target'], parts: [{ secret: 'TARGET' }] },
      { path: ['body', 'long'], parts: [{ secret: 'LONG' }] },
    ];
    const call = { secrets, parts: reads({ TARGET: target, LONG: long }) };
    const config = { method: 'POST', headers: { 'x-target': '' }, body: { long: '' } };
    const answer = JSON.stringify(await http({ ...call, config: { ...config, url: `${server.url}/`, as: 'text' } }));
    expect(server.seen.at(-1)).toMatchObject({ body: JSON.stringify({ long }), headers: { 'x-target': target } });
    expect(answer).toContain('[secret]');
    expect(canaryIn(answer)).toBeUndefined();
    const failed = await failure({ ...call, config: { ...config, url: `${server.url}/fail` } });
    expect(failed.code).toBe('http_status');
    expect(canaryIn(failed.whole)).toBeUndefined();
  });

  it.each(LONG)('of %s is found in base64 and in hexadecimal digits', (_name, long) => {
    const scrub = scrubOfTexts([long]);
    for (const encoding of ['base64', 'base64url', 'hex'] as const)
      expect(scrub.text(`a ${Buffer.from(`b ${long} c`).toString(encoding)} d`)).toBe('a [secret] d');
  });

  it('that almost matches at every position of a text costs no more than another', () => {
    const text = 'a'.repeat(1_900_000);
    const scrub = scrubOfTexts([`${'a'.repeat(MAX_SECRET_BYTES - 1)}b`]);
    const read = countCharactersRead(() => expect(scrub.text(text)).toBe(text));
    expect(read).toBeLessThan(20 * text.length);
  });
});

describe('many secrets', () => {
  const many = (count: number, value: (i: number) => string) => {
    const names = Array.from({ length: count }, (_, i) => `S${i}`);
    const secrets: SecretString[] = names.map((name) => ({ path: ['body', name], parts: [{ secret: name }] }));
    const body = Object.fromEntries(names.map((name) => [name, '']));
    const values = Object.fromEntries(names.map((name, i) => [name, value(i)]));
    return { secrets, parts: reads(values), config: { url: `${server.url}/`, method: 'POST', body } };
  };

  it('are all taken out', async () => {
    const call = many(50, (i) => `${MARK}${i} ${'&="'.repeat(i)}${randomBytes(20).toString('base64')}`);
    expect(canaryIn(JSON.stringify(await http(call)))).toBeUndefined();
  });

  it('are refused before anything is sent where there are too many, or too long ones', async () => {
    const before = server.seen.length;
    expect(await failure(many(51, (i) => `${MARK}${i}`))).toMatchObject({
      code: 'too_many_secrets',
      nonRetryable: true,
      details: { details: { secrets: 51, limit: 50 } },
    });
    const failed = await failure(many(5, (i) => `${i}${LONG[0]![1].slice(1)}`));
    expect(failed).toMatchObject({ code: 'too_many_secrets', details: { details: { limitBytes: 262_144 } } });
    expect(canaryIn(failed.whole)).toBeUndefined();
    expect(server.seen).toHaveLength(before);
  });
});

describe('what goes wrong while scrubbing', () => {
  const breaks = () => {
    throw new Error(`Invalid regular expression: /${MARK}/: too large`);
  };

  it('is reported by a fixed text', async () => {
    const { scrub, infallible, hide } = growingScrub('default', { scrubOf: breaks });
    await hide(`${MARK}-1`);
    for (const act of [() => scrub.text('a'), () => scrub.json({ a: 1 }), () => scrub.beginning('a')])
      expect(act).toThrow(
        expect.objectContaining({ code: 'scrub_failed', message: expect.not.stringContaining(MARK) }),
      );
    expect(infallible.text('a')).toMatch(/^\[withheld/);
    await expect(scrub.jsonInSlices({ a: 1 })).rejects.toMatchObject({ code: 'scrub_failed' });
    expect(await infallible.jsonInSlices({ a: 'a' })).toMatch(/^\[withheld/);
  });

  it('fails the effect before anything is sent, and is tried again', async () => {
    const { hideSecrets } = growingScrub('default', { tables: { of: async () => breaks() } });
    await expect(hideSecrets(`${MARK}-1`)).rejects.toMatchObject({
      code: 'scrub_failed',
      retryable: true,
      message: expect.not.stringContaining(MARK),
    });
  });

  /** What becomes of an effect whose progress is asked some times before it ends. */
  async function beaten(progress: () => never | { deep: unknown }): Promise<{ beats: unknown[]; data: unknown }> {
    const activity = new MockActivityEnvironment({ heartbeatTimeoutMs: 30 }, { logger: new DefaultLogger('ERROR') });
    const beats: unknown[] = [];
    let beaten = (): void => undefined;
    activity.on('heartbeat', (detail: unknown) => {
      beats.push(detail);
      beaten();
    });
    const waits: ActivityHandler = async (_config, context) => {
      await context.secret('K', '');
      context.progress(progress as () => never);
      await new Promise<void>((resolve) => {
        const until = beats.length + 3;
        beaten = () => beats.length >= until && resolve();
      });
      return { data: 'done' };
    };
    const { data } = (await activity.run(
      wrapActivity(waits, reads({ K: `${MARK}-1` })),
      inputOf({}),
    )) as ActivityOutput;
    return { beats, data };
  }

  it('ends neither a heartbeat nor the worker', async () => {
    let deep: unknown = `${MARK}-1`;
    for (let i = 0; i < 50_000; i++) deep = [deep];
    const ended: unknown[] = [];
    const note = (error: unknown): void => void ended.push(error);
    process.on('uncaughtException', note);
    for (const progress of [breaks, () => ({ deep })]) {
      const { beats, data } = await beaten(progress);
      expect(data).toBe('done');
      expect(beats.length).toBeGreaterThan(0);
      expect(beats.every((beat) => beat === undefined)).toBe(true);
    }
    expect((await beaten(() => ({ deep: [`${MARK}-1`] }))).beats).toContainEqual({ deep: ['[secret]'] });
    process.off('uncaughtException', note);
    expect(ended).toEqual([]);
  });

  it('leaves a failure typed', async () => {
    const fails: ActivityHandler = async (_config, context) => {
      const key = await context.secret('K', '');
      throw new ActivityError('refused', `No ${key}`, { details: { key } });
    };
    const failed = await new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
      .run(wrapActivity(fails, reads({ K: LONG[0]![1] })), inputOf({}))
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ApplicationFailure);
    expect(failed).toMatchObject({
      type: 'refused',
      message: 'No [secret]',
      details: [{ details: { key: '[secret]' } }],
    });
  });
});

describe('the search', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'ü'), minLength: 4, maxLength: 12 });
  const long = fc.tuple(word, fc.integer({ min: 8, max: 30 })).map(([unit, times]) => unit.repeat(times));

  it('finds what comparing at every position finds, the longest first', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(word, long), { minLength: 1, maxLength: 6 }), fc.array(word), (needles, words) => {
        const text = [...words, ...needles.slice(1), ...words].join('a');
        const sorted = [...needles].sort((a, b) => b.length - a.length);
        let expected = '';
        for (let at = 0; at < text.length; ) {
          const found = sorted.find((needle) => text.startsWith(needle, at));
          expected += found === undefined ? text[at] : '*';
          at += found?.length ?? 1;
        }
        const bases = randomBases();
        // In tables of their own they are found as in one.
        for (const tables of [[needlesOf(needles, bases)], needles.map((needle) => needlesOf([needle], bases))]) {
          const search = searchOf(tables, bases);
          expect(runToCompletion(search.replace(text, '*'))).toBe(expected);
          expect(runToCompletion(search.has(text))).toBe(expected !== text);
        }
      }),
    );
  });
});
