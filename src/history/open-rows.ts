/** The open visits of a state, as rows of a trace. */
import { commandId } from '../engine/state/paths.ts';
import type { OpenVisit, RunState } from '../engine/state/state.ts';
import { placeOf } from '../engine/state/visit-place.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import type { Program } from '../steps/program-types.ts';
import type { Inherited } from './run-trace.ts';

export function openVisitsIn(state: RunState | undefined): OpenVisit[] {
  return Object.values(state?.frames ?? {}).flatMap((frame) => (frame.visit === undefined ? [] : [frame.visit]));
}

/** Open visits and loops in order of start, each followed by those within it. */
export function openRows(state: RunState, program: Program): Inherited[] {
  const open = Object.values(state.frames).flatMap((frame) => [
    ...frame.loops.map((loop, n) => ({ ...loop, place: placeOf(state, frame, frame.loops[n - 1], loop.slug) })),
    ...(frame.visit === undefined
      ? []
      : [{ ...frame.visit, place: placeOf(state, frame, frame.loops.at(-1), frame.visit.key ?? frame.visit.slug) }]),
  ]);
  return open
    .sort((a, b) => a.startedAt - b.startedAt)
    .flatMap(({ path, slug, startedAt, place, ...visit }) => {
      const inner = 'innerRows' in visit ? (visit.innerRows ?? {}) : {};
      const { visit: _visit, ...frame } = place;
      const step = program.steps.get(slug);
      const stepName = step === undefined || step.name === slug ? undefined : step.name;
      const row = { stepSlug: slug, ...omitUndefined({ stepName }), startedAt };
      return [
        { ...row, ...place, path, stepType: step?.type ?? slug },
        ...Object.entries(inner).map(([suffix, stepType]) => ({
          ...row,
          ...frame,
          inner: true as const,
          path: commandId(path, suffix),
          stepType,
        })),
      ];
    });
}

/** The visit that has this inner row. */
export function visitOf(state: RunState, row: string): string | undefined {
  return openVisitsIn(state).find(({ path, innerRows = {} }) =>
    Object.keys(innerRows).some((suffix) => commandId(path, suffix) === row),
  )?.path;
}
