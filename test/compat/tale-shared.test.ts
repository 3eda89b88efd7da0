/** The definitions that tale shipped (../shared/cases). */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { analyze } from '../../src/check/analysis.ts';
import { check } from '../../src/check/check.ts';
import { toCanonical } from '../../src/compat/dialects.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import type { ProgramAnswer } from '../programs/load.ts';
import { simulateProgram, traceLines, withMockedHost } from '../programs/run.ts';
import { describeSharedCases, taleCases } from '../support/shared-cases.ts';

const stepsOf = (document: JsonObject): readonly JsonObject[] => (document['stepsConfig'] as Json[]).filter(isObject);

/** The actions that the product registered. */
const actions = new Map(
  taleCases.flatMap(({ document }) =>
    stepsOf(document).flatMap(({ stepType, config }) =>
      stepType === 'action' && isObject(config) ? [[String(config['type']), { input: z.unknown() }] as const] : [],
    ),
  ),
);

/** Its last step leaves by a port that the kind cannot give; the other hides its prompt where nobody looks for it. */
const BROKEN = ['/stepsConfig/8/nextSteps/default unknown_port', '/stepsConfig/4/config/llmNode unknown_member'];

const ROUNDS = 40;

/** Answers of steps: data with a member at each path that the definition reads, of other values in each round. */
function answersFor(definition: Definition, round: number): { [slug: string]: ProgramAnswer[] } {
  const trees: JsonObject = {};
  const items: JsonObject = {};
  for (const { references } of analyze(definition).expressionSites)
    for (const { root, path } of references) {
      const [first = '', second, third, ...rest] = path;
      if (root === 'steps' && second === 'output' && third === 'data') grow(trees, [first, ...rest]);
      if (root === 'loop' && first === 'item') grow(items, path.slice(1));
    }
  let count = 0;
  const filled = (tree: JsonObject, isItem = false): Json => {
    const parts = Object.entries(tree);
    const within = ([name, inner]: [string, Json]) => [name, filled(inner as JsonObject, isItem)] as const;
    if (parts.length > 0) {
      const members = parts.map(within);
      return parts.every(([name]) => /^\d+$/.test(name))
        ? members.map(([, member]) => member)
        : Object.fromEntries(members);
    }
    const n = ++count * 7 + round;
    if (isItem || n % 3 > 0) return (n >> 2) % 2 === 0 ? 'x' : n % 5;
    return [filled(items, true)];
  };
  const last = { data: {}, afterMs: 0 };
  return Object.fromEntries(
    Object.keys(definition.steps).map((slug) => [
      slug,
      [{ data: filled((trees[slug] ?? {}) as JsonObject), afterMs: 0 }, last],
    ]),
  );
}

function grow(tree: JsonObject, [part, ...rest]: readonly (string | number)[]): void {
  if (part === undefined) return;
  const inner = tree[part];
  const grown: JsonObject = isObject(inner) ? inner : {};
  tree[part] = grown;
  grow(grown, rest);
}

const sound = taleCases.filter(({ document }) => check(document, { actions }).problems.length === 0);

describeSharedCases('the definitions that tale shipped', () => {
  it('are sound, but for two, where the checker says what is wrong', () => {
    expect(taleCases).toHaveLength(21);
    const told = taleCases.flatMap(({ document }) => check(document, { actions }).problems);
    expect(told.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual(BROKEN);
    expect(sound).toHaveLength(19);
  });

  it('name every action that the host lacks', () => {
    for (const { name, document } of sound) {
      const lacking = check(document).problems.map(({ code }) => code);
      const written = stepsOf(document).filter(
        ({ stepType, config }) => stepType === 'action' && isObject(config) && config['type'] !== 'set_variables',
      );
      expect(lacking, name).toEqual(written.map(() => 'unknown_action'));
    }
  });

  it.each(taleCases)('$name is imported, and says what is lost', ({ document }) => {
    const { dialect, problems, warnings, definition } = toCanonical(document);
    expect(dialect).toBe('000');
    // The kind of workflow that the store kept, and a variable named like a root.
    expect(warnings.map(({ pointer }) => pointer)).toEqual(
      expect.arrayContaining(['/workflowConfig/workflowType', '/workflowConfig/config/variables/organizationId']),
    );
    if (problems.length > 0) return;
    expect(Object.keys(definition?.steps ?? {})).toHaveLength(stepsOf(document).length);
    expect(definition?.steps[definition.start ?? '']?.stepType).toBe('trigger');
  });

  it.each(sound)('$name is walked to its end, whatever its steps answer', ({ name, document }) => {
    const { definition } = toCanonical(document);
    const mock = withMockedHost(definition!);
    const visited = new Set<string>();
    const ends = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const file = {
        ...{ about: name, name, definition: mock, input: {}, signals: [], timeouts: true },
        effects: answersFor(mock, round),
        expect: { status: 'completed' as const },
      };
      const [plain, carried] = [simulateProgram(file), simulateProgram(file, { serializesAlways: true })];
      ends.add(plain.status);
      // An answer of another type may end a run, with an error that says so.
      if (plain.status === 'failed')
        expect(['unresolved_reference', 'expression_type', 'invalid_config']).toContain(plain.error?.code);
      else expect(plain.status).toBe('completed');
      expect(carried.commands).toEqual(plain.commands);
      for (const row of traceLines(plain))
        visited.add(
          row
            .replace(/ .*/, '')
            .replace(/.*\//, '')
            .replace(/[~#].*/, ''),
        );
    }
    expect(visited.size * 3).toBeGreaterThan(Object.keys(mock.steps).length);
    expect(ends.has('completed')).toBe(true);
  });
});
