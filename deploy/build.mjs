// Compiles to dist/, bundles the workflows and builds the console, each only if its sources have changed. It does not
// check types, so that a start does not wait for it (`npm run typecheck` does). `--cli` also builds the package
// signalbox-cli, in dist/cli.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';
import { run, say } from './progress.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** Folders of src that workflow code never imports, so that their changes do not affect the bundle. */
const OUTSIDE_THE_BUNDLE = [
  'src/gateway',
  'src/api-client',
  'src/cli',
  'src/client',
  'src/check',
  'src/history',
  'src/console',
  'src/compat/agent-ops/server',
  'src/compat/alloy/server',
];

/** The console, and the folders whose code runs in it too (test/house.test.ts). */
const IN_CONSOLE = ['src/console', 'src/json', 'src/template', 'src/definition', 'src/compat'];

/** The pages of the manual, and the programs of which they show some as examples. */
const PAGES = 'src/gateway/manual/pages';
const PROGRAMS = 'test/programs';

/** The folder of the console in dist. */
const CONSOLE = 'console';

function filesUnder(folder) {
  const absolute = join(root, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

function currentHashes() {
  const sources = ['src', 'workflows', 'activities', 'workers', PROGRAMS]
    .flatMap(filesUnder)
    .filter((file) => !file.startsWith('src/console/'));
  const settings = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'deploy/tsconfig.build.json',
    'deploy/tsconfig.types.json',
    'deploy/build.mjs',
  ];
  const inBundle = sources.filter(
    (file) =>
      (file.startsWith('src/') || file.startsWith('workflows/') || file === 'workers/bundle.ts') &&
      !OUTSIDE_THE_BUNDLE.some((folder) => file.startsWith(`${folder}/`)),
  );
  return {
    code: hashOf([...settings, ...sources]),
    bundle: hashOf([...settings, ...inBundle]),
    console: hashOf([...settings, 'deploy/console.mjs', ...IN_CONSOLE.flatMap(filesUnder)]),
  };
}

function builtHashes() {
  try {
    return JSON.parse(readFileSync(join(dist, 'built.json'), 'utf8'));
  } catch {
    return {};
  }
}

/** Builds outdated parts. Returns whether anything was built. */
export async function build() {
  return withLock(
    join(root, 'node_modules', '.signalbox-build.lock'),
    (holder) => say(`Waiting for the build of process ${holder.pid}.`),
    async () => {
      const wanted = currentHashes();
      const have = builtHashes();
      const isCodeNew = have.code !== wanted.code || have.bundle !== wanted.bundle;
      const isConsoleNew = have.console !== wanted.console || !existsSync(join(dist, CONSOLE));
      if (!isCodeNew && !isConsoleNew) return false;
      // Built in a separate folder and swapped, so that processes in dist never see a partial build.
      // Its name is in the bundle, whose hash is the version of workers, so it is the same in each build.
      const next = join(dist, '.next');
      rmSync(next, { recursive: true, force: true });
      mkdirSync(next, { recursive: true });
      try {
        await Promise.all([
          isCodeNew ? compile(next, have.bundle === wanted.bundle) : undefined,
          isConsoleNew ? buildConsole(next) : undefined,
        ]);
        writeFileSync(join(next, 'built.json'), JSON.stringify(wanted));
        swap(next, isCodeNew ? (isConsoleNew ? [] : [CONSOLE]) : readdirSync(dist));
      } finally {
        rmSync(next, { recursive: true, force: true });
      }
      return true;
    },
  );
}

/** Compiles, and bundles the workflows unless the bundle in dist is that of these sources. */
async function compile(next, isBundled) {
  say('Compiling.');
  await Promise.all(
    ['deploy/tsconfig.build.json', 'deploy/tsconfig.types.json'].map((project) =>
      run('Compiling', process.execPath, [
        join(root, 'node_modules/typescript/bin/tsc'),
        ...['-p', join(root, project), '--outDir', next],
      ]),
    ),
  );
  // Scripts of child processes are plain JavaScript.
  cpSync(join(root, 'activities'), join(next, 'activities'), {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || path.endsWith('.mjs'),
  });
  // The pages of the manual are Markdown.
  copyFiles(PAGES, next, (name) => name.endsWith('.md'));
  const shown = readdirSync(join(next, PAGES)).map((name) => readFileSync(join(next, PAGES, name), 'utf8'));
  copyFiles(PROGRAMS, next, (name) => shown.some((page) => page.includes(`${PROGRAMS}/${name} `)));
  const bundle = 'workflow-bundle.js';
  const client = join(next, 'src/api-client');
  const isNew = !isBundled || !existsSync(join(dist, bundle));
  if (isNew) say('Bundling the workflows.');
  else cpSync(join(dist, bundle), join(next, bundle));
  // The bundle names modules by their paths below the working directory.
  const bundling = [join(next, 'workers/bundle.js'), join(next, bundle)];
  await Promise.all([
    isNew && run('Bundling the workflows', process.execPath, bundling, { cwd: root }),
    run('Writing types', process.execPath, [join(client, 'write-types.js'), join(client, 'types.d.ts')]),
  ]);
  chmodSync(join(next, 'src/cli/main.js'), 0o755);
}

async function buildConsole(next) {
  say('Building the console.');
  await run('Building the console', process.execPath, [join(root, 'deploy/console.mjs'), join(next, CONSOLE)]);
}

/** Copies the files of a folder whose names are wanted to the same path in `next`. */
function copyFiles(folder, next, isWanted) {
  mkdirSync(join(next, folder), { recursive: true });
  for (const name of readdirSync(join(root, folder)))
    if (isWanted(name)) cpSync(join(root, folder, name), join(next, folder, name));
}

/** Puts what was built in the place of what is in dist, and removes the rest of dist but the names in `kept`. */
function swap(next, kept) {
  for (const name of readdirSync(dist)) {
    if (name === '.next' || kept.includes(name) || existsSync(join(next, name))) continue;
    rmSync(join(dist, name), { recursive: true, force: true });
  }
  for (const name of readdirSync(next).sort((a, b) => Number(a === 'built.json') - Number(b === 'built.json'))) {
    const old = join(dist, `.next-${process.pid}-${name}.old`);
    if (existsSync(join(dist, name))) renameSync(join(dist, name), old);
    renameSync(join(next, name), join(dist, name));
    rmSync(old, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    say((await build()) ? 'Built.' : 'The build is up to date.');
    if (process.argv.includes('--cli'))
      await run('Building signalbox-cli', process.execPath, [join(root, 'deploy/cli/build.mjs'), join(dist, 'cli')]);
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
