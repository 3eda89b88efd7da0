/** Writes a project for workflows. Its files are in deploy/project. */

import { access, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { CliError, EXIT } from './exit.ts';
import { projectRoot } from './start/project-root.ts';

const GITIGNORE = 'node_modules/\n.signalbox/\n';

interface WrittenProject {
  /** The absolute path of the folder. */
  readonly root: string;
  /** Relative paths of the files, sorted. */
  readonly written: readonly string[];
}

/**
 * `place` is where npm takes Signalbox from. Default: the registry, in this version.
 * @throws CliError if one of the files exists; then none is written
 */
export async function writeProject(folder: string, place: string | undefined): Promise<WrittenProject> {
  const root = resolve(folder);
  const template = join(projectRoot(), 'deploy/project');
  const entries = await readdir(template, { recursive: true, withFileTypes: true });
  const copied = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(template, join(entry.parentPath, entry.name)));
  const generated = new Map([
    ['package.json', await manifest(root, place)],
    // A file of that name in the template would count for this repository.
    ['.gitignore', GITIGNORE],
  ]);
  const written = [...copied, ...generated.keys()].sort();
  await demandFree(root, written);
  for (const file of written) {
    const path = join(root, file);
    await mkdir(dirname(path), { recursive: true });
    const content = generated.get(file);
    if (content === undefined) await copyFile(join(template, file), path);
    else await writeFile(path, content);
  }
  return { root, written };
}

async function demandFree(root: string, files: readonly string[]): Promise<void> {
  const found = await Promise.all(
    files.map((file) =>
      access(join(root, file)).then(
        () => [file],
        () => [],
      ),
    ),
  );
  const present = found.flat();
  if (present.length > 0)
    throw new CliError(EXIT.input, `Nothing was written, because these files exist in ${root}:`, present);
}

async function manifest(root: string, place: string | undefined): Promise<string> {
  const own = JSON.parse(await readFile(join(projectRoot(), 'package.json'), 'utf8')) as Manifest;
  const { version, engines, dependencies } = own;
  const name = basename(root)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '');
  const project = {
    name: name === '' ? 'workflows' : name,
    private: true,
    type: 'module',
    engines,
    scripts: {
      start: 'SIGNALBOX_ACTIONS=actions signalbox start',
      test: 'node --test',
      validate: 'SIGNALBOX_ACTIONS=actions signalbox validate definitions/*.yaml',
      push: 'signalbox push definitions/*.yaml',
    },
    dependencies: { signalbox: place ?? version, zod: dependencies['zod'] ?? '*' },
  };
  return `${JSON.stringify(project, null, 2)}\n`;
}

interface Manifest {
  readonly version: string;
  readonly engines: { readonly [name: string]: string };
  readonly dependencies: { readonly [name: string]: string };
}
