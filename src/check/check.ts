/**
 * The checker: everything that can be known of a definition without running it, each finding with the place, a stable
 * code, what was expected, and how to mend it. It is what the gateway saves by and what `signalbox validate` prints.
 */

import { inDialectWords } from '../definition/dialects/dialect-001-words.ts';
import { type Dialect, toCanonical } from '../definition/dialects/dialects.ts';
import { definitionHash } from '../definition/document/canonical.ts';
import { MAX_PROBLEMS } from '../definition/document/issues.ts';
import { nearest } from '../definition/document/names.ts';
import type { ClearSecret } from '../definition/document/secrets-out.ts';
import type { Definition, Problem } from '../definition/document/types.ts';
import type { VettedDocument } from '../definition/document/vet.ts';
import { defined } from '../json/defined.ts';
import type { Json } from '../json/json.ts';
import { compile } from '../steps/compile/program.ts';
import { kinds } from '../steps/kinds/table.ts';
import { checkApprovals } from './approvals.ts';
import { precedence } from './before.ts';
import { configProblems } from './configs.ts';
import { checkDagReferences } from './dag-references.ts';
import { checkDeclared } from './declared.ts';
import { checkHost, type Host } from './host.ts';
import { checkLint } from './lint.ts';
import { checkModifiers } from './modifiers.ts';
import { checkNaming } from './naming.ts';
import { placesOf } from './places.ts';
import { checkRootReferences, namesOf } from './root-references.ts';
import { checkStepReferences, stepsRead } from './step-references.ts';
import { type Findings, type Subject, subjectOf } from './subject.ts';
import { checkTools, type KnownTools } from './tools.ts';
import { checkTriggers } from './triggers.ts';
import { checkWiring } from './wiring.ts';
import { checkWrites } from './writes.ts';

export interface CheckOptions extends Host {
  /** The dialect that the document is in; detected if left out. */
  readonly dialect?: string;
  /** The MCP tools that are known; nothing is said of tools where they are not given. */
  readonly tools?: KnownTools;
  /** A run of its own, not to be stored: it needs no name. */
  readonly inline?: boolean;
  /** The slug of the address, for a document that has none. */
  readonly slug?: string;
}

export interface Checked {
  /** No problems; warnings do not count. */
  readonly valid: boolean;
  readonly dialect: Dialect;
  /** Pointers are those of the document as written, in its dialect. At most 200. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Of the canonical form; present whenever that is. */
  readonly hash?: string;
  /** The canonical definition, without clear secrets; present where the document could be read, also with problems. */
  readonly definition?: Definition;
  /** Clear secrets that were taken out of the document. */
  readonly secrets: readonly ClearSecret[];
}

/** Checks a document in any dialect. Never throws, and always ends, whatever the document is. */
export function check(document: Json | VettedDocument, options: CheckOptions = {}): Checked {
  const { inline, slug } = options;
  const converted = toCanonical(document, options.dialect, defined({ inline, slug }));
  const { dialect, definition, secrets, origin } = converted;
  const problems = [...converted.problems];
  const warnings = [...converted.warnings];
  if (definition === undefined)
    return { valid: false, dialect, problems: tidy(problems), warnings: tidy(warnings), secrets };
  const found = examine(definition, options);
  const placed = (list: readonly Problem[]): Problem[] =>
    list.map((one) => ({
      ...one,
      pointer: origin(one.pointer),
      message: inDialectWords(definition, one.message),
    }));
  problems.push(...placed(found.problems));
  warnings.push(...placed(found.warnings));
  const hash = definitionHash(definition);
  return {
    valid: problems.length === 0,
    dialect,
    problems: tidy(problems),
    warnings: tidy(warnings),
    hash,
    definition,
    secrets,
  };
}

function examine(definition: Definition, host: CheckOptions): Findings {
  const compiled = compile(definition);
  const subject = subjectOf(definition, 'program' in compiled ? compiled.program.regions : undefined);
  const findings: Findings = { problems: configProblems(subject, host), warnings: [] };
  if ('problems' in compiled) findings.problems.push(...untold(compiled.problems, findings.problems, definition));
  const before = subject.isDag ? undefined : precedence(subject, trackedSteps(subject));
  checkWiring(subject, before, findings);
  const places = placesOf(subject);
  checkStepReferences(subject, before, places, findings);
  checkRootReferences(subject, before, places, namesOf(subject), findings);
  checkDagReferences(subject, findings);
  checkDeclared(subject, findings);
  checkNaming(subject, findings);
  checkModifiers(subject, findings);
  checkWrites(subject, findings);
  checkHost(subject, host, findings);
  checkApprovals(subject, host.persons, findings);
  checkTools(subject, host.tools, findings);
  checkTriggers(definition, findings);
  checkLint(subject, findings);
  return findings;
}

/** What the host lacks does not matter to a walk that performs nothing: such steps are mocked, and reported. */
const MOCKED: ReadonlySet<string> = new Set(['unknown_action', 'bash_disabled']);

/** The definition, where a walk without effects can do with what is wrong with it. */
export function walkable({ definition, problems }: Pick<Checked, 'definition' | 'problems'>): Definition | undefined {
  return problems.every(({ code }) => MOCKED.has(code)) ? definition : undefined;
}

function* trackedSteps(subject: Subject): Iterable<string> {
  yield* stepsRead(subject.readings);
  for (const { slug, kind } of subject.steps.values()) if (kind?.scope === 'loop') yield slug;
}

/** The compiler's problems, but for those that a config's schema has told already, and with hints where names are near. */
function untold(problems: readonly Problem[], told: readonly Problem[], definition: Definition): Problem[] {
  const config = (pointer: string): string => pointer.split('/').slice(0, 4).join('/');
  const places = new Set(told.map(({ pointer }) => config(pointer)));
  return problems
    .filter(({ code, pointer }) => code !== 'invalid_config' || !places.has(config(pointer)))
    .map((problem) => hinted(problem, definition));
}

const KIND_NAMES = kinds.flatMap(({ type, aliases }) => [type, ...(aliases ?? [])]);

function hinted(problem: Problem, definition: Definition): Problem {
  const [, , slug = '', member, port] = problem.pointer.split('/');
  const step = Object.hasOwn(definition.steps, slug) ? definition.steps[slug] : undefined;
  if (step === undefined || problem.hint?.startsWith('Did you mean') === true) return problem;
  const [written, known] =
    problem.code === 'unknown_kind'
      ? [step.stepType, KIND_NAMES]
      : problem.code === 'unknown_step' && member === 'nextSteps'
        ? [step.nextSteps?.[port ?? ''], Object.keys(definition.steps)]
        : [undefined, []];
  const meant = written === undefined ? undefined : nearest(written, known);
  return meant === undefined ? problem : { ...problem, hint: `Did you mean "${meant}"?` };
}

function tidy(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>();
  const kept: Problem[] = [];
  for (const problem of problems) {
    const key = `${problem.pointer}\n${problem.code}\n${problem.message}`;
    if (seen.has(key)) continue;
    seen.add(key);
    kept.push(problem);
    if (kept.length >= MAX_PROBLEMS) break;
  }
  return kept;
}
