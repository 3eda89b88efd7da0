// The package as its users have it: installed from its tarball into an empty folder, without the clone's packages.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive } from '#lock';
import { runningStack } from '#stacks';
import { projectRoot } from '../../src/cli/start/project-root.ts';
import { filesOf } from '../support/file-stats.ts';
import { until } from '../support/stack.ts';
import { hasRegistry, install, pack } from './packing.ts';

const FIVE_MINUTES = 300_000;
const read = (file: string): string => readFileSync(join(projectRoot(), file), 'utf8');
const { dependencies, devDependencies } = JSON.parse(read('package.json'));

const DEFINITION = `name: Greet
slug: greet
steps:
  greet:
    stepType: action
    config: {type: greeting.make, parameters: {name: '{{ input.name }}', times: 2}}
    nextSteps: {success: done}
  done: {stepType: finish, config: {output: '{{ steps.greet.output.data }}'}}
`;

const COMPILER = {
  module: 'nodenext',
  target: 'es2023',
  strict: true,
  skipLibCheck: false,
  noEmit: true,
  allowJs: true,
  checkJs: true,
};

const CALLER = `import { createClient } from 'signalbox/client';

const { data, error } = await createClient({ url: 'http://127.0.0.1:8787' }).GET('/api/workflows');
export const slugs: string[] = data?.items.map(({ slug }) => slug) ?? [];
export const code: string | undefined = error?.code;
`;

/** The result is no text. */
const WRONG = `import { defineAction } from 'signalbox/action';
import { z } from 'zod';

export default defineAction({
  type: 'wrong.result',
  input: z.object({}),
  output: z.object({ text: z.string() }),
  run: () => ({ text: 1 }),
});
`;

describe.skipIf(!hasRegistry())('the package in an empty folder', { timeout: FIVE_MINUTES }, () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-installed-')));
  const app = join(folder, 'app');
  let before: Map<string, string>;
  let stack: { child: ChildProcess; ended: Promise<unknown> } | undefined;

  /** What Ctrl-C does. */
  const stop = async (): Promise<void> => {
    const { pid, exitCode, signalCode } = stack?.child ?? {};
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGINT');
    await stack?.ended;
  };

  /** What a person types there. */
  const typed = (command: string, env: NodeJS.ProcessEnv = {}, cwd = app) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
      cwd,
      env: surroundings(env),
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };

  beforeAll(() => {
    const { tarball } = pack(folder);
    const typesOfNode = `@types/node@${devDependencies['@types/node']}`;
    install(app, tarball, `zod@${dependencies.zod}`, typesOfNode);
    before = filesOf(join(app, 'node_modules'));
    mkdirSync(join(app, 'actions'));
    const example = /```js\n([\s\S]*?)```/.exec(read('src/gateway/manual/pages/actions.md'))?.[1];
    writeFileSync(join(app, 'actions/greeting.js'), example ?? '');
    writeFileSync(join(app, 'greet.yaml'), DEFINITION);
    writeFileSync(join(app, 'caller.ts'), CALLER);
  }, FIVE_MINUTES);
  afterAll(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has no development packages of the clone', () => {
    expect(['typescript', 'vite', 'vitest'].filter((name) => existsSync(join(app, 'node_modules', name)))).toEqual([]);
  });

  it('runs a definition with a host action, and writes into the folder of its data only', async () => {
    const child = spawn('npx', ['signalbox', 'start'], {
      cwd: app,
      env: surroundings({ SIGNALBOX_ACTIONS: 'actions', SIGNALBOX_PORT: '0' }),
      stdio: ['ignore', 'pipe', 'pipe'],
      // Its own group, as a terminal makes one.
      detached: true,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => {
        output += part.toString();
      });
    stack = { child, ended: new Promise((resolve) => child.once('exit', resolve)) };
    await until('it is ready', 60_000, () => output.includes('Ready after') || child.exitCode !== null);
    const note = runningStack(join(app, '.signalbox'));
    expect([note?.gateway?.url, output]).toEqual([expect.stringMatching(/^http:/), expect.stringContaining('Ready')]);

    expect(typed('npx signalbox push greet.yaml')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('greet'),
    });
    const ran = typed(`npx signalbox workflows run greet --input '{"name": "Ann"}' --json`);
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'completed', output: { text: 'Hello, Ann! Hello, Ann!' } });
    for (const [path, text] of [
      ['/console/', '<script type="module"'],
      // An example of the manual is a program of the tests.
      ['/docs/examples', 'approval-quorum'],
    ]) {
      const answer = await fetch(`${note?.gateway?.url}${path}`);
      expect([path, answer.status, await answer.text()]).toEqual([path, 200, expect.stringContaining(text!)]);
    }

    await stop();
    const parts = [note, note?.worker, note?.temporal.server].filter((part) => part !== undefined);
    expect([parts.length, parts.filter((part) => isAlive(part))]).toEqual([3, []]);
    expect(output).toContain('Stopped.');
    expect(existsSync(join(app, '.signalbox/master.key'))).toBe(true);
    expect(filesOf(join(app, 'node_modules'))).toEqual(before);
  });

  it('has types that stand on their own', () => {
    const check = (lib: object): string => {
      const config = { compilerOptions: { ...COMPILER, ...lib }, include: ['actions', '*.ts'] };
      writeFileSync(join(app, 'tsconfig.json'), JSON.stringify(config));
      return typed(`node ${join(projectRoot(), 'node_modules/typescript/bin/tsc')} -p .`).stdout;
    };
    const node = { lib: ['es2023'], types: ['node'] };
    const browser = { types: [] };
    expect([check(node), check(browser)]).toEqual(['', '']);
    writeFileSync(join(app, 'wrong.ts'), WRONG);
    for (const lib of [node, browser])
      expect(check(lib)).toMatch(/^wrong\.ts.*Type 'number' is not assignable to type 'string'/s);
    rmSync(join(app, 'wrong.ts'));
  });

  it('writes a project, whose tests pass with the package', () => {
    const made = join(folder, 'made');
    expect(typed(`npx signalbox init ${made}`)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('test.yaml'),
    });
    symlinkSync(join(app, 'node_modules'), join(made, 'node_modules'));
    expect(typed('npm test', {}, made)).toMatchObject({ status: 0, stdout: expect.stringMatching(/pass 7$/m) });
  });
});

/** Without the settings of the tests. npm's variables about the clone must not reach the folder. */
function surroundings(extra: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(TEMPORAL_|SIGNALBOX_|NODE_ENV|NODE_OPTIONS|VITEST|npm_(lifecycle|package|command))/.test(name),
  );
  return { ...Object.fromEntries(kept), ...extra };
}
