// The package signalbox-cli as its users have it: installed into an empty folder, and asked for all that it is for.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compiledRoot, projectRoot } from '../../../src/cli/start/project-root.ts';
import { cli } from '../../cli/terminal.ts';
import { install, pack } from '../../start/packing.ts';
import { type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

const KEY = 'an-admin-key-of-the-environment-0123456789';
const MAX_INSTALLED_BYTES = 30_000_000;
const slug = unique('refund');
const definition = (limit: number): string => `name: Refund
slug: ${slug}
input: {amount: number}
steps:
  big:
    stepType: condition
    config: {expression: input.amount > ${limit}}
    nextSteps: {'true': ask, 'false': paid}
  ask: {stepType: approval, config: {message: Refund?}, nextSteps: {approved: paid, rejected: paid}}
  paid: {stepType: finish, config: {output: '{{ input.amount }}'}}
`;

const folder = mkdtempSync(join(tmpdir(), 'signalbox-remote-'));
const app = join(folder, 'app');
let gateway: TestGateway | undefined;

beforeAll(async () => {
  execFileSync(process.execPath, [join(projectRoot(), 'deploy/build.mjs'), '--cli']);
  const { tarball } = pack(folder, join(compiledRoot(), 'cli'));
  // It needs no other package, and so no registry.
  install(app, '--offline', tarball);
  for (const limit of [100, 200]) writeFileSync(join(app, `${limit}.yaml`), definition(limit));
  writeFileSync(join(app, 'wrong.yaml'), 'name: Wrong\nsteps:\n  a: {stepType: finnish}\n');
  gateway = await testGateway({ SIGNALBOX_ADMIN_KEY: KEY });
});
afterAll(async () => {
  await gateway?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a person types there. The gateway of these tests is in this process, so it must not be held up. */
function signalbox(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const program = join(app, 'node_modules/.bin/signalbox');
  return new Promise<{ exit: number; out: string; err: string }>((resolve) => {
    const options = { cwd: app, env: { PATH: process.env['PATH'], ...env } };
    execFile(program, args, options, (error, out, err) => resolve({ exit: Number(error?.code ?? 0), out, err }));
  });
}
const remote = (...args: string[]) => signalbox(args, { SIGNALBOX_URL: gateway?.url, SIGNALBOX_API_KEY: KEY });

it('is small, and all that is installed', () => {
  const modules = join(app, 'node_modules');
  expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['signalbox-cli']);
  const files = readdirSync(modules, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  expect(bytes).toBeLessThan(MAX_INSTALLED_BYTES);
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['LICENSE', 'licenses.md', 'README.md']));
});

it('checks and walks a file without a gateway', async () => {
  expect(await signalbox(['validate', '100.yaml'])).toMatchObject({ exit: 0, err: '' });
  const wrong = await signalbox(['validate', 'wrong.yaml']);
  expect(wrong).toMatchObject({ exit: 10, out: expect.stringMatching(/wrong\.yaml:3:\d+.*finnish/) });
  const walked = await signalbox(['run', '100.yaml', '--dry', '--input', '{"amount": 150}']);
  expect(walked).toMatchObject({ exit: 0, out: expect.stringMatching(/big +condition +completed +true/) });
  expect(walked.out).toContain('waits for approval at ask');
});

it('stores a definition at a gateway, compares it with a file, and runs it', async () => {
  expect(await remote('push', '100.yaml')).toMatchObject({ exit: 0, err: '' });
  expect(await remote('workflows', 'diff', slug, '--file', '100.yaml', '--exit-code')).toMatchObject({ exit: 0 });
  const changed = await remote('workflows', 'diff', slug, '--file', '200.yaml', '--exit-code');
  expect(changed).toMatchObject({ exit: 30, out: expect.stringContaining('input.amount > 200') });
  const ran = await remote('workflows', 'run', slug, '--input', '{"amount": 50}', '--json');
  expect(JSON.parse(ran.out)).toMatchObject({ status: 'completed', output: 50 });
});

it('says where the commands are that it lacks, whatever their arguments', async () => {
  const commandsOf = (help: string): string[] => [...help.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!);
  const { out } = await signalbox(['--help']);
  expect(commandsOf(out).sort()).toEqual(commandsOf((await cli(['--help'])).out).sort());
  const lacking = [...out.matchAll(/^ {2}([a-z]+) .*in the package signalbox only$/gm)].map(([, name]) => name!);
  expect(lacking).toEqual(['start', 'doctor', 'backup', 'restore', 'init']);
  for (const name of lacking)
    expect(await signalbox([name, '--only', 'worker'])).toMatchObject({
      exit: 20,
      err: `The package signalbox-cli has no ${name}. Install the package signalbox instead, which has it.\n`,
    });
});
