// The rooms of src/ARCHITECTURE.md §1: which may import which, and what the pure ones may not name.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALONE_FILES, SLOWEST_FILES, SLOWEST_LONG_FILES } from './support/test-sequencer.ts';

/**
 * Which room may import which: direct arrows, and each room may also use what these use. A room is the longest of these
 * paths that a file begins with; folders below a room belong to it.
 */
const ARROWS: { readonly [room: string]: readonly string[] } = {
  activities: [
    'activities/agent',
    'activities/bash',
    'activities/run-code',
    'activities/segment',
    'activities/send-message',
    'src/actions',
  ],
  'activities/agent': ['activities/llm', 'activities/mcp', 'activities/runs', 'src/actions'],
  'activities/bash': ['activities/runtime', 'src/config'],
  'activities/http': ['activities/runtime'],
  'activities/llm': ['activities/http', 'src/definition/payload'],
  'activities/mcp': ['activities/http'],
  'activities/run-code': ['activities/runtime'],
  'activities/runs': ['activities/runtime', 'src/actions'],
  'activities/runtime': ['src/contract'],
  'activities/segment': ['activities/runtime', 'src/engine'],
  'activities/send-message': ['activities/http', 'src/config'],
  'src/actions': ['src/json'],
  'src/api-client': ['src/gateway'],
  'src/check': ['src/compat', 'src/steps/compile'],
  'src/cli': ['src/client/doctor', 'src/gateway'],
  'src/client': ['src/template'],
  'src/client/definitions': ['src/client/triggers', 'src/compat'],
  'src/client/concurrency': ['src/steps'],
  'src/client/doctor': ['src/client/temporal', 'src/config'],
  'src/client/history': ['src/client/temporal'],
  'src/client/organization': ['src/client/versions'],
  'src/client/recordings': ['src/client/organization', 'src/recording'],
  'src/client/payloads': ['src/client', 'src/observe', 'src/temporal-internals'],
  'src/client/runs': ['src/client/starts'],
  'src/client/starts': ['src/client/organization'],
  'src/client/search-attributes': ['src/contract', 'src/temporal-internals'],
  'src/client/temporal': [
    'src/client/concurrency',
    'src/client/payloads',
    'src/client/search-attributes',
    'src/history',
    'src/observe',
  ],
  'src/client/triggers': ['src/client/runs'],
  'src/client/versions': ['src/client/visibility'],
  'src/client/visibility': ['src/client/history'],
  'src/config': ['src/json'],
  'src/console': ['src/definition/payload', 'src/gateway/answers'],
  'src/contract': ['src/definition/document'],
  'src/compat': ['src/compat/agent-ops', 'src/compat/alloy', 'src/compat/mesh', 'src/compat/tale'],
  'src/compat/agent-ops': ['src/definition/import'],
  'src/compat/agent-ops/server': ['src/client/runs'],
  'src/compat/alloy': ['src/definition/import'],
  'src/compat/alloy/server': ['src/gateway/routes/executions'],
  'src/compat/dialect-names.ts': [],
  'src/compat/mesh': ['src/definition/import'],
  'src/compat/tale': ['src/definition/import'],
  'src/compat/traits.ts': ['src/compat/dialect-names.ts'],
  'src/definition/import': ['src/definition/payload'],
  'src/definition/document': ['src/compat/dialect-names.ts', 'src/template'],
  'src/definition/payload': ['src/definition/document'],
  'src/engine': ['src/engine/inbound'],
  'src/engine/inbound': ['src/engine/walk'],
  'src/engine/resume': ['src/engine/inbound'],
  'src/engine/state': ['src/compat/mesh', 'src/steps'],
  'src/engine/walk': ['src/engine/state', 'src/steps/compile'],
  'src/gateway': ['src/compat/alloy/server', 'src/gateway/mcp', 'src/gateway/routes/process'],
  'src/gateway/answers': ['src/steps/kinds'],
  'src/gateway/http': ['src/client/triggers', 'src/gateway/answers', 'src/gateway/threads'],
  'src/gateway/input': ['src/client/definitions', 'src/gateway/http'],
  'src/gateway/manual': [
    'src/gateway/routes/organization',
    'src/gateway/routes/triggers',
    'src/gateway/routes/workflows',
  ],
  'src/gateway/mcp': ['src/gateway/manual', 'src/gateway/routes/recordings'],
  'src/gateway/routes/executions': ['src/compat/agent-ops/server', 'src/gateway/input'],
  'src/gateway/routes/organization': ['src/gateway/http'],
  'src/gateway/routes/process': ['src/gateway/http'],
  'src/gateway/routes/recordings': [
    'src/client/recordings',
    'src/gateway/routes/triggers',
    'src/gateway/routes/workflows',
  ],
  'src/gateway/routes/triggers': ['src/gateway/input', 'src/gateway/webhook-signatures'],
  'src/gateway/routes/workflows': ['src/gateway/routes/executions'],
  'src/gateway/threads': ['src/actions', 'src/check', 'src/gateway/validation', 'src/history'],
  'src/gateway/validation': ['src/definition/document'],
  'src/gateway/webhook-signatures': ['src/client/temporal'],
  'src/history': ['src/engine', 'src/engine/resume'],
  'src/json': [],
  'src/observe': ['src/config', 'src/contract'],
  'src/recording': ['src/contract', 'src/compat/mesh'],
  'src/steps': ['src/compat/traits.ts', 'src/contract'],
  'src/steps/compile': ['src/steps/kinds'],
  'src/steps/config': ['src/definition/payload', 'src/steps'],
  'src/steps/kinds': ['src/steps/config'],
  'src/template': ['src/json'],
  'src/temporal-internals': ['src/json'],
  'src/temporal-internals/cancelled-flag.ts': [],
  workers: ['activities', 'src/client/triggers', 'workflows'],
  workflows: ['workflows/jobs', 'workflows/shell'],
  'workflows/actors': ['src/recording'],
  'workflows/jobs': ['src/contract'],
  'workflows/run': ['src/engine', 'src/engine/resume', 'src/temporal-internals/cancelled-flag.ts'],
  'workflows/shell': ['workflows/actors', 'workflows/run'],
};
const PURE = [
  'workflows/actors',
  'src/json',
  'src/compat',
  'src/contract',
  'src/template',
  'src/definition',
  'src/steps',
  'src/engine',
  'src/recording',
  'src/check',
  'src/history',
];
/** Rooms within pure ones that are not: what servers have for one product only. */
const IMPURE = /^src\/compat\/[\w-]+\/server\//;
/** What reaches into Temporal's SDK; what stands in sdk.ts is all that is imported from inside its packages. */
const INTERNALS = 'src/temporal-internals';
const SDK_FILE = `${INTERNALS}/sdk.ts`;
/** The part of it that is in the bundle of the workflows. */
const FLAG_FILE = `${INTERNALS}/cancelled-flag.ts`;
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;
const MAX_LINES = 600;
const MAX_FILES = 33;
const MAX_COLUMNS = 120;
const MAX_CELL_CHARACTERS = 200;
/** Style sheets and a regular expression, which read no better when they are divided. */
const WITH_LONG_LINES = [
  'src/gateway/manual/page-html.ts',
  'src/gateway/routes/executions/public-pages.ts',
  'src/template/time.ts',
];

