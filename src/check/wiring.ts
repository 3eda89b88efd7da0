/** The graph as drawn: steps that no walk comes to, ports that lead nowhere, modifiers of the other flow. */
import { nearest } from '../definition/document/names.ts';
import { below } from '../definition/document/pointer.ts';
import type { Before } from './before.ts';
import { bodyPorts, type CheckedStep, type Findings, problem, type Subject } from './subject.ts';

export function checkWiring(subject: Subject, before: Before | undefined, findings: Findings): void {
  for (const step of subject.steps.values()) {
    if (before !== undefined && !before.reachable.has(step.slug)) {
      findings.warnings.push(
        problem(
          step.at,
          'unreachable_step',
          `No walk from "${subject.start ?? ''}" comes to "${step.slug}".`,
          'Wire a port to it, or take it out.',
        ),
      );
    }
    if (subject.isDag) continue;
    unwired(subject, step, findings);
    emptyBodies(subject, step, findings);
    for (const member of ['dependsOn', 'forEach', 'bail'] as const) {
      if (step.written[member] === undefined) continue;
      findings.problems.push(
        problem(
          `${step.at}/${member}`,
          'only_in_dag',
          `"${member}" belongs to flow: dag; this definition walks by ports.`,
          'Set flow: dag, or use nextSteps and the kind forEach.',
        ),
      );
    }
  }
}

/** A kind with one port simply ends where that leads nowhere; one with several probably forgot something. */
function unwired(subject: Subject, step: CheckedStep, { warnings }: Findings): void {
  const { names, normal, body } = step.ports;
  const wired = Object.keys(step.written.nextSteps ?? {});
  if (body !== undefined && bodyPorts(step).length === 0) {
    warnings.push(
      problem(
        step.at,
        'no_branches',
        `"${step.slug}" has no body: none of its ports leads into one.`,
        body === 'any' ? 'Wire a port per branch.' : `Wire its port ${body.join(' or ')}.`,
      ),
    );
  }
  for (const port of names) {
    if (wired.includes(port) || (port === normal && (names.length === 1 || body !== undefined))) continue;
    if (body !== undefined && body !== 'any' && body.includes(port)) continue;
    if (port === 'timeout' && !hasTimeout(step)) continue;
    if (step.ports.ruledOut?.includes(port) === true) continue;
    const meant = nearest(
      port,
      wired.filter((other) => !names.includes(other)),
    );
    const hint = meant === undefined ? endingHint(subject, step) : `Did "${meant}" mean it?`;
    warnings.push(
      problem(
        step.written.nextSteps === undefined ? step.at : `${step.at}/nextSteps`,
        'port_not_wired',
        `The port "${port}" of "${step.slug}" leads nowhere.`,
        hint,
      ),
    );
  }
}

/** How to say that a port ends here: "$end" would end the whole run, and an edge to its own container ends the branch alone. */
function endingHint({ regions, steps }: Subject, { slug }: CheckedStep): string {
  const container = regions.home.get(slug);
  const kind = container === undefined ? undefined : steps.get(container)?.kind;
  if (container === undefined || kind === undefined)
    return 'Wire it, or lead it to "$end" to say that the run ends here.';
  const ended = { loop: 'tick', iterations: 'iteration', branches: 'branch' }[kind.scope ?? 'branches'];
  return `Wire it, or lead it to "${container}" to say that this ${ended} ends here. ("$end" would end the whole run.)`;
}

/** A body is what its port reaches and the container's other ports do not (LANGUAGE.md §3.2). */
function emptyBodies({ regions, steps }: Subject, step: CheckedStep, { warnings }: Findings): void {
  for (const port of bodyPorts(step)) {
    const target = step.next[port];
    const body = regions.regions.get(step.slug)?.branches.get(port);
    if (target === undefined || target === step.slug || body?.size !== 0) continue;
    // What ends the run belongs to no body.
    if (steps.get(target)?.kind?.class === 'end') continue;
    warnings.push(
      problem(
        below(`${step.at}/nextSteps`, port),
        'no_branches',
        `The port "${port}" of "${step.slug}" leads to "${target}", which is no body of it: other ports of "${step.slug}" reach "${target}" too, or it stands outside of where "${step.slug}" stands.`,
        `Give "${step.slug}" steps of its own there.`,
      ),
    );
  }
}

function hasTimeout({ written }: CheckedStep): boolean {
  return ['timeout', 'until', 'await_timeout_ms', 'deadline'].some((member) => written.config?.[member] !== undefined);
}
