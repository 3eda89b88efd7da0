// Python steps of runs in a separate worker process: results, failures, and that the next step of the same worker runs
// whatever a script tries (THREATS.md). effects-code-python.long.test.ts tests the runner itself.

import { existsSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTrace } from '../../../src/client/runs/trace.ts';
import type { Definition, StepDefinition } from '../../../src/definition/document/types.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { type ForkedWorker, forkWorker, type TestServer, testServer } from '../../support/temporal.ts';
import { startRun, until } from '../runs/run-support.ts';

const CANARY = 'canary-of-the-environment';
const MARK = join(tmpdir(), `signalbox-run-python-${process.pid}`);
let trap: Server;
let connections = 0;
let server: TestServer;
let worker: ForkedWorker;

beforeAll(async () => {
  trap = createServer(() => connections++);
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
  server = await testServer({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
  worker = await forkWorker(server, { SIGNALBOX_TEST_CANARY: CANARY });
  // The first load of all takes seconds.
  expect(await (await startRun(server, one(body('return 1')))).result()).toBe(1);
});
afterAll(async () => {
  await worker.end();
  await server.close();
  rmSync(MARK, { force: true });
  await new Promise((resolve) => trap.close(resolve));
});

const body = (...lines: string[]): string => `def main(input):\n  ${lines.join('\n  ')}`;
/** What reaches past Python into Pyodide's JavaScript. */
const js = (code: string): string =>
  body('import pyodide_js', `return str(pyodide_js.constructor.constructor(${JSON.stringify(code)})())`);
const python = (code: string, config: JsonObject = {}): StepDefinition => ({
  stepType: 'run_code',
  config: { language: 'python', code, timeoutMs: 30_000, ...config },
});
const one = (code: string, config: JsonObject = {}): Definition => ({
  name: 'Python',
  slug: 'python',
  steps: { it: python(code, config) },
});

const stepsOf = async ({ workflowId }: WorkflowHandle) => (await readTrace(server, workflowId)).items;

describe('a Python step', () => {
  it('gives what main returns to later steps, with what it printed in the trace', async () => {
    const code =
      'import statistics\n' +
      body('print("seen", len(input["n"]))', 'return {"mean": statistics.mean(input["n"]), "ü": [None, True]}');
    const handle = await startRun(
      server,
      {
        name: 'Python',
        slug: 'python',
        steps: {
          it: { ...python(code, { input: { n: '{{ input.numbers }}' } }), nextSteps: { success: 'end' } },
          end: { stepType: 'finish', config: { output: 'mean {{ steps.it.output.data.mean }}' } },
        },
      },
      { input: { numbers: [1, 2, 6] } },
    );
    expect(await handle.result()).toBe('mean 3');
    expect(await stepsOf(handle)).toMatchObject([
      {
        path: 'it',
        attempts: 1,
        output: {
          data: { mean: 3, ü: [null, true] },
          meta: { console: [{ level: 'log', text: 'seen 3' }], durationMs: expect.any(Number) },
        },
      },
      { path: 'end' },
    ]);
  });

  it('fails with what it raised, the line, and what it had printed, and is not tried again', async () => {
    const handle = await startRun(server, one('def main(input):\n  print("before")\n  return 1 / 0'));
    await expect(handle.result()).rejects.toMatchObject({
      cause: {
        type: 'script_error',
        message: 'ZeroDivisionError: division by zero',
        details: [
          {
            path: 'it',
            attempts: 1,
            details: {
              stack: expect.stringContaining('line 3, in main'),
              console: [{ level: 'log', text: 'before' }],
            },
          },
        ],
      },
    });
  });

  it('is let go when its run is cancelled, and the next one runs', async () => {
    const handle = await startRun(server, one(body('while True: pass'), { timeoutMs: 600_000 }));
    await until(
      async () => (await handle.describe()).raw.pendingActivities ?? [],
      ([pending]) => pending?.lastStartedTime != null,
    );
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(await (await startRun(server, one(body('return 2')))).result()).toBe(2);
  });
});

// Each case has its code, the expected failure, and its config. Each prints first, which the previous one must not
// prevent.
const ROWS: { readonly [slug: string]: readonly [code: string, expected: string | undefined, config?: JsonObject] } = {
  forEver: [body('while True: pass'), 'script_timeout', { timeoutMs: 700 }],
  system: [body('import os', `return os.system("touch ${MARK}")`), 'script_error'],
  memory: [body('a = []', 'while True: a.append(bytearray(1000000))'), 'script_out_of_memory'],
  program: [body('import subprocess', `return subprocess.run(["touch", "${MARK}"])`), 'script_error'],
  exit: [body('import os', 'os._exit(3)'), 'script_error'],
  files: [body('return open("/etc/passwd").read()'), 'script_error'],
  exitByJavaScript: [js('Deno.exit(0)'), 'script_crashed'],
  deep: [body('f = lambda n: 0 if n == 0 else 1 + f(n - 1)', 'return f(20000)'), 'script_error'],
  environment: [body('import os', 'return dict(os.environ)'), undefined],
};

/** What the host offers to code that reaches its JavaScript; every one must be refused. */
const BY_JAVASCRIPT = [
  'return Deno.readTextFileSync("/etc/passwd")',
  `return Deno.writeTextFileSync("${MARK}", "x")`,
  `return new Deno.Command("touch", {args: ["${MARK}"]}).outputSync()`,
  'return JSON.stringify(Deno.env.toObject())',
  'return process.getBuiltinModule("node:fs").readFileSync("/etc/passwd")',
];

describe('whatever a Python step does, the next one runs', () => {
  it('in one run, on the same worker', async () => {
    const slugs = Object.keys(ROWS);
    const steps = Object.fromEntries(
      Object.entries(ROWS).map(([slug, [code, _expected, config]], n) => {
        const next = slugs[n + 1] ?? 'last';
        const talking = code.replace(/(def main\(input\):\n)/, '$1  print("ready")\n');
        return [
          slug,
          { ...python(talking, config), retry: { maxAttempts: 1 }, nextSteps: { success: next, error: next } },
        ];
      }),
    );
    const last = python(body('return sum(input["n"])'), { input: { n: [1, 2] } });
    const handle = await startRun(server, {
      name: 'Python',
      slug: 'python',
      start: slugs[0]!,
      steps: { ...steps, last },
    });
    expect(await handle.result()).toBe(3);
    const rows = await stepsOf(handle);
    expect(rows.map(({ path, error }) => [path, error?.code])).toEqual([
      ...Object.entries(ROWS).map(([slug, [, expected]]) => [slug, expected]),
      ['last', undefined],
    ]);
    // A killed process reports nothing more.
    for (const { path, error, output } of rows.filter(
      ({ error }) => error?.code === 'script_error' || error === undefined,
    ))
      if (path !== 'last') expect(JSON.stringify([error, output]), path).toContain('"text":"ready"');
    expect(JSON.stringify(rows.map(({ error, output }) => [error, output]))).not.toMatch(/root:|SIGNALBOX|canary/);
    expect(existsSync(MARK)).toBe(false);
  });

  it('and it reaches neither the network nor the host', async () => {
    const { port } = trap.address() as AddressInfo;
    const code = `import pyodide_js, socket, urllib.request
make = pyodide_js.constructor.constructor
async def main(input):
  told = []
  for code in input["codes"]:
    try: told.append(str(make(code)()))
    except BaseException as error: told.append(None)
  read = lambda: urllib.request.urlopen(input["url"]).read()
  send = lambda: socket.create_connection(("127.0.0.1", ${port}), 1).send(b"x")
  for way in [read, send]:
    try: told.append(str(way()))
    except BaseException as error: told.append(None)
  try: told.append(str(await make('return fetch("' + input["url"] + '")')()))
  except BaseException as error: told.append(None)
  return told`;
    const input = { codes: BY_JAVASCRIPT, url: `http://127.0.0.1:${port}/` };
    const handle = await startRun(server, one(code, { input }));
    expect(await handle.result()).toEqual(Array(BY_JAVASCRIPT.length + 3).fill(null));
    expect(connections).toBe(0);
    expect(existsSync(MARK)).toBe(false);
  });

  it('and the worker lives', async () => {
    expect([worker.child.exitCode, worker.child.signalCode]).toEqual([null, null]);
    expect(await (await startRun(server, one(body('return 1')))).result()).toBe(1);
  });
});
