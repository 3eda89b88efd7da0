/**
 * The positions in which a step can run. finish, return and fail belong to no region (LANGUAGE.md §3.2): each runs in
 * the frame of the step that leads to it, and reads what is visible there. It has one position for each of these
 * frames.
 */
import { type Analysis, bodyPorts, type CheckedStep } from './analysis.ts';

/** The region of the step; with `port`, the begin of that branch of the container. */
export interface StepPosition {
  readonly step: string;
  readonly port?: string;
}

export interface StepPositions {
  /** At least one; at most 200, each in a region or branches of its own. */
  at(slug: string): readonly StepPosition[];
}

/** The positions of one step that are checked. Further ones are assumed to be like these. */
const MAX_POSITIONS = 200;

export function positionsOf(analysis: Analysis): StepPositions {
  const endSteps = new Map<string, Map<string, StepPosition>>();
  const addPosition = (slug: string, position: StepPosition): void => {
    const positions = endSteps.get(slug);
    if (positions === undefined || positions.size >= MAX_POSITIONS) return;
    const region = regionOf(analysis, position);
    if (!positions.has(region)) positions.set(region, position);
  };
  for (const { slug, kind, next } of analysis.steps.values())
    if (kind?.class === 'end' && Object.keys(next).length === 0 && !analysis.regions.containerOf.has(slug))
      endSteps.set(slug, new Map());
  if (analysis.start !== undefined) addPosition(analysis.start, { step: analysis.start });
  for (const step of analysis.steps.values()) {
    const body = new Set(bodyPorts(step));
    for (const [port, target] of Object.entries(step.next))
      addPosition(target, body.has(port) ? { step: step.slug, port } : { step: step.slug });
  }
  return {
    at(slug) {
      const positions = endSteps.get(slug);
      return positions === undefined || positions.size === 0 ? [{ step: slug }] : [...positions.values()];
    },
  };
}

/** A key of the region: equal for positions from which the same entries are visible. */
function regionOf({ regions }: Analysis, { step, port }: StepPosition): string {
  if (port !== undefined) return `${step}/${port}`;
  const container = regions.containerOf.get(step);
  if (container === undefined) return '';
  const branches = [...(regions.regions.get(container)?.branches ?? [])].filter(([, slugs]) => slugs.has(step));
  return [container, ...branches.map(([name]) => name)].join('/');
}

export function isInBody({ regions }: Analysis, { step, port }: StepPosition, container: string): boolean {
  return (port !== undefined && step === container) || regions.regions.get(container)?.body.has(step) === true;
}

export function isInBranch(
  { regions }: Analysis,
  { step, port }: StepPosition,
  container: string,
  branch: string,
): boolean {
  if (port !== undefined && step === container) return port === branch;
  return regions.regions.get(container)?.branches.get(branch)?.has(step) === true;
}

/** The containers around a position, the innermost first. */
export function* enclosingContainers(
  { regions, steps }: Analysis,
  { step, port }: StepPosition,
): Iterable<CheckedStep> {
  for (
    let slug = port === undefined ? regions.containerOf.get(step) : step;
    slug !== undefined;
    slug = regions.regions.get(slug)?.outer
  ) {
    const container = steps.get(slug);
    if (container !== undefined) yield container;
  }
}
