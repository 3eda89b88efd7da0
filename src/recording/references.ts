/**
 * References of recorded steps: `@input.field` and `@name.field` in the input of a step. They are
 * resolved as a run resolves them, by the same importer and the same templates, so a replay gives the same values.
 */

import { withDialectTerms } from '../compat/mesh/messages.ts';
import { MESH_ROOTS, References, referencedNames, wholeReference } from '../compat/mesh/references.ts';
import type { RecordedStep } from '../contract/definitions/recording.ts';
import { didYouMean, STEP_SLUG_PATTERN } from '../definition/document/names.ts';
import type { Definition, Problem } from '../definition/document/types.ts';
import { ImportContext } from '../definition/import/import-context.ts';
import { isObject, type Json, type JsonObject, setOwn } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { childPointer } from '../json/pointer.ts';
import { evaluate, parseExpression } from '../template/expression.ts';
import { objectScope } from '../template/scope.ts';
import { parseTemplate, render } from '../template/template.ts';
import { TemplateError } from '../template/types.ts';

const MAX_PROBLEMS = 20;
/** References in one input, and the elements that they read. */
const MAX_REFERENCES = 1_000;
const MAX_EVALUATION_WORK = 2_000_000;
const MAX_QUOTED_LENGTH = 80;
/** References only read paths: no clock is asked. */
const EVALUATION_OPTIONS = { now: 0, maxWork: MAX_EVALUATION_WORK };

/** What references can refer to. */
interface ReferenceSources {
  readonly input: Json;
  readonly steps: readonly Pick<RecordedStep, 'name' | 'status' | 'output'>[];
}

type Resolution = { readonly value: Json } | { readonly problems: readonly Problem[] };

/**
 * The value with its references replaced. Problems: `unknown_reference` (no step has the name),
 * `unresolved_reference` (the step has no output, or its output has no such member).
 */
export function resolve(written: Json, sources: ReferenceSources): Resolution {
  const known = indexSources(sources);
  const problems: Problem[] = [];
  try {
    eachText(written, '', (text, pointer) => {
      const found = problems.length < MAX_PROBLEMS ? problemOf(text, known) : undefined;
      if (found !== undefined) problems.push({ pointer, ...found });
    });
    if (problems.length > 0) return { problems };
    return { value: render(parseTemplate(known.references.value(written, '')), known.scope, EVALUATION_OPTIONS).value };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const { pointer = '', code } = error;
    return { problems: [{ pointer, code, message: withDialectTerms(known.definition, error.message) }] };
  }
}

/** References to names that neither a step nor a root has, in a step that is not resolved yet. */
export function unknownReferences(written: Json, names: readonly string[]): readonly Problem[] {
  const problems: Problem[] = [];
  eachText(written, '', (text, pointer) => {
    const name = wholeReference(text);
    if (name !== undefined && STEP_SLUG_PATTERN.test(name) && !MESH_ROOTS.has(name) && !names.includes(name))
      problems.push({ pointer, ...unknownReference(text, name, names) });
  });
  return problems.slice(0, MAX_PROBLEMS);
}

/** As the names that recorded calls get. */
const RECORDED_NAME = /_\d+$/;

/**
 * References within texts to steps that the recording does not have. There an `@` may be a letter like others, so only
 * names in the form of recorded ones count: `@get_user_1`, not `@bob`.
 */
export function unknownReferencesInText(written: Json, names: readonly string[]): readonly Problem[] {
  const problems: Problem[] = [];
  eachText(written, '', (text, pointer) => {
    if (wholeReference(text) !== undefined) return;
    const stray = referencedNames(text).find((name) => RECORDED_NAME.test(name) && !names.includes(name));
    if (stray === undefined) return;
    const { message: _of, ...problem } = unknownReference(text, stray, names);
    const message = `"@${stray.slice(0, MAX_QUOTED_LENGTH)}" within a text refers to no step of this recording.`;
    problems.push({ pointer, ...problem, message });
  });
  return problems.slice(0, MAX_PROBLEMS);
}

/** Whether the value refers to the step. */
export function refersTo(written: Json, step: string): boolean {
  let found = false;
  eachText(written, '', (text) => {
    found ||= referencedNames(text).includes(step);
  });
  return found;
}

