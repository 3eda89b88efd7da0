// A project that `signalbox init` writes: its own tests pass, and its workflow runs with its action.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { projectRoot } from '../../../src/cli/start/project-root.ts';
import { cli, filesFolder } from '../../cli/terminal.ts';
import { type TestGateway, testGateway } from '../gateway/gateway-support.ts';

const files = filesFolder();
const folder = join(files.path, 'My workflows');
let gateway: TestGateway | undefined;
beforeAll(async () => {
  expect(await cli(['init', folder])).toMatchObject({ exit: 0, out: expect.stringContaining('actions/stock.js') });
  // What `npm install` does there, without a registry.
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  symlinkSync(projectRoot(), join(modules, 'signalbox'));
  symlinkSync(join(projectRoot(), 'node_modules/zod'), join(modules, 'zod'));
  symlinkSync('../signalbox/dist/src/cli/main.js', join(modules, '.bin/signalbox'));
});
afterAll(async () => {
  await gateway?.close();
  files.remove();
});

it('overwrites nothing, and depends on this version of Signalbox, or on a place that npm can take', async () => {
  const again = await cli(['init', folder]);
  expect(again).toMatchObject({
    exit: 10,
    out: '',
    err: expect.stringMatching(/these files exist[\s\S]*package\.json/),
  });
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { version } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({ name: 'my-workflows', dependencies: { signalbox: version } });
  const other = join(files.path, 'other');
  await cli(['init', other, '--signalbox', 'file:signalbox.tgz', '--json']);
  const { dependencies } = JSON.parse(readFileSync(join(other, 'package.json'), 'utf8'));
  expect(dependencies.signalbox).toBe('file:signalbox.tgz');
});

it('has tests that pass, and that fail with a definition that is wrong', () => {
  const run = (command: string, ...args: string[]) => spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  const { status, stdout, stderr } = run('npm', 'test');
  expect({ status, stderr, stdout }).toMatchObject({ status: 0, stdout: expect.stringMatching(/pass 7$/m) });
  files.write('My workflows/definitions/wrong.yaml', 'name: Wrong\nsteps: {a: {stepType: finnish}}\n');
  const failing = run('node', '--test', 'tests/definitions.test.js');
  expect(failing.status).not.toBe(0);
  expect(failing.stdout).toMatch(/not ok .*definitions\/wrong\.yaml|✖ definitions\/wrong\.yaml/);
}, 180_000);

it('has a workflow that asks a person, and reserves with its own action', async () => {
  gateway = await testGateway({ SIGNALBOX_ACTIONS: join(folder, 'actions') });
  const env = { SIGNALBOX_URL: gateway.url };
  expect(await cli(['push', join(folder, 'definitions/purchase.yaml')], { env })).toMatchObject({ exit: 0, err: '' });
  const input = '{"sku": "chair", "quantity": 20, "amount": 2500}';
  const started = JSON.parse((await cli(['workflows', 'run', 'purchase', '--input', input, '--json'], { env })).out);
  expect(started).toMatchObject({ status: 'waiting', waitingFor: [{ path: 'review' }] });
  await cli(['approve', started.executionId], { env });
  const { exit, out } = await cli(['logs', '-f', started.executionId], { env });
  expect(exit).toBe(0);
  expect(out).toContain('"reservation": "chair/');
});
