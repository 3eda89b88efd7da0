/** `POST /api/executions {dryRun: true}`: a walk without effects, on a simulated clock, answered at once (design.md §5). */
import type { Response } from 'express';
import { walkable } from '../check/check.ts';
import { acceptedInput, demandPresets } from '../client/accepted-input.ts';
import { dryRun } from '../history/dry-run.ts';
import type { Json } from '../template/types.ts';
import { type Checked, demandValid } from './definition-door.ts';

export interface DryRun {
  readonly organizationId: string;
  readonly input: Json;
  readonly presets: { readonly [slug: string]: Json };
}

/** The walk holds everybody else up, so it is short. */
const MAX_STEPS = 20_000;
const MAX_MS = 2_000;

/**
 * Answers 200 `{status, output?, error?, steps, waits, problems, warnings}`.
 * @throws HttpProblem `invalid_definition` for problems that no mock mends, `invalid_input`, `unknown_preset`.
 */
export function answerDryRun(res: Response, checked: Checked, { organizationId, input, presets }: DryRun): void {
  const { problems, warnings } = checked;
  const walked = walkable(checked) ?? demandValid(checked).definition;
  demandPresets(walked, presets);
  const now = Date.now();
  const run = dryRun(walked, {
    now,
    input: acceptedInput(walked, input),
    presets,
    organizationId,
    maxSteps: MAX_STEPS,
    isOver: () => Date.now() - now > MAX_MS,
  });
  res.json({ ...run, problems: [...problems, ...run.problems], warnings });
}
