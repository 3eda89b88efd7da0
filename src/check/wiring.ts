/** Checks the graph: unreachable steps, ports that are not wired, modifiers of the other flow. */
import { nearestName } from '../definition/document/names.ts';
import { childPointer } from '../json/pointer.ts';
import { COMMON_PORTS } from '../steps/ports.ts';
import { type Analysis, bodyPorts, type CheckedStep, type Findings } from './analysis.ts';
import type { StepOrder } from './step-order.ts';

export function checkWiring(analysis: Analysis, stepOrder: StepOrder | undefined, findings: Findings): void {
  for (const step of analysis.steps.values()) {
    if (stepOrder !== undefined && !stepOrder.reachable.has(step.slug)) {
      findings.warnings.add(
        step.at,
        'unreachable_step',
        `No path leads from "${analysis.start ?? ''}" to "${step.slug}".`,
        'Wire a port to it, or remove it.',
      );
    }
    if (analysis.isDag) continue;
    checkUnwiredPorts(analysis, step, findings);
    checkEmptyBodies(analysis, step, findings);
    checkReservedBranches(analysis, step, findings);
    for (const member of ['dependsOn', 'forEach', 'bail'] as const) {
      if (step.written[member] === undefined) continue;
      findings.problems.add(
        `${step.at}/${member}`,
        'only_in_dag',
        `"${member}" belongs to flow: dag, and this definition has flow: ports.`,
        'Set flow: dag, or use nextSteps and the kind forEach.',
      );
    }
  }
}

/** A single port may be left open to end the walk. Among several ports an open one is probably a mistake. */
function checkUnwiredPorts(analysis: Analysis, step: CheckedStep, { warnings }: Findings): void {
  const { names, normal, body } = step.ports;
  const wired = Object.keys(step.written.nextSteps ?? {});
  if (body !== undefined && bodyPorts(step).length === 0) {
    warnings.add(
      step.at,
      'no_branches',
      `"${step.slug}" has no body: no body port is wired.`,
      body === 'any' ? 'Wire a port for each branch.' : `Wire its port ${body.join(' or ')}.`,
    );
  }
  for (const port of names) {
    if (wired.includes(port) || (port === normal && (names.length === 1 || body !== undefined))) continue;
    if (body !== undefined && body !== 'any' && body.includes(port)) continue;
    if (port === 'timeout' && !hasTimeout(step)) continue;
    if (step.ports.ruledOut?.includes(port) === true) continue;
    const meant = nearestName(
      port,
      wired.filter((other) => !names.includes(other)),
    );
    const hint = meant === undefined ? endingHint(analysis, step) : `Is the wired port "${meant}" a misspelling of it?`;
    warnings.add(
      step.written.nextSteps === undefined ? step.at : `${step.at}/nextSteps`,
      'port_not_wired',
      `The port "${port}" of "${step.slug}" is not wired.`,
      hint,
    );
  }
}

/** How to end here: `$end` ends the whole run, an edge to the container ends only the branch. */
function endingHint({ regions, steps }: Analysis, { slug }: CheckedStep): string {
  const container = regions.containerOf.get(slug);
  const kind = container === undefined ? undefined : steps.get(container)?.kind;
  if (container === undefined || kind === undefined) return 'Wire it, or wire it to "$end" to end the run here.';
  const ended = { loop: 'tick', iterations: 'iteration', branches: 'branch' }[kind.scope ?? 'branches'];
  return `Wire it, or wire it to "${container}" to end this ${ended} here. ("$end" would end the whole run.)`;
}

/** The body of a port has the steps that this port reaches and the other ports do not (LANGUAGE.md §3.2). */
function checkEmptyBodies({ regions, steps }: Analysis, step: CheckedStep, { warnings }: Findings): void {
  for (const port of bodyPorts(step)) {
    const target = step.next[port];
    const body = regions.regions.get(step.slug)?.branches.get(port);
    if (target === undefined || target === step.slug || body?.size !== 0) continue;
    // A step that ends the run belongs to no body.
    if (steps.get(target)?.kind?.class === 'end') continue;
    warnings.add(
      childPointer(`${step.at}/nextSteps`, port),
      'no_branches',
      `The port "${port}" of "${step.slug}" has no body: its other ports reach "${target}" too, or it is outside.`,
      `Wire the port to steps that no other port reaches.`,
    );
  }
}

/** A port of a container that looks like a branch, since it leads back, and is none: its name is reserved. */
function checkReservedBranches({ steps }: Analysis, step: CheckedStep, { warnings }: Findings): void {
  if (step.ports.body !== 'any') return;
  for (const port of COMMON_PORTS) {
    const target = step.next[port];
    if (target === undefined || !leadsTo(steps, target, step.slug)) continue;
    const when = port === 'error' ? 'it fails' : 'it is skipped';
    warnings.add(
      childPointer(`${step.at}/nextSteps`, port),
      'reserved_port',
      `"${port}" of "${step.slug}" is no branch: the name is reserved for what happens when ${when}.`,
      'If it is meant as a branch, give the port another name.',
    );
  }
}

/** The most steps that are walked for a warning. */
const MAX_VISITED_STEPS = 500;

/** Whether a walk from the step leads to the other one. */
function leadsTo(steps: Analysis['steps'], from: string, to: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let slug = open.pop(); slug !== undefined; slug = open.pop()) {
    if (slug === to) return true;
    if (seen.has(slug) || seen.size >= MAX_VISITED_STEPS) continue;
    seen.add(slug);
    open.push(...Object.values(steps.get(slug)?.next ?? {}));
  }
  return false;
}

function hasTimeout({ written }: CheckedStep): boolean {
  return ['timeout', 'until', 'await_timeout_ms', 'deadline'].some((member) => written.config?.[member] !== undefined);
}
