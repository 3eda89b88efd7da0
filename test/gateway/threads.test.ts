// No request holds the others up: what may take long is done in a thread, within a deadline; this thread continues.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { check } from '../../src/check/check.ts';
import { SMALL_DOCUMENT_BYTES } from '../../src/gateway/input/offload.ts';
import { OffloadPool } from '../../src/gateway/threads/pool.ts';
import { readDocument } from '../../src/gateway/threads/tasks.ts';
import type { Json } from '../../src/json/json.ts';
import { countCalls } from '../support/work-counters.ts';
import { type GatewayWithoutTemporal, gatewayWithoutTemporal } from './gateway-support.ts';

/** Threads that nobody gives up for the time they take. */
const patient = (deadlines = {}): OffloadPool => {
  const kinds = ['checkBytes', 'check', 'evaluate', 'walk', 'diff', 'graph', 'draft'];
  return new OffloadPool(
    undefined,
    { ...Object.fromEntries(kinds.map((kind) => [kind, 600_000])), ...deadlines },
    () => 0,
  );
};

let gateway: GatewayWithoutTemporal;
beforeAll(async () => {
  gateway = await gatewayWithoutTemporal({}, undefined, undefined, undefined, { offload: patient() });
});
afterAll(() => gateway.close());

type Sent = { status: number; body: { [member: string]: Json }; calls: number };

/** Sends a request, and tells how much this thread, which is the gateway's too, did meanwhile. */
async function send(path: string, body: string, type = 'application/json'): Promise<Sent> {
  let [status, text] = [0, ''];
  const calls = await countCalls(async () => {
    const answer = await fetch(`${gateway.url}${path}`, { method: 'POST', headers: { 'content-type': type }, body });
    [status, text] = [answer.status, await answer.text()];
  });
  return { status, body: JSON.parse(text), calls };
}

const EVALUATE = '/api/expressions/evaluate';
const VALIDATE = '/api/workflows/validate';
/** A thread makes tens of millions in a second. */
const MAX_CALLS = 100_000;
const MAX_CALLS_OF_SMALL = 500_000;