/** Files that comments, documents and tests name, and that are not in the repository. */
const NAMES_WITHOUT_FILE: ReadonlySet<string> = new Set([
  // What the build and the bench write.
  'types.d.ts',
  'figures.md',
  'production.md',
  // Placeholders.
  '../file.ts',
  'other.md',
  'test/programs/a.yaml',
  'workflows/definitions/wrong.yaml',
]);

/** The console takes only types from other folders than these, whose code a browser can run (deploy/build.mjs). */
const RUNS_IN_BROWSERS = ['src/console', 'src/json', 'src/template', 'src/definition'];

const FOLDERS = ['src', 'workflows', 'activities', 'workers', 'deploy', 'test'];
const sources = ['src', 'workflows', 'activities', 'workers'].flatMap((folder) =>
  ['.ts', '.tsx'].flatMap((ending) => filesUnder(folder, ending)),
);
const tests = filesUnder('test');
const allCode = FOLDERS.flatMap((folder) =>
  ['.ts', '.tsx', '.mts', '.mjs', '.css'].flatMap((ending) => filesUnder(folder, ending)),
);
/** Scripts of child processes. */
const scripts = ['activities', 'deploy/temporal'].flatMap((folder) => filesUnder(folder, '.mjs'));
const documents = ['src', 'workflows', 'test', 'deploy']
  .flatMap((folder) => filesUnder(folder, '.md'))
  .concat('README.md', 'CHANGELOG.md');
