/**
 * Compiles a definition into a program: every expression and template is parsed once, every duration is in
 * milliseconds, every edge is known. Compiling is pure and needs no zod, so the workflow does it too: a definition that
 * was started without the gateway is refused here with the same problems.
 */

import { traitsOf } from '../../compat/traits.ts';
import { MAX_STATE_BYTES } from '../../definition/document/limits.ts';
import { STEP_SLUG_PATTERN } from '../../definition/document/names.ts';
import { normalizeDocument } from '../../definition/document/normalize.ts';
import type { Definition, Problem } from '../../definition/document/types.ts';
import { asJson } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { childPointer } from '../../json/pointer.ts';
import { parseTemplate } from '../../template/template.ts';
import { CHUNK_STEPS, type Chunks, runChunks } from '../chunks.ts';
import { DAG_STEP } from '../kinds/dag.ts';
import { DEFAULT_MAX_STEPS, type Program, type Step } from '../program-types.ts';
import { findRegions, nodesOf } from '../regions.ts';
import { compileDag } from './compile-dag.ts';
import { compileStep } from './compile-step.ts';
import { duration, type Report, tryOrReport } from './report.ts';
import { RETRY_POLICIES, resolveRetry } from './retry.ts';
import { shapeProblems } from './shape.ts';

const SLUG_HINT = 'Take a letter or _, then letters, digits, _ or -, 64 characters at most.';

/** What a run gets from the worker of its task. */
export type WorkerFacts = Pick<Program, 'dataBytes' | 'isMarked'>;

/** Without a blob store, and with the code as it is now. */
const THIS_WORKER: WorkerFacts = { dataBytes: () => MAX_STATE_BYTES, isMarked: () => true };

/**
 * Compiles a definition, or returns its problems with JSON pointers. Never throws for a mistake in the document,
 * whatever its shape. Short forms (LANGUAGE.md §1) are expanded, since runs that are started by hand bring them as
 * written.
 */
export function compile(written: Definition, worker: Partial<WorkerFacts> = {}): Compiled {
  return runChunks(compileInChunks(written, worker));
}

export type Compiled = { program: Program } | { problems: Problem[] };

/** As `compile`, in chunks of some steps. */
export function* compileInChunks(written: Definition, worker: Partial<WorkerFacts> = {}): Chunks<Compiled> {
  const problems: Problem[] = shapeProblems(written);
  if (problems.length > 0) return { problems };
  const definition = normalizeDocument(asJson(written), { inline: true }) as unknown as Definition;
  const report: Report = (pointer, code, message, hint) => {
    problems.push(hint === undefined ? { pointer, code, message } : { pointer, code, message, hint });
  };
  const slugs = Object.keys(definition.steps);
  if (slugs.length === 0)
    return { problems: [{ pointer: '/steps', code: 'no_steps', message: 'A definition has at least one step.' }] };
  const config = definition.config ?? {};
  const runRetry = resolveRetry(config.retryPolicy, RETRY_POLICIES.default, '/config/retryPolicy', report);
  const steps = new Map<string, Step>();
  for (const [n, slug] of slugs.entries()) {
    if (n % CHUNK_STEPS === 0) yield;
    if (!STEP_SLUG_PATTERN.test(slug) || slug === '__proto__') {
      report(childPointer('/steps', slug), 'invalid_slug', `'${slug}' cannot be a step's slug.`, SLUG_HINT);
      continue;
    }
    const step = compileStep(slug, definition, runRetry, report);
    if (step !== undefined) steps.set(slug, step);
  }
  const isDag = definition.flow === 'dag';
  if (isDag) problems.push(...(yield* compileDag(definition, steps, report)));
  const start = isDag ? DAG_STEP : (definition.start ?? '');
  if (!isDag && !Object.hasOwn(definition.steps, start))
    report('/start', 'unknown_step', `The start '${start}' is no step of this definition.`);
  yield;
  const regions = findRegions(nodesOf(steps), start);
  // Without a container that failed to compile, its body would seem to be outside.
  if (problems.length === 0) problems.push(...regions.problems);
  yield;
  const output =
    definition.output === undefined
      ? undefined
      : tryOrReport('/output', report, () => parseTemplate(definition.output!));
  const timeoutMs = duration(config.timeout, '/config/timeout', report);
  if (problems.length > 0) return { problems };
  for (const [slug, region] of regions.regions) steps.set(slug, { ...steps.get(slug)!, region });
  return {
    program: {
      definition,
      start,
      steps,
      regions,
      maxSteps: config.maxSteps ?? traitsOf(definition.dialect).maxSteps ?? DEFAULT_MAX_STEPS,
      ...omitUndefined({ timeoutMs }),
      rollbackOnFailure: config.onFailure === 'rollback',
      ...omitUndefined({ output }),
      ...THIS_WORKER,
      ...worker,
    },
  };
}
