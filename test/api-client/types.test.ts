// The types of `signalbox/client`, as TypeScript reads them: what the page of the manual shows compiles, and what the
// gateway would refuse does not.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateTypes } from '../../src/api-client/generate-types.ts';
import { openApiDocument } from '../../src/gateway/manual/openapi-document.ts';
import { routes } from '../../src/gateway/route-table.ts';

const page = readFileSync('src/gateway/manual/pages/client.md', 'utf8');
const types = generateTypes(openApiDocument(routes));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-client-'));
  const modules = join(folder, 'node_modules');
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: { './client': { types: string } };
  };
  const file = join(modules, 'signalbox', exports['./client'].types);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, types);
  writeFileSync(
    join(modules, 'signalbox/package.json'),
    JSON.stringify({ name: 'signalbox', type: 'module', exports }),
  );
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers'])
    symlinkSync(resolve('node_modules', name), join(modules, name));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What the compiler says of a program, in the strictest form, without the types of Node. */
function compile(program: string): Promise<string> {
  writeFileSync(join(folder, 'program.ts'), program);
  const options = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit'];
  const target = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--types', ''];
  return new Promise((done) => {
    execFile(
      process.execPath,
      [resolve('node_modules/typescript/bin/tsc'), ...options, ...target, 'program.ts'],
      { cwd: folder },
      (_error, out) => done(out),
    );
  });
}

const HEAD = `
import { createClient, type Execution } from 'signalbox/client';
const client = createClient({ url: '' });
const run = { params: { path: { id: 'a' } } };
`;

describe('the types of the client', () => {
  it('take the example of the manual', async () => {
    const [, example] = /^```ts\n([\s\S]*?)^```$/m.exec(page)!;
    expect(await compile(example!)).toBe('');
    expect(await compile(`${example!}started.nothing;`)).toMatch(/^program.ts.*error TS/);
  });

  it('refuse what the gateway refuses, and know what it answers', async () => {
    const wrong = {
      'a path that is not there': "await client.GET('/api/nothing');",
      'a method that a path has not': "await client.DELETE('/api/executions');",
      'a missing body': "await client.POST('/api/triggers/manual/run');",
      'a missing member': "await client.POST('/api/triggers/manual/run', { body: {} });",
      'a misspelled member': "await client.POST('/api/triggers/manual/run', { body: { workflowId: 'a', inputs: 1 } });",
      'a member of another type':
        "await client.POST('/api/executions/{id}/approve', { ...run, body: { approve: 'yes' } });",
      'a missing parameter of the path': "await client.GET('/api/executions/{id}');",
      'a misspelled parameter':
        "await client.GET('/api/executions', { params: { query: { state: 'failed', page: 1 } } });",
      'a trigger without a name':
        "await client.POST('/api/triggers', { body: { type: 'schedule', config: { cron: '0 * * * *' } } });",
      'a role that is none': "await client.POST('/api/keys', { body: { name: 'a', role: 'owner' } });",
      'data before the error is looked at': "(await client.GET('/api/executions/{id}', run)).data.status;",
      'a code that the path does not answer':
        "(await client.GET('/api/executions')).error?.code === 'webhook_signature_invalid';",
      'a status that no run has': "(await client.GET('/api/executions')).data?.items[0]?.status === 'done';",
    };
    const known = [
      "const { data } = await client.GET('/api/executions/{id}', run);",
      'export const read: Execution | undefined = data;',
      "export const isAsked: boolean | undefined = data?.waitingFor.some((wait) => wait.kind === 'approval');",
      "const ended = await client.GET('/api/executions/{id}/result', run);",
      "export const why = ended.data && !('waitingFor' in ended.data) && ended.data.error?.code;",
      "const started = await client.POST('/api/executions', { body: { definition: {}, dryRun: true } });",
      "export const steps = started.data && 'steps' in started.data && started.data.steps.length;",
      "export const id = started.data && !('steps' in started.data) && started.data.executionId;",
    ];
    const program = [
      HEAD,
      ...known,
      ...Object.entries(wrong).map(([what, line]) => `// @ts-expect-error ${what}\n${line}`),
    ];
    expect(await compile(program.join('\n'))).toBe('');
  });

  it('leave unknown only what depends on definitions, on other systems, or is open on purpose', () => {
    const aliases = [...types.matchAll(/^export type (\w+) = unknown;$/gm)].map(([, name]) => name);
    expect(aliases).toEqual([]);
    expect(types).not.toMatch(/#\/components|"error": Refusal<>|"data": ;/);
    const bodies = [...types.matchAll(/^ {2}"([^"]+)": \{\n(?:.*\n)*?^ {2}\};$/gm)]
      .filter(([operations]) => /^ +"body"\??: unknown;$/m.test(operations))
      .map(([, path]) => path);
    expect(
      bodies.filter((path) => !/^\/(?:webhooks|callbacks|approvals)\/|\/trigger\/|\/messages\//.test(path!)),
    ).toEqual([]);
  });
});
