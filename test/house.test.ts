// The house of design.md §1: which room may know which, and what may not be in the pure ones.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * Arrows, direct ones; each room may also use what these use. Two differ from the drawing: `template` is the ground, since
 * the importers of `definition` must parse expressions to rewrite them, and expressions know of no definition; and `client`
 * knows `history`, since reading a run's trace is reading its history.
 */
const ARROWS: { readonly [room: string]: readonly string[] } = {
  'src/template': [],
  'src/definition': ['src/template'],
  'src/steps': ['src/definition'],
  'src/engine': ['src/steps'],
  'src/check': ['src/steps'],
  'src/history': ['src/engine'],
  'src/config.ts': [],
  'src/log.ts': [],
  'src/actions': ['src/template'],
  'src/client': ['src/definition', 'src/history', 'src/config.ts'],
  'src/gateway': ['src/actions', 'src/client', 'src/check', 'src/history'],
  'src/cli': ['src/actions', 'src/client', 'src/check', 'src/history', 'src/gateway', 'src/log.ts'],
  workflows: ['src/engine'],
  activities: ['src/actions', 'src/definition', 'src/config.ts'],
  workers: ['activities', 'src/client', 'workflows', 'src/log.ts'],
};
const PURE = ['src/template', 'src/definition', 'src/steps', 'src/engine', 'src/check', 'src/history'];
const MOST_LINES = 600;

const sources = ['src', 'workflows', 'activities', 'workers'].flatMap(filesUnder);
const tests = filesUnder('test');
const texts = new Map(sources.map((file) => [file, readFileSync(file, 'utf8')]));

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function roomOf(file: string): string {
  const room = Object.keys(ARROWS).find((name) => file === name || file.startsWith(`${name}/`));
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
      .filter((file) => PURE.includes(roomOf(file)))
      .flatMap((file) => {
        const text = texts.get(file)!;
        const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
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
    const kept = /^(?:export )?(?:let|var) |^(?:export )?const [^=]*= (?:new (?:Map|Set)(?:<[^;]*>)?\(\)|\[\]|\{\});/m;
    const shared = ['src/template', 'src/steps', 'src/engine', 'workflows'];
    const found = sources.filter((file) => shared.includes(roomOf(file)) && kept.test(texts.get(file)!));
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

  it('re-exports nothing: no barrels', () => {
    const barrels = sources.filter((file) => /^export (\*|\{[^}]*\}|type \{[^}]*\}) from /m.test(texts.get(file)!));
    expect(barrels).toEqual(['workflows/all.ts']);
  });

  it('has no long files', () => {
    const long = [...sources, ...tests].filter((file) => readFileSync(file, 'utf8').split('\n').length > MOST_LINES);
    expect(long).toEqual([]);
  });
});
