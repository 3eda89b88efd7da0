// A client for Python that a generator makes from the OpenAPI document, as the manual's page about clients shows.
// Skipped where there is no Python, or where pip gets no packages.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { blockOf, openShop, type Shop } from './shop.ts';

const GENERATOR = 'openapi-python-client==0.29.1';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-python-'));
const environment = join(folder, 'environment');
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
  writeFileSync(join(folder, 'constraints.txt'), `${GENERATOR}\n`);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await shop.gateway.close();
});

/** What a command prints, and whether it came to its end. */
function run(command: string, ...args: string[]): Promise<{ isDone: boolean; output: string }> {
  const env = {
    ...process.env,
    PATH: `${join(environment, 'bin')}${delimiter}${process.env['PATH']}`,
    PIP_CONSTRAINT: join(folder, 'constraints.txt'),
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
  };
  return new Promise((done) => {
    execFile(command, args, { cwd: folder, env, maxBuffer: 2 ** 26 }, (error, out, errors) =>
      done({ isDone: error === null, output: out + errors }),
    );
  });
}

it('has a client for Python that starts a run, reads its result, and knows problems', async ({ skip }) => {
  const isThere =
    (await run('python3', '-m', 'venv', environment)).isDone && (await run('pip', 'install', '-q', GENERATOR)).isDone;
  if (!isThere) {
    console.warn('Not tested: the client for Python, since Python or the registry of pip is not there.');
    skip();
  }

  const made = await run('bash', '-c', shop.here(`set -e\n${blockOf('shell')}`));
  expect(made.isDone, made.output).toBe(true);
  // The generator makes no functions for bodies in YAML and in plain text. JSON is there beside each.
  const warnings = [...made.output.matchAll(/^WARNING parsing .*\n+(.*)/gm)].map(([, why]) => why);
  expect(new Set(warnings)).toEqual(
    new Set(['Unsupported content type application/yaml', 'Unsupported content type text/plain']),
  );

  const program = join(folder, 'program.py');
  writeFileSync(
    program,
    shop.here(`${blockOf('python')}
refused = run_workflow.sync(client=client, body=RunWorkflowRequest.from_dict({"workflowId": "nothing"}))
print(type(refused).__name__, refused.code, refused.status)
`),
  );
  const { output } = await run('python', program);
  expect(output.split('\n')).toEqual([
    "{'order': 'A-9', 'outcome': 'accepted', 'by': 'limit', 'comments': None}",
    'Problem not_found 404',
    '',
  ]);

  const document = (await shop.gateway.request('GET', '/openapi.json')).body as {
    paths: { [path: string]: { [method: string]: { operationId: string; tags: string[] } } };
  };
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const missing = operations
    .map(({ operationId, tags }) => {
      const name = operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return join(folder, 'signalbox-client/signalbox_client/api', tags[0]!, `${name}.py`);
    })
    .filter((file) => !existsSync(file));
  expect(missing).toEqual([]);
});
