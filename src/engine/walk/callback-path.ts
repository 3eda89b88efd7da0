/**
 * The target of `{{ callback('slug') }}` (LANGUAGE.md §3, Callbacks): the next visit of that step in the frame where it
 * is rendered. The URL stands for the visit's path, which is known before the visit begins.
 */
import { StepFailure } from '../../steps/kind.ts';
import type { Core } from '../state/core.ts';
import { tickPath, visited, visitPath } from '../state/paths.ts';
import type { Frame } from '../state/state.ts';

/**
 * The path that the visit will have. @throws StepFailure `callback_out_of_reach` where this frame never reaches the
 * step.
 */
export function callbackPath(core: Core, frame: Frame, slug: string): string {
  const { program, state } = core;
  const step = program.steps.get(slug);
  if (step?.kind.takesCallbacks !== true) throw outOfReach(slug, 'it is not a wait_callback step');
  // In a dag every step has its own frame and is visited once.
  if (frame.prefix !== undefined) return visitPath(frame.prefix, slug, 1);
  const home = program.regions.home.get(slug);
  const loop = frame.loops.findLast((record) => record.slug === home);
  if (loop !== undefined) return visitPath(tickPath(loop.path, loop.tick), slug, visited(loop.counts, slug) + 1);
  const container = frame.parent === undefined ? undefined : state.frames[frame.parent]?.visit?.slug;
  const branch =
    container === undefined ? undefined : program.regions.regions.get(container)?.branches.get(frame.name ?? '');
  if (home !== container || branch?.has(slug) === false)
    throw outOfReach(slug, 'it is in another loop, branch or iteration');
  return visitPath(frame.id, slug, visited(frame.counts, slug) + 1);
}

function outOfReach(slug: string, why: string): StepFailure {
  return new StepFailure(
    'callback_out_of_reach',
    `callback('${slug}') has no URL here: ${why}. ` +
      'Name a wait_callback step of the same loop body, branch or iteration.',
  );
}
