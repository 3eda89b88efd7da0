import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runningStack } from '#stacks';
import { projectRoot } from '../../src/cli/start/project-root.ts';
import { type DataFolder, dataFolder, runHello, startStack, startToEnd, statusOf, until } from '../support/stack.ts';

describe('a stack', { timeout: 120_000 }, () => {
  let folder: DataFolder;
  beforeEach(() => {
    folder = dataFolder();
  });
  afterEach(() => folder.remove());

  test('keeps its runs from one start to the next, and ends completely each time', async () => {
    const first = await startStack(folder.path);
    await runHello(first, 'kept');
    expect(statSync(join(folder.path, 'stack.json')).mode & 0o777).toBe(0o600);
    expect(await first.end('SIGTERM')).toBe(0);
    expect(folder.processes()).toEqual([]);
    expect(runningStack(folder.path)).toBeUndefined();

    const second = await startStack(folder.path);
    expect(await statusOf(second, 'kept')).toBe('COMPLETED');
    await runHello(second, 'another');
    expect(await second.end('SIGINT')).toBe(0);
    expect(folder.processes()).toEqual([]);
  });

  test('says where to look when it is ready, and lends its Temporal CLI', async () => {
    const stack = await startStack(folder.path);
    expect(stack.output()).toContain(stack.note.temporal.uiUrl);
    await until('the examples are stored', 30_000, () => stack.output().includes('example workflows:'));
    expect(stack.output()).not.toContain('Warning');
    await runHello(stack, 'listed');
    const { port } = new URL(stack.note.gateway?.url ?? '');
    for (const where of [{ SIGNALBOX_DATA: folder.path }, { SIGNALBOX_PORT: port }]) {
      const cli = spawnSync(
        process.execPath,
        [join(projectRoot(), 'deploy/temporal.mjs'), 'workflow', 'describe', '--workflow-id', 'listed'],
        { env: { ...process.env, ...where }, encoding: 'utf8' },
      );
      expect(cli.stdout).toContain('COMPLETED');
    }
    await stack.end('SIGTERM');
  });

  test('is refused on a folder where one runs already, naming its process', async () => {
    const stack = await startStack(folder.path);
    const refused = await startToEnd(folder.path);
    expect(refused.code).toBe(1);
    expect(refused.output).toContain(`already (process ${stack.child.pid}`);
    await runHello(stack, 'undisturbed');
    await stack.end('SIGTERM');
  });

  test('refuses a bad setting with its name and exit code 20', async () => {
    const refused = await startToEnd(folder.path, { SIGNALBOX_PORT: 'many' });
    expect(refused.code).toBe(20);
    expect(refused.output).toContain('SIGNALBOX_PORT: expected a whole number');
  });
});
