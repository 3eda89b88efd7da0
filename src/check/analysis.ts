/** What the checks share about a definition: the kinds of its steps, its edges, regions and references. */

import type { Definition, Problem, StepDefinition } from '../definition/document/types.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { childPointer } from '../json/pointer.ts';
import type { Ports, StepKind } from '../steps/kind.ts';
import { kindOf } from '../steps/kinds/table.ts';
import { CONTAINER_RESERVED, END_TARGET } from '../steps/ports.ts';
import { findRegions, nodesOf, type Regions } from '../steps/regions.ts';
import type { Code } from './codes.ts';
import { type ExpressionSite, expressionSitesOf } from './expression-sites.ts';

const NO_PORTS: Ports = { normal: null, names: [] };

export interface CheckedStep {
  readonly slug: string;
  /** JSON pointer of the step. */
  readonly at: string;
  readonly written: StepDefinition;
  /** Undefined if no kind has that name; a walk can then continue by any port. */
  readonly kind: StepKind | undefined;
  readonly ports: Ports;
  /** Wired ports that lead to existing steps. */
  readonly next: { readonly [port: string]: string };
}

export interface Analysis {
  readonly definition: Definition;
  readonly isDag: boolean;
  readonly steps: ReadonlyMap<string, CheckedStep>;
  readonly start: string | undefined;
  readonly regions: Regions;
  readonly expressionSites: readonly ExpressionSite[];
}

/** What the checks found. */
export interface Findings {
  readonly problems: Problems;
  readonly warnings: Problems;
}

export const emptyFindings = (): Findings => ({ problems: new Problems(), warnings: new Problems() });

class Problems extends Array<Problem> {
  add(pointer: string, code: Code, message: string, hint?: string): void {
    this.push(problem(pointer, code, message, hint));
  }
}

export function problem(pointer: string, code: Code, message: string, hint?: string): Problem {
  return { pointer, code, message, ...omitUndefined({ hint }) };
}

/** `knownRegions`: the regions that the compiler has found, if the definition compiles. */
export function analyze(definition: Definition, knownRegions?: Regions): Analysis {
  const steps = new Map<string, CheckedStep>();
  for (const [slug, written] of Object.entries(definition.steps)) {
    const kind = kindOf(written.stepType);
    const next: { [port: string]: string } = {};
    for (const [port, target] of Object.entries(written.nextSteps ?? {})) {
      if (target !== END_TARGET && Object.hasOwn(definition.steps, target)) next[port] = target;
    }
    steps.set(slug, {
      slug,
      at: childPointer('/steps', slug),
      written,
      kind,
      ports: kind === undefined ? NO_PORTS : portsOf(kind, written),
      next,
    });
  }
  const isDag = definition.flow === 'dag';
  const { start } = definition;
  // A dag has no regions, only the container that the compiler puts around it.
  const regions = isDag ? findRegions(new Map(), '') : (knownRegions ?? findRegions(nodesOf(steps), start ?? ''));
  return { definition, isDag, steps, start, regions, expressionSites: expressionSitesOf(definition, steps) };
}

/** A kind may throw if the config does not match its schema; the compiler then reports why. */
function portsOf(kind: StepKind, written: StepDefinition): Ports {
  try {
    return kind.ports(written);
  } catch {
    return NO_PORTS;
  }
}

/** Whether the step is a container whose body is walked in frames of its own. */
export function opensFrames(step: CheckedStep): boolean {
  return step.kind?.scope !== undefined && step.kind.scope !== 'loop';
}

/** Ports that lead into a container's body. */
export function bodyPorts(step: CheckedStep): string[] {
  const { body } = step.ports;
  if (body === undefined) return [];
  return Object.keys(step.next).filter((port) =>
    body === 'any' ? !CONTAINER_RESERVED.has(port) : body.includes(port),
  );
}
