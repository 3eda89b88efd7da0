/**
 * Modifiers (LANGUAGE.md §7) that mean nothing: those for effects without one, `onError` where nothing follows; and
 * members that a preset loses.
 */
import { presetProblems } from '../definition/document/presets.ts';
import { type Analysis, type CheckedStep, type Findings, problem } from './analysis.ts';

export function checkModifiers({ steps }: Analysis, { warnings }: Findings): void {
  for (const step of steps.values()) {
    warnings.push(...presetProblems(step.written.preset ?? null, `${step.at}/preset`));
    if (step.kind === undefined || step.kind.class === 'effect') continue;
    if (step.kind.class === 'end' && step.written.onError === 'continue') warnings.push(uselessOnError(step));
    for (const member of ['retry', 'timeout', 'local', 'fuse'] as const) {
      // On a wait it is an error, which the compiler reports.
      const written = step.written[member];
      if (written === undefined || written === 'auto' || (member === 'timeout' && step.kind.class === 'wait')) continue;
      warnings.add(
        `${step.at}/${member}`,
        'modifier_without_effect',
        `"${member}" applies to effects only; a step of kind ${step.kind.type} ${CLASS_PHRASES[step.kind.class]}.`,
        hintOf(member, step),
      );
    }
  }
}

const CLASS_PHRASES = {
  pure: 'has none',
  wait: 'waits',
  container: 'only walks its body',
  end: 'has none',
} as const;

function hintOf(member: 'retry' | 'timeout' | 'local' | 'fuse', { kind }: CheckedStep): string {
  if (kind?.class === 'container') return `Set ${member} on the steps of its body.`;
  return member === 'retry' ? 'Remove it; config.retryPolicy applies to all effects of the run.' : 'Remove it.';
}

/** A run does not continue after a step that ends it, so a failure of that step cannot leave by a port. */
function uselessOnError({ at, kind }: CheckedStep): Findings['warnings'][number] {
  return problem(
    `${at}/onError`,
    'modifier_without_effect',
    `"onError" has no use on a step of kind ${kind?.type}: no step follows it.`,
    'Remove it. To go on after an error, set onError on the step that fails, or wire its port error.',
  );
}
