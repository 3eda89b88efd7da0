/**
 * The checker analyses a definition without running it. Each finding has a JSON pointer, a stable code, a sentence and
 * often a hint. The gateway stores a definition only if the checker finds no problem; `signalbox validate` prints both.
 */

import { inDialectWords } from '../definition/dialects/dialect-001-messages.ts';
import { type Dialect, toCanonical } from '../definition/dialects/dialects.ts';
import { definitionHash } from '../definition/document/canonical.ts';
import type { ClearSecret } from '../definition/document/extract-secrets.ts';
import { nearest } from '../definition/document/names.ts';
import type { Definition, Problem } from '../definition/document/types.ts';
import type { VettedDocument } from '../definition/document/vet.ts';
import { MAX_PROBLEMS } from '../definition/document/zod-problems.ts';
import { defined } from '../json/defined.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { compile } from '../steps/compile/program.ts';
import { kinds } from '../steps/kinds/table.ts';
import { checkApprovals } from './approvals.ts';
import { checkConcurrentWrites } from './concurrent-writes.ts';
import { configProblems } from './configs.ts';
import { checkDagReferences } from './dag-references.ts';
import { checkDeclarations } from './declarations.ts';
import { checkHost, type Host } from './host.ts';
import { checkLint } from './lint.ts';
import { checkModifiers } from './modifiers.ts';
import { placesOf } from './places.ts';
import { precedence } from './precedence.ts';
import { checkReservedNames } from './reserved-names.ts';
import { checkRootReferences, namesOf } from './root-references.ts';
import { checkStepReferences, stepsRead } from './step-references.ts';
import { type Findings, nothingFound, type Subject, subjectOf } from './subject.ts';
import { checkTools, type KnownTools } from './tools.ts';
import { checkTriggers } from './triggers.ts';
import { checkWiring } from './wiring.ts';

export interface CheckOptions extends Host {
  /** The dialect of the document; detected by default. */
  readonly dialect?: string;
  /** The known MCP tools. Tools are not checked without them. */
  readonly tools?: KnownTools;
  /** For an inline run, which is not stored and needs no name. */
  readonly inline?: boolean;
  /** The slug of the address, for a document that has none. */
  readonly slug?: string;
}

export interface Checked {
  /** Whether there are no problems. Warnings do not count. */
  readonly valid: boolean;
  readonly dialect: Dialect;
  /** With pointers into the document as written, in its dialect. At most 200. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** The hash of `definition`; present if that is. */
  readonly hash?: string;
  /** The canonical definition without clear secrets; present if the document could be read, even with problems. */
  readonly definition?: Definition;
  /** The canonical form of a document whose own form has problems, for drawing it. */
  readonly draft?: JsonObject;
  /** Clear secrets that were removed from the document. */
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
    return {
      valid: false,
      dialect,
      problems: tidy(problems),
      warnings: tidy(warnings),
      secrets,
      ...defined({ draft: converted.draft }),
    };
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
  const findings = nothingFound();
  findings.problems.push(...configProblems(subject, host));
  if ('problems' in compiled) findings.problems.push(...unreported(compiled.problems, findings.problems, definition));
  const before = subject.isDag ? undefined : precedence(subject, trackedSteps(subject));
  checkWiring(subject, before, findings);
  const places = placesOf(subject);
  checkStepReferences(subject, before, places, findings);
  checkRootReferences(subject, before, places, namesOf(subject), findings);
  checkDagReferences(subject, findings);
  checkDeclarations(subject, findings);
  checkReservedNames(subject, findings);
  checkModifiers(subject, findings);
  checkConcurrentWrites(subject, findings);
  checkHost(subject, host, findings);
  checkApprovals(subject, host, findings);
  checkTools(subject, host.tools, findings);
  checkTriggers(definition, findings);
  checkLint(subject, findings);
  return findings;
}

/** A dry run mocks what the host lacks, so these problems do not prevent it. */
const MOCKED: ReadonlySet<string> = new Set(['unknown_action', 'bash_disabled']);

/** The definition, if its problems do not prevent a dry run. */
export function walkable({ definition, problems }: Pick<Checked, 'definition' | 'problems'>): Definition | undefined {
  return problems.every(({ code }) => MOCKED.has(code)) ? definition : undefined;
}

function* trackedSteps(subject: Subject): Iterable<string> {
  yield* stepsRead(subject.readings);
  for (const { slug, kind } of subject.steps.values()) if (kind?.scope === 'loop') yield slug;
}

/** The compiler's problems that a config's schema has not reported yet, with hints for misspelled names. */
function unreported(problems: readonly Problem[], reported: readonly Problem[], definition: Definition): Problem[] {
  const config = (pointer: string): string => pointer.split('/').slice(0, 4).join('/');
  const places = new Set(reported.map(({ pointer }) => config(pointer)));
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