/** Every text of a value, keys included, with its place. A key has the place of its member. */
export function eachText(value: Json, at: string, act: (text: string, pointer: string) => void): void {
  if (typeof value === 'string') act(value, at);
  if (Array.isArray(value)) for (const [index, item] of value.entries()) eachText(item, childPointer(at, index), act);
  if (!isObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    const pointer = childPointer(at, key);
    act(key, pointer);
    eachText(member, pointer, act);
  }
}

interface SourceIndex {
  readonly sources: ReferenceSources;
  readonly byName: ReadonlyMap<string, ReferenceSources['steps'][number]>;
  readonly references: References;
  readonly scope: ReturnType<typeof objectScope>;
  readonly meter: { references: number; units: number };
  /** For the words of messages. */
  readonly definition: Definition;
}

function indexSources(sources: ReferenceSources): SourceIndex {
  const { input, steps } = sources;
  const outputs: JsonObject = {};
  const shells: { [slug: string]: { stepType: string } } = {};
  for (const { name, output = null } of steps) {
    setOwn(outputs, name, { output: { data: output, meta: {} } });
    setOwn(shells, name, { stepType: 'tool' });
  }
  return {
    sources,
    byName: new Map(steps.map((step) => [step.name, step])),
    references: new References(new Map(steps.map(({ name }) => [name, name])), new ImportContext(), new Set()),
    scope: objectScope({ input, steps: outputs }),
    meter: { references: 0, units: 0 },
    definition: { name: '', slug: '', dialect: '001', steps: shells } as Definition,
  };
}

type FoundProblem = Omit<Problem, 'pointer'>;

const LIMIT_PROBLEM: FoundProblem = {
  code: 'expression_limit',
  message: 'The input has too many references, or too large ones.',
};

function problemOf(text: string, known: SourceIndex): FoundProblem | undefined {
  const whole = wholeReference(text);
  for (const name of referencedNames(text)) {
    if (name === 'input') continue;
    const step = known.byName.get(name);
    if (step === undefined) {
      // Within a text, and before a name that no step can have, the `@` is a letter like others.
      const isReference = MESH_ROOTS.has(name) || (whole !== undefined && STEP_SLUG_PATTERN.test(name));
      if (isReference) return unknownReference(text, name, [...known.byName.keys()]);
    } else if (step.status !== 'completed') return unfinishedStep(step);
  }
  if (whole === undefined || !(whole === 'input' || known.byName.has(whole))) return undefined;
  const { meter } = known;
  meter.references += 1;
  if (meter.references > MAX_REFERENCES || meter.units > MAX_EVALUATION_WORK) return LIMIT_PROBLEM;
  const value = evaluate(parseExpression(known.references.path(text, '')), known.scope, {
    ...EVALUATION_OPTIONS,
    meter,
  });
  return value === undefined ? missingValue(text, whole, known) : undefined;
}

function unknownReference(text: string, name: string, names: readonly string[]): FoundProblem {
  const quoted = text.slice(0, MAX_QUOTED_LENGTH);
  const message = MESH_ROOTS.has(name)
    ? `"${quoted}" belongs to an iteration, and a recorded call is none. Refer to @input or to a step.`
    : `"${quoted}" refers to no step of this recording.`;
  const hint = didYouMean(name, ['input', ...names]);
  return { code: 'unknown_reference', message, ...omitUndefined({ hint }) };
}

const unfinishedStep = ({ name, status }: ReferenceSources['steps'][number]): FoundProblem => ({
  code: 'unresolved_reference',
  message: `The step "${name}" has no output: it is ${status}. Set its output, or refer to another step.`,
});

function missingValue(text: string, name: string, { byName, sources }: SourceIndex): FoundProblem {
  const root = name === 'input' ? sources.input : (byName.get(name)?.output ?? null);
  const members = isObject(root) ? Object.keys(root).slice(0, MAX_PROBLEMS) : [];
  const hint =
    members.length > 0
      ? `@${name} has the members ${members.join(', ')}.`.slice(0, 400)
      : `@${name} is ${Array.isArray(root) ? 'a list' : `of type ${root === null ? 'null' : typeof root}`}.`;
  return {
    code: 'unresolved_reference',
    message: `"${text.slice(0, MAX_QUOTED_LENGTH)}" has no value. ${hint}`,
    hint,
  };
}
