/** References to `steps.x`: x exists, can have run before, and its entry is visible (LANGUAGE.md §3.4–3.6, §4). */
import { didYouMean, nearest } from '../definition/document/names.ts';
import { type DefinitionPlace, isInBranch, type Places } from './places.ts';
import type { Precedence } from './precedence.ts';
import type { Reading } from './readings.ts';
import { type Findings, opensFrames, problem, type Subject } from './subject.ts';

/** The members of an entry of `steps`. */
const ENTRY: ReadonlySet<string> = new Set(['stepType', 'name', 'output']);
const OUTPUT: ReadonlySet<string> = new Set(['type', 'data', 'meta']);

/** The slugs of all steps that are read by name. */
export function stepsRead(readings: readonly Reading[]): Set<string> {
  const slugs = new Set<string>();
  for (const { references } of readings) {
    for (const { root, path } of references) if (root === 'steps' && typeof path[0] === 'string') slugs.add(path[0]);
  }
  return slugs;
}

export function checkStepReferences(
  subject: Subject,
  before: Precedence | undefined,
  places: Places,
  findings: Findings,
): void {
  const { problems, warnings } = findings;
  const slugs = Object.keys(subject.definition.steps);
  for (const reading of subject.readings) {
    if (reading.only !== undefined) continue;
    for (const { root, path, column, pointer } of reading.references) {
      const [read, member, inner, last] = path;
      if (root !== 'steps' || typeof read !== 'string') continue;
      const at = reading.at + (pointer ?? '');
      if (!subject.steps.has(read)) {
        const hint = didYouMean(read, slugs);
        problems.add(at, 'unknown_step', `Column ${column}: there is no step "${read}".`, hint);
        continue;
      }
      if (typeof member === 'string' && !ENTRY.has(member)) {
        const hint = `Write steps.${read}.output${OUTPUT.has(member) ? '' : '.data'}.${member}.`;
        warnings.add(
          at,
          'unknown_step_member',
          `Column ${column}: an entry of steps has stepType, name and output, but no "${member}".`,
          hint,
        );
      } else if (member === 'output' && typeof inner === 'string' && !OUTPUT.has(inner)) {
        const hint = `Write steps.${read}.output.data.${inner}.`;
        warnings.add(
          at,
          'unknown_step_member',
          `Column ${column}: an output has type, data and meta, but no "${inner}".`,
          hint,
        );
      } else if (member === 'output' && inner === 'data') {
        checkData(subject, read, last, { at, column }, warnings);
      }
      if (before !== undefined) checkOrder({ subject, before, places, findings }, { reading, read, at, column });
    }
  }
}

/** Checks a member of the data, for kinds whose data has fixed members. */
function checkData(
  { steps }: Subject,
  read: string,
  member: unknown,
  { at, column }: { readonly at: string; readonly column: number },
  warnings: Findings['warnings'],
): void {
  const { kind, written } = steps.get(read) ?? {};
  const members = kind?.dataMembers;
  // A preset can have any members, and the output of a forEach is a list.
  if (members === undefined || typeof member !== 'string' || members.includes(member)) return;
  if (written?.preset !== undefined || written?.forEach !== undefined) return;
  const meant = nearest(member.slice(0, 100), members);
  warnings.add(
    at,
    'unknown_step_member',
    `Column ${column}: the data of the ${kind?.type} "${read}" has ${members.join(', ')}, but no "${member}".`,
    // The message lists them all.
    meant === undefined ? undefined : `Did you mean "${meant}"?`,
  );
}

/** What references are checked against, and the findings. */
interface Ground {
  readonly subject: Subject;
  readonly before: Precedence;
  readonly places: Places;
  readonly findings: Findings;
}

/** One reference to an entry of `steps`. */
interface Read {
  readonly reading: Reading;
  /** The slug of the step whose entry it is. */
  readonly read: string;
  /** The JSON Pointer of the template. */
  readonly at: string;
  readonly column: number;
}

function checkOrder(
  { subject, before, places, findings: { problems, warnings } }: Ground,
  { reading, read, at, column }: Read,
): void {
  const { slug, moment } = reading;
  if (slug === undefined) {
    if (reading.at.startsWith('/output') && before.reachable.has(read)) {
      const hidden = hiddenIn(subject, read, undefined);
      if (hidden !== undefined) problems.push(notVisible(at, column, read, hidden));
    }
    return;
  }
  // A step that cannot be reached is reported by itself.
  if (!before.reachable.has(slug) || (read === slug && moment === 'end')) return;
  if (!before.canPrecede(read, slug, moment)) {
    const words = read === slug ? 'itself, which has not run yet' : `"${read}", which can never have run before it`;
    problems.add(
      at,
      'step_never_before',
      `Column ${column}: "${slug}" reads ${words}.`,
      'Wire the steps so that the step that is read comes first.',
    );
    return;
  }
  const seen = places.of(slug).map((place) => hiddenIn(subject, read, place));
  const hidden = seen.find((container) => container !== undefined);
  if (hidden === undefined) return;
  if (seen.every((container) => container !== undefined)) problems.push(notVisible(at, column, read, hidden));
  else
    warnings.add(
      at,
      'not_visible',
      `Column ${column}: "${slug}" is also reached from outside "${hidden}", where "${read}" is not visible.`,
      'Add a fallback (?:), or use a separate step for each place.',
    );
}

/** The container that hides the entry of `read` from `from`. If `from` is undefined, it is the end of the run. */
function hiddenIn(subject: Subject, read: string, from: DefinitionPlace | undefined): string | undefined {
  const { steps, regions } = subject;
  for (
    let container = regions.home.get(read);
    container !== undefined;
    container = regions.regions.get(container)?.outer
  ) {
    const region = regions.regions.get(container);
    const step = steps.get(container);
    if (region === undefined || step === undefined || !opensFrames(step)) continue;
    const branches = [...region.branches].filter(([, slugs]) => slugs.has(read));
    if (from !== undefined && branches.some(([name]) => isInBranch(subject, from, region.container, name)))
      return undefined;
    if (step.kind?.scope === 'iterations' || branches.length > 1) return container;
  }
  return undefined;
}

function notVisible(at: string, column: number, read: string, container: string): Findings['problems'][number] {
  const message = `Column ${column}: "${read}" is visible only in the branches or iterations of "${container}".`;
  return problem(at, 'not_visible', message, `Read steps.${container}.output.data instead.`);
}
