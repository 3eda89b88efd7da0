/** References to `steps.x`: x exists, can have run before, and its entry is visible (LANGUAGE.md §3.4–3.6, §4). */
import { didYouMean, nearestName } from '../definition/document/names.ts';
import { type Analysis, type Findings, opensFrames, problem } from './analysis.ts';
import type { ExpressionSite } from './expression-sites.ts';
import type { StepOrder } from './step-order.ts';
import { isInBranch, type StepPosition, type StepPositions } from './step-positions.ts';

/** The members of an entry of `steps`. */
const ENTRY_MEMBERS: ReadonlySet<string> = new Set(['stepType', 'name', 'output']);
const OUTPUT_MEMBERS: ReadonlySet<string> = new Set(['type', 'data', 'meta']);

/** The slugs of all steps that are read by name. */
export function referencedSteps(sites: readonly ExpressionSite[]): Set<string> {
  const slugs = new Set<string>();
  for (const { references } of sites) {
    for (const { root, path } of references) if (root === 'steps' && typeof path[0] === 'string') slugs.add(path[0]);
  }
  return slugs;
}

export function checkStepReferences(
  analysis: Analysis,
  stepOrder: StepOrder | undefined,
  positions: StepPositions,
  findings: Findings,
): void {
  const { problems, warnings } = findings;
  const slugs = Object.keys(analysis.definition.steps);
  for (const site of analysis.expressionSites) {
    if (site.allowedRoots !== undefined) continue;
    for (const { root, path, column, pointer } of site.references) {
      const [target, member, inner, last] = path;
      if (root !== 'steps' || typeof target !== 'string') continue;
      const at = site.at + (pointer ?? '');
      if (!analysis.steps.has(target)) {
        const hint = didYouMean(target, slugs);
        problems.add(at, 'unknown_step', `Column ${column}: there is no step "${target}".`, hint);
        continue;
      }
      if (typeof member === 'string' && !ENTRY_MEMBERS.has(member)) {
        const hint = `Write steps.${target}.output${OUTPUT_MEMBERS.has(member) ? '' : '.data'}.${member}.`;
        warnings.add(
          at,
          'unknown_step_member',
          `Column ${column}: an entry of steps has stepType, name and output, but no "${member}".`,
          hint,
        );
      } else if (member === 'output' && typeof inner === 'string' && !OUTPUT_MEMBERS.has(inner)) {
        const hint = `Write steps.${target}.output.data.${inner}.`;
        warnings.add(
          at,
          'unknown_step_member',
          `Column ${column}: an output has type, data and meta, but no "${inner}".`,
          hint,
        );
      } else if (member === 'output' && inner === 'data') {
        checkDataMember(analysis, target, last, { at, column }, warnings);
      }
      if (stepOrder !== undefined)
        checkOrder({ analysis, stepOrder, positions, findings }, { site, target, at, column });
    }
  }
}

/** Checks a member of the data, for kinds whose data has fixed members. */
function checkDataMember(
  { steps }: Analysis,
  target: string,
  member: unknown,
  { at, column }: { readonly at: string; readonly column: number },
  warnings: Findings['warnings'],
): void {
  const { kind, written } = steps.get(target) ?? {};
  const members = kind?.dataMembers;
  // A preset can have any members, and the output of a forEach is a list.
  if (members === undefined || typeof member !== 'string' || members.includes(member)) return;
  if (written?.preset !== undefined || written?.forEach !== undefined) return;
  const meant = nearestName(member.slice(0, 100), members);
  warnings.add(
    at,
    'unknown_step_member',
    `Column ${column}: the data of the ${kind?.type} "${target}" has ${members.join(', ')}, but no "${member}".`,
    // The message lists them all.
    meant === undefined ? undefined : `Did you mean "${meant}"?`,
  );
}

/** What references are checked against, and the findings. */
interface OrderContext {
  readonly analysis: Analysis;
  readonly stepOrder: StepOrder;
  readonly positions: StepPositions;
  readonly findings: Findings;
}

/** One reference to an entry of `steps`. */
interface StepReference {
  readonly site: ExpressionSite;
  /** The slug of the step whose entry it is. */
  readonly target: string;
  /** The JSON Pointer of the template. */
  readonly at: string;
  readonly column: number;
}

function checkOrder(
  { analysis, stepOrder, positions, findings: { problems, warnings } }: OrderContext,
  { site, target, at, column }: StepReference,
): void {
  const { slug, moment } = site;
  if (slug === undefined) {
    if (site.at.startsWith('/output') && stepOrder.reachable.has(target)) {
      const hidingStep = hidingContainer(analysis, target, undefined);
      if (hidingStep !== undefined) problems.push(notVisible(at, column, target, hidingStep));
    }
    return;
  }
  // A step that cannot be reached is reported by itself.
  if (!stepOrder.reachable.has(slug) || (target === slug && moment === 'end')) return;
  if (!stepOrder.canPrecede(target, slug, moment)) {
    const words = target === slug ? 'itself, which has not run yet' : `"${target}", which can never have run before it`;
    problems.add(
      at,
      'step_never_before',
      `Column ${column}: "${slug}" reads ${words}.`,
      'Wire the steps so that the step that is read comes first.',
    );
    return;
  }
  const hidingContainers = positions.at(slug).map((position) => hidingContainer(analysis, target, position));
  const hidingStep = hidingContainers.find((container) => container !== undefined);
  if (hidingStep === undefined) return;
  if (hidingContainers.every((container) => container !== undefined))
    problems.push(notVisible(at, column, target, hidingStep));
  else
    warnings.add(
      at,
      'not_visible',
      `Column ${column}: "${slug}" is also reached from outside "${hidingStep}", where "${target}" is not visible.`,
      'Add a fallback (?:), or use a separate step for each place.',
    );
}

/** The container that hides the entry of `target` from `from`. If `from` is undefined, it is the end of the run. */
function hidingContainer(analysis: Analysis, target: string, from: StepPosition | undefined): string | undefined {
  const { steps, regions } = analysis;
  for (
    let container = regions.containerOf.get(target);
    container !== undefined;
    container = regions.regions.get(container)?.outer
  ) {
    const region = regions.regions.get(container);
    const step = steps.get(container);
    if (region === undefined || step === undefined || !opensFrames(step)) continue;
    const branches = [...region.branches].filter(([, slugs]) => slugs.has(target));
    if (from !== undefined && branches.some(([name]) => isInBranch(analysis, from, region.container, name)))
      return undefined;
    if (step.kind?.scope === 'iterations' || branches.length > 1) return container;
  }
  return undefined;
}

function notVisible(at: string, column: number, target: string, container: string): Findings['problems'][number] {
  const message = `Column ${column}: "${target}" is visible only in the branches or iterations of "${container}".`;
  return problem(at, 'not_visible', message, `Read steps.${container}.output.data instead.`);
}
