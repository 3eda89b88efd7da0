/**
 * The places in which a step can run. finish, return and fail belong to no region (LANGUAGE.md §3.2): such a step runs
 * in the frame of the step that leads to it, and reads what is visible there. It has one place for each of these
 * frames.
 */
import { bodyPorts, type CheckedStep, type Subject } from './subject.ts';

/** The region of the step; with `port`, the begin of that branch of the container. */
export interface DefinitionPlace {
  readonly step: string;
  readonly port?: string;
}

export interface Places {
  /** At least one; at most 200, each in a region or branches of its own. */
  of(slug: string): readonly DefinitionPlace[];
}

/** Further places of one step are taken to be like these. */
const MOST_PLACES = 200;

export function placesOf(subject: Subject): Places {
  const ends = new Map<string, Map<string, DefinitionPlace>>();
  const note = (slug: string, place: DefinitionPlace): void => {
    const places = ends.get(slug);
    if (places === undefined || places.size >= MOST_PLACES) return;
    const region = regionOf(subject, place);
    if (!places.has(region)) places.set(region, place);
  };
  for (const { slug, kind, next } of subject.steps.values())
    if (kind?.class === 'end' && Object.keys(next).length === 0 && !subject.regions.home.has(slug))
      ends.set(slug, new Map());
  if (subject.start !== undefined) note(subject.start, { step: subject.start });
  for (const step of subject.steps.values()) {
    const body = new Set(bodyPorts(step));
    for (const [port, target] of Object.entries(step.next))
      note(target, body.has(port) ? { step: step.slug, port } : { step: step.slug });
  }
  return {
    of(slug) {
      const places = ends.get(slug);
      return places === undefined || places.size === 0 ? [{ step: slug }] : [...places.values()];
    },
  };
}

/** A name of the region: equal for places from which the same entries are visible. */
function regionOf({ regions }: Subject, { step, port }: DefinitionPlace): string {
  if (port !== undefined) return `${step}/${port}`;
  const home = regions.home.get(step);
  if (home === undefined) return '';
  const branches = [...(regions.regions.get(home)?.branches ?? [])].filter(([, slugs]) => slugs.has(step));
  return [home, ...branches.map(([name]) => name)].join('/');
}

export function isInBody({ regions }: Subject, { step, port }: DefinitionPlace, container: string): boolean {
  return (port !== undefined && step === container) || regions.regions.get(container)?.body.has(step) === true;
}

export function isInBranch(
  { regions }: Subject,
  { step, port }: DefinitionPlace,
  container: string,
  branch: string,
): boolean {
  if (port !== undefined && step === container) return port === branch;
  return regions.regions.get(container)?.branches.get(branch)?.has(step) === true;
}

/** The containers around a place, the innermost first. */
export function* around({ regions, steps }: Subject, { step, port }: DefinitionPlace): Iterable<CheckedStep> {
  for (
    let slug = port === undefined ? regions.home.get(step) : step;
    slug !== undefined;
    slug = regions.regions.get(slug)?.outer
  ) {
    const container = steps.get(slug);
    if (container !== undefined) yield container;
  }
}
