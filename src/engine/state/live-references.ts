/**
 * The outputs that a run can still read (LANGUAGE.md §12). Continue-as-new drops the others. The trace still shows
 * them, since it is read from history.
 */
import type { Program, Step } from '../../steps/program-types.ts';
import { references } from '../../template/references.ts';
import type { Reference } from '../../template/types.ts';
import type { RunState } from './state.ts';

interface LiveReferences {
  /** Whether `steps[slug]` may be read. */
  entry(slug: string): boolean;
  /** Whether `outputs[name]` may be read. */
  output(name: string): boolean;
}

const ALL: LiveReferences = { entry: () => true, output: () => true };

/** The references of all steps that are reachable from the current ones, and of the definition's output. */
export function liveReferences(program: Program, state: RunState): LiveReferences {
  // In a dag any step may be read later, and terminal steps are the output.
  if (program.definition.flow === 'dag') return ALL;
  const reads = readsOf(program);
  const entries = new Set(reads.always.entries);
  const outputs = new Set(reads.always.outputs);
  for (const slug of reachable(program, state)) {
    const read = reads.steps.get(slug);
    for (const name of read?.entries ?? []) entries.add(name);
    for (const name of read?.outputs ?? []) outputs.add(name);
  }
  return {
    entry: (slug) => entries.has(slug) || entries.has(ANY),
    output: (name) => outputs.has(name) || outputs.has(ANY),
  };
}

/** Stands for a computed name. No step has this slug. */
const ANY = '*';

interface Reads {
  readonly entries: ReadonlySet<string>;
  readonly outputs: ReadonlySet<string>;
}

interface ProgramReads {
  readonly steps: ReadonlyMap<string, Reads>;
  readonly always: Reads;
}

const readsCache = new WeakMap<Program, ProgramReads>();

function readsOf(program: Program): ProgramReads {
  let reads = readsCache.get(program);
  if (reads === undefined) {
    const steps = new Map([...program.steps].map(([slug, step]) => [slug, namesIn(referencesOf(step))]));
    reads = { steps, always: namesIn(program.output === undefined ? [] : references(program.output)) };
    readsCache.set(program, reads);
  }
  return reads;
}

function referencesOf(step: Step): Reference[] {
  const saved = step.saves.flatMap(({ expression }) => (expression === undefined ? [] : references(expression)));
  return [...step.references, ...saved, ...(step.rollback?.references ?? [])];
}

function namesIn(read: readonly Reference[]): Reads {
  const entries = new Set<string>();
  const outputs = new Set<string>();
  for (const { root, path } of read) {
    const name = typeof path[0] === 'string' ? path[0] : ANY;
    if (root === 'steps') entries.add(name);
    else if (root === 'outputs') outputs.add(name);
  }
  return { entries, outputs };
}

/** The steps that are open or queued, and all steps that their ports lead to. */
function reachable(program: Program, state: RunState): Set<string> {
  const found = new Set<string>();
  for (const frame of Object.values(state.frames)) {
    if (frame.visit !== undefined) found.add(frame.visit.slug);
    for (const { slug } of frame.loops) found.add(slug);
  }
  for (const work of state.work) if (work.do === 'visit') found.add(work.slug);
  for (const slug of found) for (const target of Object.values(program.steps.get(slug)?.next ?? {})) found.add(target);
  return found;
}
