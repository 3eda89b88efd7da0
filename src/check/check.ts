/**
 * The checker analyses a definition without running it. Each finding has a JSON pointer, a stable code, a sentence and
 * often a hint. The gateway stores a definition only if the checker finds no problem; `signalbox validate` prints both.
 */

import { type Dialect, toCanonical } from '../compat/dialects.ts';
import { withDialectTerms } from '../compat/mesh/messages.ts';
import { definitionHash } from '../definition/document/canonical.ts';
import type { ClearSecret } from '../definition/document/extract-secrets.ts';
import { nearestName } from '../definition/document/names.ts';
import type { Definition, Problem } from '../definition/document/types.ts';
import type { VettedDocument } from '../definition/document/vet.ts';
import { MAX_PROBLEMS } from '../definition/document/zod-problems.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { compile } from '../steps/compile/program.ts';
import { kinds } from '../steps/kinds/table.ts';
import { type Analysis, analyze, emptyFindings, type Findings } from './analysis.ts';
import { checkApprovals } from './approvals.ts';
import { checkConcurrentWrites } from './concurrent-writes.ts';
import { configProblems } from './configs.ts';
import { checkDagReferences } from './dag-references.ts';
import { checkDeclarations } from './declarations.ts';
import { checkHost, type Host } from './host.ts';
import { checkLint } from './lint.ts';
import { checkTools, type KnownTools } from './mcp-tools.ts';
import { checkModifiers } from './modifiers.ts';
import { checkReservedNames } from './reserved-names.ts';
import { checkRootReferences, knownNamesOf } from './root-references.ts';
import { stepOrderOf } from './step-order.ts';
import { positionsOf } from './step-positions.ts';
import { checkStepReferences, referencedSteps } from './step-references.ts';
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
  const converted = toCanonical(document, options.dialect, omitUndefined({ inline, slug }));
  const { dialect, definition, secrets, origin } = converted;
  const problems = [...converted.problems];
  const warnings = [...converted.warnings];
  if (definition === undefined)
    return {
      valid: false,
      dialect,
      problems: deduplicated(problems),
      warnings: deduplicated(warnings),
      secrets,
      ...omitUndefined({ draft: converted.draft }),
    };
  const findings = runChecks(definition, options);
  const toWrittenPointers = (list: readonly Problem[]): Problem[] =>
    list.map((one) => ({
      ...one,
      pointer: origin(one.pointer),
      message: withDialectTerms(definition, one.message),
    }));
  problems.push(...toWrittenPointers(findings.problems));
  warnings.push(...toWrittenPointers(findings.warnings));
  const hash = definitionHash(definition);
  return {
    valid: problems.length === 0,
    dialect,
    problems: deduplicated(problems),
    warnings: deduplicated(warnings),
    hash,
    definition,
    secrets,
  };
}

function runChecks(definition: Definition, host: CheckOptions): Findings {
  const compiled = compile(definition);
  const analysis = analyze(definition, 'program' in compiled ? compiled.program.regions : undefined);
  const findings = emptyFindings();
  findings.problems.push(...configProblems(analysis, host));
  if ('problems' in compiled)
    findings.problems.push(...unreportedProblems(compiled.problems, findings.problems, definition));
  const stepOrder = analysis.isDag ? undefined : stepOrderOf(analysis, trackedSteps(analysis));
  checkWiring(analysis, stepOrder, findings);
  const positions = positionsOf(analysis);
  checkStepReferences(analysis, stepOrder, positions, findings);
  checkRootReferences(analysis, stepOrder, positions, knownNamesOf(analysis), findings);
  checkDagReferences(analysis, findings);
  checkDeclarations(analysis, findings);
  checkReservedNames(analysis, findings);
  checkModifiers(analysis, findings);
  checkConcurrentWrites(analysis, findings);
  checkHost(analysis, host, findings);
  checkApprovals(analysis, host, findings);
  checkTools(analysis, host.tools, findings);
  checkTriggers(definition, findings);
  checkLint(analysis, findings);
  return findings;
}

/** A dry run mocks what the host lacks, so these problems do not prevent it. */
const MOCKED_IN_DRY_RUN: ReadonlySet<string> = new Set(['unknown_action', 'bash_disabled']);

/** The definition, if its problems do not prevent a dry run. */
export function dryRunnable({
  definition,
  problems,
}: Pick<Checked, 'definition' | 'problems'>): Definition | undefined {
  return problems.every(({ code }) => MOCKED_IN_DRY_RUN.has(code)) ? definition : undefined;
}

function* trackedSteps(analysis: Analysis): Iterable<string> {
  yield* referencedSteps(analysis.expressionSites);
  for (const { slug, kind } of analysis.steps.values()) if (kind?.scope === 'loop') yield slug;
}

/** The compiler's problems that a config's schema has not reported yet, with hints for misspelled names. */
function unreportedProblems(
  problems: readonly Problem[],
  reported: readonly Problem[],
  definition: Definition,
): Problem[] {
  const configPointer = (pointer: string): string => pointer.split('/').slice(0, 4).join('/');
  const reportedConfigs = new Set(reported.map(({ pointer }) => configPointer(pointer)));
  return problems
    .filter(({ code, pointer }) => code !== 'invalid_config' || !reportedConfigs.has(configPointer(pointer)))
    .map((problem) => withHint(problem, definition));
}

const KIND_NAMES = kinds.flatMap(({ type, aliases }) => [type, ...(aliases ?? [])]);

function withHint(problem: Problem, definition: Definition): Problem {
  const [, , slug = '', member, port] = problem.pointer.split('/');
  const step = Object.hasOwn(definition.steps, slug) ? definition.steps[slug] : undefined;
  if (step === undefined || problem.hint?.startsWith('Did you mean') === true) return problem;
  const [written, known] =
    problem.code === 'unknown_kind'
      ? [step.stepType, KIND_NAMES]
      : problem.code === 'unknown_step' && member === 'nextSteps'
        ? [step.nextSteps?.[port ?? ''], Object.keys(definition.steps)]
        : [undefined, []];
  const meant = written === undefined ? undefined : nearestName(written, known);
  return meant === undefined ? problem : { ...problem, hint: `Did you mean "${meant}"?` };
}

function deduplicated(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>();
  const unique: Problem[] = [];
  for (const problem of problems) {
    const key = `${problem.pointer}\n${problem.code}\n${problem.message}`;
    if (seen.has(key)) continue;
    seen.add(key);
    unique.push(problem);
    if (unique.length >= MAX_PROBLEMS) break;
  }
  return unique;
}