const texts = new Map([...sources, ...scripts].map((file) => [file, readFileSync(file, 'utf8')]));

function filesUnder(folder: string, ending = '.ts'): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function roomOf(file: string): string {
  const room = Object.keys(ARROWS)
    .filter((name) => file === name || file.startsWith(`${name}/`))
    .sort((a, b) => b.length - a.length)[0];
  if (room === undefined) throw new Error(`${file} is in no room.`);
  return room;
}

function importsOf(file: string): { path: string; typeOnly: boolean }[] {
  const found: { path: string; typeOnly: boolean }[] = [];
  for (const match of texts
    .get(file)!
    .matchAll(/^(?:import|export)\s+(type\s)?[^'"`;]*?from '([^']+)'|import\(\s*'([^']+)'\s*\)/gm))
    found.push({ path: match[2] ?? match[3]!, typeOnly: match[1] !== undefined });
  return found;
}

function localImports(file: string): string[] {
  return importsOf(file)
    .filter(({ path }) => path.startsWith('.'))
    .map(({ path }) => normalize(join(dirname(file), path)));
}

/** The room itself, and all that its arrows lead to. */
function mayUse(room: string, seen = new Set<string>()): Set<string> {
  if (seen.has(room)) return seen;
  seen.add(room);
  for (const next of ARROWS[room]!) mayUse(next, seen);
  return seen;
}

describe('the house', () => {
  it('has arrows that go one way', () => {
    const crossing = sources.flatMap((file) => {
      const allowed = mayUse(roomOf(file));
      return localImports(file)
        .filter((target) => !allowed.has(roomOf(target)))
        .map((target) => `${file} → ${target}`);
    });
    expect(crossing).toEqual([]);
  });

  it('runs nothing in browsers but the console and pure code', () => {
    const foreign = sources
      .filter((file) => file.startsWith('src/console/'))
      .flatMap((file) =>
        importsOf(file)
          .filter(({ path, typeOnly }) => path.startsWith('.') && !typeOnly)
          .map(({ path }) => normalize(join(dirname(file), path)))
          .filter((target) => !RUNS_IN_BROWSERS.some((folder) => target.startsWith(`${folder}/`)))
          .map((target) => `${file} → ${target}`),
      );
    expect(foreign).toEqual([]);
  });

  it('has no circles between files', () => {
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      if (done.has(file) || path.includes(file)) return;
      for (const target of localImports(file)) if (texts.has(target)) visit(target, [...path, file]);
      done.add(file);
    };
    for (const file of sources) visit(file, []);
    expect(circles).toEqual([]);
  });

  it('keeps Temporal, Node, clocks and promises out of the pure rooms', () => {
    const impure = sources
      .filter((file) => PURE.some((folder) => file.startsWith(`${folder}/`)) && !IMPURE.test(file))
      .flatMap((file) => {
        const text = texts.get(file)!;
        const code = text.replace(COMMENT, '');
        return [
          ...importsOf(file)
            .filter(({ path }) => /^(node:|@temporalio\/)/.test(path))
            .map(({ path }) => `${file} imports ${path}`),
          ...[
            ...code.matchAll(
              /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\basync\s|\bawait\s|\bsetTimeout\(|\bprocess\./g,
            ),
          ].map(([what]) => `${file} uses ${what}`),
        ];
      });
    expect(impure).toEqual([]);
  });

  it('keeps nothing in the modules of workflows, which all runs of a worker share', () => {
    const mutable =
      /^(?:export )?(?:let|var) |^(?:export )?const [^=]*= (?:new (?:Map|Set)(?:<[^;]*>)?\(\)|\[\]|\{\});/m;
    const shared = ['src/contract', 'src/template', 'src/steps', 'src/engine', 'src/recording', 'workflows', FLAG_FILE];
    const found = sources.filter(
      (file) => shared.some((one) => file === one || file.startsWith(`${one}/`)) && mutable.test(texts.get(file)!),
    );
    expect(found).toEqual([]);
  });

  it('lets only the client talk to Temporal from outside', () => {
    const talking = sources
      .filter((file) => /^src\/(gateway|cli)\//.test(file))
      .flatMap((file) =>
        importsOf(file)
          .filter(({ path, typeOnly }) => path.startsWith('@temporalio/') && !typeOnly && path !== '@temporalio/common')
          .map(({ path }) => `${file} imports ${path}`),
      );
    expect(talking).toEqual([]);
  });

  it("reaches into the SDK's packages by one file, and by one of the tests", () => {
    const reaching = [...sources, ...tests, ...scripts].filter((file) =>
      /['"`]@temporalio\/[a-z-]+\/(?:lib|src)\b/.test(texts.get(file) ?? readFileSync(file, 'utf8')),
    );
    expect(reaching.filter((file) => file !== 'test/house.test.ts')).toEqual([SDK_FILE, 'test/support/sdk.ts']);
  });

  it("changes the SDK's classes in one room, whose README lists its files", () => {
    const changing = sources
      .filter((file) => !file.startsWith(`${INTERNALS}/`))
      .filter((file) => /__TEMPORAL_|prototype(?:\.\w+)? = |assign\([\w.]*prototype/.test(texts.get(file)!));
    expect(changing).toEqual([]);
    const readme = readFileSync(join(INTERNALS, 'README.md'), 'utf8');
    const unlisted = filesUnder(INTERNALS).filter((file) => !readme.includes(`\`${basename(file)}\``));
    expect(unlisted).toEqual([]);
  });

  it('re-exports nothing: no barrels', () => {
    const barrels = sources.filter((file) => /^export (\*|\{[^}]*\}|type \{[^}]*\}) from /m.test(texts.get(file)!));
    expect(barrels).toEqual([SDK_FILE, 'workflows/all.ts']);
  });

  it('exports only what another file names, but for signalbox/action', () => {
    const files = [...sources, ...tests, ...scripts, ...filesUnder('deploy', '.mjs')];
    const namedIn = new Map<string, number>();
    for (const file of files)
      for (const word of new Set(readFileSync(file, 'utf8').match(/\w+/g)))
        namedIn.set(word, (namedIn.get(word) ?? 0) + 1);
    const exported =
      /^export (?:declare |async |abstract )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
    const unnamed = sources
      .filter((file) => file !== 'src/actions/define.ts')
      .flatMap((file) =>
        [...texts.get(file)!.matchAll(exported)]
          .filter(([, name]) => namedIn.get(name!) === 1)
          .map(([, name]) => `${file}: ${name}`),
      );
    expect(unnamed).toEqual([]);
  });

  it('has no crowded folders', () => {
    const counts = new Map<string, number>();
    for (const file of [...sources, ...tests]) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > MAX_FILES)).toEqual([]);
  });

  it('has only packages that it uses, each in one version', () => {
    const { dependencies, optionalDependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const packageOf = (path: string): string => path.split('/', path.startsWith('@') ? 2 : 1).join('/');
    const imported = new Set(
      [...sources.filter((file) => !file.startsWith('src/console/')), ...scripts]
        .flatMap((file) => importsOf(file).filter(({ path, typeOnly }) => !typeOnly && /^[@\w]/.test(path)))
        .map(({ path }) => packageOf(path)),
    );
    expect(Object.keys(dependencies).filter((name) => !imported.has(name))).toEqual([]);
    // Packages of a platform are found at run time.
    const installed = { ...dependencies, ...optionalDependencies };
    expect([...imported].filter((name) => !(name in installed || name.startsWith('node:')))).toEqual([]);
    const users = [
      ...['src/console', 'test', 'deploy'].flatMap((folder) =>
        ['.ts', '.tsx', '.mjs'].flatMap((ending) => filesUnder(folder, ending)),
      ),
      'vitest.config.ts',
    ].map((file) => readFileSync(file, 'utf8'));
    const isUsed = (name: string): boolean =>
      users.some((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`) || text.includes(`/${name}/`));
    const unused = Object.keys(devDependencies).filter((name) => {
      const typed = name.replace(/^@types\//, '');
      return !(name === '@types/node' || imported.has(typed) || isUsed(typed));
    });
    expect(unused).toEqual([]);
    const all = { ...installed, ...devDependencies } as { [name: string]: string };
    expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it('has one assert, which workflows and browsers have too', () => {
    const asserting = sources.filter((file) => /\bfunction assert\b|['"](?:node:)?assert\b/.test(texts.get(file)!));
    expect(asserting).toEqual(['src/json/assert.ts']);
  });

  it('cites only documents that are in the repository, and sections that they have', () => {
    const named = new Map(documents.map((file) => [basename(file), readFileSync(file, 'utf8')]));
    const missing = [...sources, ...tests].flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\b([A-Z]{4,}\.md)(?: §(\d+))?/g)]
        .filter(([, name, section]) => {
          const text = named.get(name!);
          return text === undefined || (section !== undefined && !new RegExp(`^## ${section} `, 'm').test(text));
        })
        .map(([cited]) => `${file}: ${cited}`),
    );
    const numbered = [...sources, ...tests].filter((file) => /\bdocuments? 00\d/i.test(readFileSync(file, 'utf8')));
    expect([...missing, ...numbered]).toEqual([]);
  });

  it('names only files that exist, in comments and in documents', () => {
    const whole =
      /(?<![\w/.-])((?:src|workflows|activities|workers|deploy|test)\/[\w/.-]+\.(?:tsx?|m[tj]s|md|yaml))(?!\w)/g;
    const named = /(?<![\w/.@<>{}*$-])((?:[\w.-]+\/)*[\w-][\w.-]*\.(?:tsx?|m[tj]s|md|css))(?![\w-])/g;
    const comments = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
    const files = [...FOLDERS.flatMap((folder) => filesUnder(folder, '')), ...readdirSync('.')];
    // A name may leave out the first folders of its path.
    const endings = new Set(
      files.flatMap((file) => {
        const parts = file.split('/');
        return parts.map((_, at) => parts.slice(at).join('/'));
      }),
    );
    const isThere = (file: string, name: string): boolean =>
      endings.has(name) || existsSync(join(dirname(file), name)) || NAMES_WITHOUT_FILE.has(name);
    const missing = [...allCode, ...documents].flatMap((file) => {
      const text = readFileSync(file, 'utf8');
      const words = file.endsWith('.md') ? text : (text.match(comments) ?? []).join('\n');
      return [
        ...[...text.matchAll(whole)].filter(([, path]) => !existsSync(path!) && !NAMES_WITHOUT_FILE.has(path!)),
        ...[...words.matchAll(named)].filter(([, name]) => !isThere(file, name!)),
      ].map(([, name]) => `${file}: ${name}`);
    });
    expect(missing).toEqual([]);
  });

  it('orders only test files that exist', () => {
    const named = [...SLOWEST_FILES, ...SLOWEST_LONG_FILES, ...ALONE_FILES];
    expect(named.filter((file) => !existsSync(file))).toEqual([]);
  });

  it('has no test that fails where the machine is slow: work is counted, and durations only in the bench', () => {
    const measured = [
      /cpuUsage\(|monitorEventLoopDelay/,
      /(?:Date|performance)\.now\(\) - \w+\)\.toBeLess/,
      /expect\((?:Date|performance)\.now\(\)\)/,
    ];
    const clocks = filesUnder('test', '.ts')
      .filter((file) => !file.startsWith('test/bench/') && file !== 'test/house.test.ts')
      .filter((file) => measured.some((form) => form.test(readFileSync(file, 'utf8'))));
    expect(clocks).toEqual([]);
  });

  it('has no long lines', () => {
    const long = allCode
      .filter((file) => !WITH_LONG_LINES.includes(file))
      .flatMap((file) =>
        readFileSync(file, 'utf8')
          .split('\n')
          .flatMap((line, index) => (line.length > MAX_COLUMNS ? [`${file}:${index + 1}`] : [])),
      );
    expect(long).toEqual([]);
  });

  it('has documents that read well as they are: no long lines, no long cells of tables', () => {
    const long = documents.flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line, index) => {
          const isLong = line.startsWith('|')
            ? line.split(/(?<!\\)\|/).some((cell) => cell.trim().length > MAX_CELL_CHARACTERS)
            : line.length > MAX_COLUMNS && !/^\[[^\]]*\]\([^)]*\)$/.test(line);
          return isLong ? [`${file}:${index + 1}`] : [];
        }),
    );
    expect(long).toEqual([]);
  });

  it('has no long files', () => {
    const long = [...sources, ...tests].filter((file) => readFileSync(file, 'utf8').split('\n').length > MAX_LINES);
    expect(long).toEqual([]);
  });
});