describe('a request', () => {
  beforeAll(async () => {
    // What is loaded at first is not what is measured.
    await send(EVALUATE, JSON.stringify({ expression: '1|string' }));
    await send(EVALUATE, JSON.stringify({ expression: 'a|length', context: { a: 'x'.repeat(100_000) } }));
    await send(VALIDATE, JSON.stringify({ name: 'x', steps: {} }));
  });

  it('that evaluates for long stalls nobody', async () => {
    const list = Array.from({ length: 4_000 }, (_, i) => i);
    const nested = 'list[.x != 1 && list[.x != 1]|length > 5]|length';
    const slow = await send(EVALUATE, JSON.stringify({ expression: nested, context: { list } }));
    expect(slow).toMatchObject({ status: 422, body: { code: 'expression_limit' } });
    expect(slow.calls).toBeLessThan(MAX_CALLS);
    const text = 'x'.repeat(900_000);
    const compared = Array.from({ length: 14 }, () => '(a != b)').join(' || ');
    const context = { a: text, b: text, list: Array.from({ length: 1_000 }, () => ({ x: false })) };
    const long = await send(EVALUATE, JSON.stringify({ expression: `list[${compared} || .x]`, context }));
    expect(long).toMatchObject({ status: 422, body: { code: 'expression_limit' } });
    expect(long.calls).toBeLessThan(MAX_CALLS);
  });

  it('that evaluates more than is done at once is answered as any other', async () => {
    const list = Array.from({ length: 3_000 }, (_, n) => ({ n }));
    const expression = 'list[.n >= 0 && .n < 9 && .n != 3 && .n != 4 && .n != 5 && .n != 6 && .n != 7]|map("n")';
    const answer = await send(EVALUATE, JSON.stringify({ expression, context: { list } }));
    expect(answer).toMatchObject({ status: 200, body: { value: [0, 1, 2, 8] } });
    const wrong = await send(EVALUATE, JSON.stringify({ expression: 'a +', context: { a: 'x'.repeat(50_000) } }));
    expect(wrong).toMatchObject({ status: 422, body: { code: 'expression_syntax', column: 4 } });
    const condition = { expression: 'a|length', context: { a: 'x'.repeat(50_000) }, as: 'condition' };
    expect(await send(EVALUATE, JSON.stringify(condition))).toMatchObject({ status: 200, body: { value: true } });
  });

  it('that is checked for long stalls nobody', async () => {
    const steps = Array.from(
      { length: 5_000 },
      (_, i) => `  s${i}: {stepType: set, config: {values: {a: "{{ steps.s${i} }}"}}}`,
    );
    const yaml = `name: Large\nsteps:\n${steps.join('\n')}\n`;
    const answer = await send(VALIDATE, yaml, 'application/yaml');
    expect(answer).toMatchObject({ status: 200, body: { valid: false } });
    expect(answer.calls).toBeLessThan(MAX_CALLS);
    const malformed = await send(VALIDATE, `${yaml}\n  : [`, 'application/yaml');
    expect(malformed).toMatchObject({ status: 400, body: { code: 'invalid_yaml' } });
    expect(malformed.calls).toBeLessThan(MAX_CALLS);
  });

  it('that walks for long stalls nobody', async () => {
    const again = { stepType: 'set', config: { values: { a: 1 } }, nextSteps: { success: 'a' } };
    const definition = { name: 'Round', slug: 'round', start: 'a', steps: { a: again } };
    const answer = await send('/api/executions', JSON.stringify({ definition, dryRun: true }));
    expect(answer).toMatchObject({ status: 200, body: { problems: [{ code: expect.any(String) }] } });
    expect(answer.calls).toBeLessThan(MAX_CALLS);
  });

  it('of 2 MB of JSON stalls nobody, whatever is in it', async () => {
    const large = [
      `[${'{},'.repeat(650_000)}{}]`,
      `{${Array.from({ length: 150_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
    ];
    const parse = vi.spyOn(JSON, 'parse');
    for (const context of large) {
      const answer = await send(EVALUATE, `{"expression":"1","context":{"a":${context}}}`);
      expect(answer).toMatchObject({ status: 200, body: { value: 1 } });
      expect(answer.calls).toBeLessThan(MAX_CALLS);
    }
    // It is no call that counts as such, and takes long.
    expect(parse.mock.calls.filter(([text]) => text.length > 100_000)).toEqual([]);
    parse.mockRestore();
  });
});

describe('what is small enough to be done at once', () => {
  const fill = (line: (n: number) => string, head: string): string => {
    let text = head;
    for (let n = 0; ; n++) {
      const next = `${text}${line(n)}\n`;
      if (next.length > SMALL_DOCUMENT_BYTES) return text;
      text = next;
    }
  };
  it.each([
    ['steps', fill((n) => ` s${n}: {stepType: set}`, 'name: a\nsteps:\n')],
    ['a chain', fill((n) => ` s${n}: {stepType: set, nextSteps: {success: s${n + 1}}}`, 'name: a\nsteps:\n')],
    [
      'references',
      fill((n) => ` s${n}: {stepType: finish, config: {output: "{{ steps.s${n + 9}.output }}"}}`, 'name: a\nsteps:\n'),
    ],
    [
      'a dag',
      fill((n) => ` s${n}: {stepType: set, dependsOn: [s${n - 1}, s${n - 2}]}`, 'name: a\nflow: dag\nsteps:\n'),
    ],
    [
      'branches',
      fill((n) => ` s${n}: {stepType: parallel, nextSteps: {a: s${n + 1}, b: s${n + 2}}}`, 'name: a\nsteps:\n'),
    ],
    ['brackets', `name: ${'['.repeat(8_000)}`],
    ['aliases', fill((n) => `a${n + 1}: &a${n + 1} [*a${n},*a${n}]`, 'a0: &a0 [x]\n')],
    ['one expression', `name: a\nsteps: {a: {stepType: finish, config: {output: "{{ ${'1+'.repeat(7_000)}1 }}"}}}`],
    ['quotes', fill((n) => `"k${n}": "\\u0041"`, '')],
  ])('is done in time: %s', async (_what, text) => {
    const calls = await countCalls(() => {
      try {
        check(readDocument(Buffer.from(text), 'yaml'));
      } catch (error) {
        expect(error).toMatchObject({ name: 'HttpProblem' });
      }
    });
    expect(calls).toBeLessThan(MAX_CALLS_OF_SMALL);
  });
});

describe('the threads', () => {
  it('give up what passes its deadline, and serve the next', async () => {
    const pool = patient({ evaluate: 50 });
    const small = { kind: 'checkBytes', bytes: Buffer.from('name: a'), media: 'yaml', options: {} } as const;
    await pool.run('acme', small);
    const list = Array.from({ length: 100_000 }, (_, i) => ({ i }));
    const expression = Array(12).fill("list|map('i')|sort|map('x')|unique|length").join(' + ');
    const bytes = Buffer.from(JSON.stringify({ expression, context: { list } }));
    const late = pool.run('acme', { kind: 'evaluate', bytes });
    await expect(late).rejects.toMatchObject({ code: 'takes_too_long', status: 422 });
    expect(await pool.run('acme', small)).toMatchObject({ checked: { valid: false } });
    await pool.close();
  });

  it('leave one to others than the organization that sends most, and place in a full queue', async () => {
    const pool = patient();
    const list = Array.from({ length: 60_000 }, (_, i) => ({ i }));
    const bytes = Buffer.from(JSON.stringify({ expression: "list|map('i')|sort|unique|length", context: { list } }));
    const ended: string[] = [];
    const ask = (org: string, task: Buffer) =>
      pool.run(org, { kind: 'evaluate', bytes: task }).then(
        () => void ended.push(org),
        (error: { code?: string }) => void ended.push(`${org} ${error.code}`),
      );
    const all = Array.from({ length: 70 }, () => ask('acme', bytes));
    // Their turn comes though acme was there first and fills the queue, and though there are two of them.
    for (const org of ['one', 'two', 'one', 'two']) all.push(ask(org, Buffer.from('{"expression":"1"}')));
    await Promise.all(all.slice(70));
    expect(ended.filter((one) => /^(one|two)$/.test(one))).toHaveLength(4);
    expect(ended.filter((one) => one === 'acme').length).toBeLessThan(8);
    expect(ended.filter((one) => one === 'acme gateway_busy').length).toBeGreaterThanOrEqual(8);
    await pool.close();
    await Promise.all(all);
  });

  it('draw definitions', async () => {
    const pool = patient();
    const definition = JSON.stringify({ name: 'a', slug: 'a', start: 't', steps: { t: { stepType: 'trigger' } } });
    const drawn = await pool.run('acme', { kind: 'graph', definition });
    expect(drawn).toMatchObject({ graph: { start: 't', nodes: [{ id: 't' }] } });
    await pool.close();
  });

  it('compare versions', async () => {
    const pool = patient();
    const version = (v: number) => JSON.stringify({ name: 'a', steps: { s: { stepType: 'mapping', config: { v } } } });
    const of = { before: version(1), after: version(2), names: { before: 'x', after: 'y' } };
    expect(await pool.run('acme', { kind: 'diff', of })).toMatchObject({
      changes: [{ op: 'changed', pointer: '/steps/s/config/v', before: 1, after: 2 }],
      diffText: expect.stringContaining('+        "v": 2'),
    });
    await pool.close();
  });

  it('serve organizations in turn, and refuse what is too much', async () => {
    const pool = patient();
    const ended: string[] = [];
    const ask = (org: string) =>
      pool.run(org, { kind: 'evaluate', bytes: Buffer.from('{"expression":"1"}') }).then(
        () => void ended.push(org),
        (error: { code?: string }) => void ended.push(String(error.code)),
      );
    const all = [...Array.from({ length: 63 }, () => ask('acme')), ask('other'), ask('acme')];
    await Promise.all(all);
    // The one that was too much is refused at once, and the other organization does not wait for all of acme's.
    expect(ended[0]).toBe('gateway_busy');
    expect(ended.indexOf('other')).toBeLessThan(6);
    expect(ended.filter((one) => one === 'acme')).toHaveLength(63);
    await pool.close();
    await expect(pool.run('acme', { kind: 'evaluate', bytes: Buffer.from('{}') })).rejects.toMatchObject({
      code: 'gateway_busy',
    });
  });
});
