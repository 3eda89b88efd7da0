import { CancelledFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { createActivities } from '../../../activities/registry.ts';
import { runScript } from '../../../activities/run-code/run-code.ts';
import type { Json } from '../../../src/json/json.ts';
import { environment, inputOf, LOOPBACK } from '../server.ts';

const run = (
  code: string,
  more: { language?: 'typescript'; input?: Json; timeoutMs?: number; memoryMb?: number } = {},
) =>
  runScript({
    language: 'javascript',
    code,
    input: null,
    timeoutMs: 100_000,
    memoryMb: 64,
    signal: new AbortController().signal,
    ...more,
  });
const failing = (...args: Parameters<typeof run>) =>
  run(...args).then(
    (result) => {
      throw new Error(`It did not fail: ${JSON.stringify(result).slice(0, 500)}`);
    },
    (error) => error,
  );
const body = (statements: string): string => `export default function (input) { ${statements} }`;

describe('a script', () => {
  it('gives what its function returns', async () => {
    expect(await run(body('return { sum: input.a + 1, list: [null, "ü"] }'), { input: { a: 2 } })).toEqual({
      data: { sum: 3, list: [null, 'ü'] },
      console: [],
      consoleIsCut: false,
    });
    expect((await run(body(''))).data).toBeNull();
  });

  it('may be async, and may await at its top', async () => {
    const code = 'const add = await Promise.resolve(1);\nexport default async (n) => (await n) + add;';
    expect((await run(code, { input: 4 })).data).toBe(5);
  });

  it('may be TypeScript, enums included', async () => {
    const code = `enum Rate { Low = 1, High = 3 }
interface Order { readonly cents: number }
export default function ({ cents }: Order): number { return (cents as number) * Rate.High }`;
    expect((await run(code, { language: 'typescript', input: { cents: 5 } })).data).toBe(15);
  });

  it('keeps members with the names of an object’s own', async () => {
    const input = JSON.parse('{"__proto__": {"admin": true}, "constructor": 1}');
    expect(JSON.stringify((await run(body('return input'), { input })).data)).toBe(JSON.stringify(input));
  });

  it('has its console captured, in bounds', async () => {
    const { console } = await run(body('console.log("a", 1, {b: [2]}, undefined); console.error(new TypeError("c"))'));
    expect(console).toEqual([
      { level: 'log', text: 'a 1 {"b":[2]} undefined' },
      { level: 'error', text: 'TypeError: c' },
    ]);
    const much = await run(body('for (let i = 0; i < 100000; i++) console.log("line", i)'));
    expect(much.console).toHaveLength(200);
    const long = await run(body('for (;;) { console.log("x".repeat(1e6)); if (++input > 100) return }'), { input: 0 });
    expect(JSON.stringify(long.console).length).toBeLessThan(40_000);
    expect([much.consoleIsCut, long.consoleIsCut]).toEqual([true, true]);
  });

  it('finds nothing of the host, and nothing of the script before it', async () => {
    await run(body('globalThis.left = 1; Object.prototype.left = 1; JSON.stringify = () => "1"'));
    const names = ['left', 'process', 'require', 'fetch', 'setTimeout', 'WebAssembly', 'Deno', 'XMLHttpRequest'];
    const code = body(
      `return [${names.map((name) => `typeof ${name}`)}, (() => {}).constructor("return typeof process")(), ` +
        'typeof {}.left]',
    );
    expect(new Set((await run(code)).data as string[])).toEqual(new Set(['undefined']));
  });
});

describe('a script that runs again', () => {
  it('finds nothing of its own last run', async () => {
    const code = body('globalThis.runs = (globalThis.runs ?? 0) + 1; Array.prototype.runs = 1; return globalThis.runs');
    const results: Json[] = [];
    for (let n = 0; n < 70; n++) results.push((await run(code)).data);
    expect(new Set(results)).toEqual(new Set([1]));
    expect((await run(body('return typeof [].runs'))).data).toBe('undefined');
  });

  it('has all of its memory every time', async () => {
    const code = body(
      'const a = []; for (let i = 0; i < 40; i++) a.push(new Uint8Array(1e6).fill(1)); return a.length;',
    );
    for (let n = 0; n < 5; n++) expect((await run(code)).data).toBe(40);
  });
});

describe('a script that replaces what is around it', () => {
  const hooks = 'Function.prototype.call = () => "x".repeat(1e7); Object.prototype.toJSON = () => 5;';

  it('changes nothing but its own result', async () => {
    const { data, console, consoleIsCut } = await run(body(`${hooks} console.log("a"); return { a: 1 };`));
    expect({ data, console, consoleIsCut }).toEqual({ data: 5, console: [], consoleIsCut: true });
  });

  it('fails typed all the same', async () => {
    const failed = await failing(body(`${hooks} throw new Error("a")`));
    expect(failed).toMatchObject({ code: 'script_error', message: 'The code threw a value that cannot be shown' });
  });
});

describe('a script that goes wrong', () => {
  it('reports what it threw, where, and what it had printed', async () => {
    const failed = await failing(
      '\nexport default () => {\n  console.log("here");\n  throw new RangeError("too far");\n}',
    );
    expect(failed).toMatchObject({
      code: 'script_error',
      message: 'RangeError: too far',
      retryable: false,
      details: { name: 'RangeError', message: 'too far', console: [{ level: 'log', text: 'here' }] },
    });
    expect(failed.details.stack).toMatch(/^ *at default \(script\.js:4:\d+\)$/);
    const coded = body('throw Object.assign(new Error("There is none left."), { code: "no_stock" })');
    expect((await failing(coded)).details).toMatchObject({ code: 'no_stock', message: 'There is none left.' });
    expect(await failing(body('throw { code: 7 }'))).toMatchObject({ message: 'The code threw {"code":7}' });
    expect(await failing(body('throw null'))).toMatchObject({ code: 'script_error', message: 'The code threw null' });
  });

  it('reports the position in the TypeScript source', async () => {
    const code = 'interface A { b: 1 }\nexport default (a: A): number => {\n  throw new Error("no");\n};';
    expect((await failing(code, { language: 'typescript' })).details.stack).toContain('script.js:3:');
  });

  it.each([
    ['export default function (', 'javascript', /not valid JavaScript: .*line 1/],
    ['export const a = 1;', 'javascript', /default export of the code is not a function/],
    ['export default (a: ) => 1;', 'typescript', /not valid TypeScript: .*line 1, column 20/],
    ['('.repeat(200_000), 'typescript', /nests too deeply/],
  ])('is script_invalid where it cannot be read (%#)', async (code, language, message) => {
    const failed = await failing(code, language === 'typescript' ? { language } : {});
    expect(failed).toMatchObject({ code: 'script_invalid', retryable: false, message: expect.stringMatching(message) });
  });

  // THREATS.md; the parser, the regular expressions and the writer of JSON are the host's stack and time as well.
  it.each([
    ['an endless loop', 'for (;;);', 'script_timeout'],
    ['jobs without end', 'const f = () => { Promise.resolve().then(f); }; f();', 'script_timeout'],
    ['jobs without end that it waits for', 'return (async () => { for (;;) await 0; })();', 'script_timeout'],
    [
      'a chain of promises without end',
      'const f = () => Promise.resolve().then(f); return f();',
      'script_out_of_memory',
    ],
    ['a regular expression that explodes', 'return /(a+)+$/.test("a".repeat(40) + "b")', 'script_timeout'],
    ['toJSON that never ends', 'return { toJSON() { for (;;); } }', 'script_timeout'],
    ['4 GB in pieces', 'const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1));', 'script_out_of_memory'],
    ['4 GB as objects', 'let a = {}; for (;;) a = { a };', 'script_out_of_memory'],
    ['4 GB at once', 'return new Uint8Array(4e9).length', 'script_error'],
    ['recursion', 'const f = (n) => (n === 0 ? 0 : 1 + f(n - 1)); return f(20000);', 'script_error'],
    ['code that nests deeply', 'return eval("(".repeat(100000));', 'script_error'],
    ['JSON that nests deeply', 'return JSON.parse("[".repeat(100000));', 'script_error'],
    ['a result 20,000 deep', 'let a = 1; for (let i = 0; i < 20000; i++) a = [a]; return a;', 'result_too_deep'],
    ['a result that refers to itself', 'const a = {}; a.a = a; return a;', 'result_too_deep'],
    ['a result over the limit', 'return "x".repeat(3e6);', 'result_too_large'],
    ['a result that is no JSON', 'return 1n;', 'script_error'],
    ['an error 20,000 deep', 'let a = 1; for (let i = 0; i < 20000; i++) a = [a]; throw a;', 'script_error'],
    ['waiting for nothing', 'return new Promise(() => {});', 'script_error'],
    ['imports', 'return import("node:fs");', 'script_error'],
  ])('survives %s: %s', async (_what, statements, code) => {
    const failed = await failing(body(statements), { timeoutMs: code === 'script_timeout' ? 300 : 100_000 });
    expect(failed).toMatchObject({ code, retryable: false });
    expect(failed.message).not.toBe('');
    expect((await run(body('return 1'))).data).toBe(1);
  });

  it('has the memory that it asks for', async () => {
    const code = body(
      'const a = []; for (let i = 0; i < 80; i++) a.push(new Uint8Array(1e6).fill(1)); return a.length;',
    );
    expect((await run(code, { memoryMb: 128 })).data).toBe(80);
    expect(await failing(code)).toMatchObject({ code: 'script_out_of_memory', details: { memoryMb: 64 } });
  });
});

describe('the activity runCode', () => {
  const config = { language: 'javascript', code: body('return input'), input: 1, timeoutMs: 100_000, memoryMb: 64 };
  const { runCode } = createActivities(LOOPBACK);

  const told = (running: Promise<unknown>): Promise<string> => running.then(String, (error: Error) => error.message);

  it('gives as much as a step may keep on its host', async () => {
    const large = { ...config, code: body('return "x".repeat(5e6)'), memoryMb: 128 };
    expect(await told(environment().run(runCode!, inputOf(large)))).toContain('the limit is 1900000');
    const { runCode: withBlobs } = createActivities({ ...LOOPBACK, blobs: { folder: 'none', isOn: true } });
    expect(await environment().run(withBlobs!, inputOf(large))).toMatchObject({ data: 'x'.repeat(5e6) });
    const larger = { ...large, code: body('return "x".repeat(16e6)') };
    expect(await told(environment().run(withBlobs!, inputOf(larger)))).toContain('the limit is 16000000');
  });

  it('answers data, console and duration', async () => {
    expect(await environment().run(runCode!, inputOf(config))).toEqual({
      data: 1,
      meta: { console: [], durationMs: expect.any(Number) },
    });
  });

  it('ends immediately when it is cancelled, running or waiting for a slot', async () => {
    const endless = { ...config, code: body('for (;;);'), timeoutMs: 600_000 };
    const environments = Array.from({ length: 12 }, () => environment());
    const running = environments.map((one) => one.run(runCode!, inputOf(endless)));
    // One that runs holds its process, and others wait.
    await expect.poll(() => process.getActiveResourcesInfo()).toContain('ProcessWrap');
    for (const one of environments) one.cancel();
    for (const settled of await Promise.allSettled(running))
      expect(settled).toMatchObject({ status: 'rejected', reason: expect.any(CancelledFailure) });
    expect((await run(body('return 1'))).data).toBe(1);
  });

  it('runs many at once', async () => {
    const inputs = Array.from({ length: 100 }, (_, n) => n);
    const results = await Promise.all(inputs.map((input) => run(body('return input'), { input })));
    expect(results.map(({ data }) => data)).toEqual(inputs);
  });
});
