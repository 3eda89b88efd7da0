// Needs no Temporal; it is here because loading Pyodide takes seconds. Deno and Pyodide are optional dependencies, and
// npm test installs them.

import { existsSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runScript } from '../../../activities/run-code/run-code.ts';
import type { Json } from '../../../src/json/json.ts';

const CANARY = 'canary-of-the-environment';
const MARK = join(tmpdir(), `signalbox-python-${process.pid}`);
let server: Server;
let connections = 0;

interface Given {
  readonly input?: Json;
  readonly timeoutMs?: number;
  readonly memoryMb?: number;
  readonly signal?: AbortSignal;
}

const run = (code: string, given: Given = {}) =>
  runScript({
    language: 'python',
    code,
    input: null,
    timeoutMs: 30_000,
    memoryMb: 64,
    signal: new AbortController().signal,
    ...given,
  });
const failing = (code: string, given?: Given) =>
  run(code, given).then(
    (result) => {
      throw new Error(`It did not fail: ${JSON.stringify(result).slice(0, 500)}`);
    },
    (error) => error,
  );
const body = (...lines: string[]): string => `def main(input):\n  ${lines.join('\n  ')}`;

beforeAll(async () => {
  process.env['SIGNALBOX_TEST_CANARY'] = CANARY;
  server = createServer(() => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The first load of all takes seconds.
  await run(body('pass'), { timeoutMs: 1_000 });
});
afterAll(() => {
  delete process.env['SIGNALBOX_TEST_CANARY'];
  rmSync(MARK, { force: true });
  server.close();
});

describe('Python', () => {
  it('gives what main returns, with what it printed', async () => {
    const code =
      'import ' +
      `statistics\n${body('print("seen", len(input))', 'return {"mean": statistics.mean(input), "ü": [None, True]}')}`;
    expect(await run(code, { input: [1, 2, 6] })).toEqual({
      data: { mean: 3, ü: [null, true] },
      console: [{ level: 'log', text: 'seen 3' }],
      consoleIsCut: false,
    });
  });

  it('may be async', async () => {
    const code = 'import asyncio\nasync def main(input):\n  await asyncio.sleep(0.01)\n  return input + 1';
    expect((await run(code, { input: 1 })).data).toBe(2);
  });

  it('reports what it raised, and where', async () => {
    expect(await failing('def main(input):\n  return 1 / input', { input: 0 })).toMatchObject({
      code: 'script_error',
      message: 'ZeroDivisionError: division by zero',
      retryable: false,
      details: { name: 'ZeroDivisionError', stack: expect.stringContaining('line 2, in main') },
    });
  });

  it.each([
    ['def main(input:', 'script_invalid', /not valid Python: .*line 1/],
    ['value = 1', 'script_invalid', /no function main/],
    [body('while True: pass'), 'script_timeout', /longer than 1000 ms/],
    [body('a = []', 'while True: a.append(bytearray(1000000))'), 'script_out_of_memory', /more than 64 MiB/],
    [body('return len(bytearray(2000000000))'), 'script_out_of_memory', /MiB/],
    [body('f = lambda n: 0 if n == 0 else 1 + f(n - 1)', 'return f(20000)'), 'script_error', /RecursionError/],
    [body('a = 1', 'for i in range(300): a = [a]', 'return a'), 'result_too_deep', /deeper than 200/],
    [body('a = 1', 'for i in range(20000): a = [a]', 'return a'), 'script_error', /stack/],
    [body('return "x" * 3000000'), 'result_too_large', /the limit is/],
    [body('return {1, 2}'), 'script_error', /not JSON/],
    [body('return float("nan")'), 'script_error', /not JSON/],
    [body('import sys', 'sys.exit(3)'), 'script_error', /SystemExit/],
    [body('import os', 'os._exit(3)'), 'script_error', /exit\(3\)/],
    [
      body('import pyodide_js', 'pyodide_js.constructor.constructor("Deno.exit(0)")()'),
      'script_crashed',
      /ended before/,
    ],
  ])('goes wrong in a typed way: %s', async (code, expected, message) => {
    const failed = await failing(code, { timeoutMs: code.includes('while True: pass') ? 1_000 : 30_000 });
    expect(failed).toMatchObject({ code: expected, message: expect.stringMatching(message) });
  });

  it('lets go when it is cancelled', async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 300);
    const running = run(body('while True: pass'), { signal: abort.signal });
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect((await run(body('return 1'))).data).toBe(1);
  });
});

// THREATS.md. What reaches past Python into Pyodide's JavaScript is stopped by Deno.
describe('Python finds nothing of the host', () => {
  const js = (code: string) =>
    body('import pyodide_js', `return str(pyodide_js.constructor.constructor(${JSON.stringify(code)})())`);

  it.each([
    ['files', body('return open("/etc/passwd").read()')],
    ['files, by Pyodide', body('import pyodide_js', 'return pyodide_js.FS.readdir("/etc")')],
    ['files, by JavaScript', js('return Deno.readTextFileSync("/etc/passwd")')],
    ['writing, by JavaScript', js(`return Deno.writeTextFileSync("${MARK}", "x")`)],
    ['programs', body('import subprocess', `return subprocess.run(["touch", "${MARK}"])`)],
    ['os.system', body('import os', `return os.system("touch ${MARK}")`)],
    ['programs, by JavaScript', js(`return new Deno.Command("touch", {args: ["${MARK}"]}).outputSync()`)],
    ['the environment, by JavaScript', js('return JSON.stringify(Deno.env.toObject())')],
    ['other modules, by JavaScript', js('return process.getBuiltinModule("node:fs").readFileSync("/etc/passwd")')],
  ])('%s', async (_what, code) => {
    const failed = await failing(code);
    expect(failed.code).toBe('script_error');
    expect(JSON.stringify([failed.message, failed.details])).not.toMatch(/root:|SIGNALBOX/);
    expect(existsSync(MARK)).toBe(false);
  });

  it('environment', async () => {
    const { data } = await run(body('import os', 'return dict(os.environ)'));
    expect(JSON.stringify(data)).not.toContain(CANARY);
    expect(JSON.stringify(data)).not.toContain('python-child');
  });

  it('network', async () => {
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/`;
    const ways = [
      body('import urllib.request', `return urllib.request.urlopen("${url}").read().decode()`),
      body('import socket', `return str(socket.create_connection(("127.0.0.1", ${port}), 1))`),
      'import pyodide_js\nasync def main(input):\n  return str(await ' +
        `pyodide_js.constructor.constructor('return fetch("${url}")')())`,
    ];
    for (const way of ways) expect((await failing(way)).code).toBe('script_error');
    expect(connections).toBe(0);
  });

  it('another script', async () => {
    await run('import builtins\nbuiltins.left = 1\ndef main(input):\n  open("/tmp/left", "w").write("1")');
    const code = body('import builtins, os', 'return [hasattr(builtins, "left"), os.path.exists("/tmp/left")]');
    expect((await run(code)).data).toEqual([false, false]);
  });
});
