/** `POST /api/executions {dryRun: true}`: a walk without effects, on a simulated clock (ARCHITECTURE.md §5). */

import { walkable } from '../../check/check.ts';
import { acceptedInput, demandPresets } from '../../client/starts/accepted-input.ts';
import type { DryAnswers } from '../../history/dry-run-answers.ts';
import { defined } from '../../json/defined.ts';
import type { Json } from '../../json/json.ts';
import type { Gateway } from '../http/context.ts';
import { type Checked, demandValid } from './definition-input.ts';
import { walkIn } from './in-threads.ts';

interface DryRun {
  readonly organizationId: string;
  readonly input: Json;
  readonly presets: { readonly [slug: string]: Json };
  readonly answers?: DryAnswers;
}

/**
 * Walks a definition without effects.
 * @throws HttpProblem `invalid_definition`, `invalid_input`, `unknown_preset`, and those of the pool.
 */
export async function dryRun(gateway: Gateway, checked: Checked, { organizationId, input, presets, answers }: DryRun) {
  const { problems, warnings } = checked;
  const walked = walkable(checked) ?? demandValid(checked).definition;
  demandPresets(walked, presets);
  const run = await walkIn(gateway, {
    definition: walked,
    now: Date.now(),
    input: acceptedInput(walked, input, '/input'),
    presets,
    organizationId,
    dataBytes: gateway.access.dataBytes,
    ...defined({ answers }),
  });
  return { ...run, problems: [...problems, ...run.problems], warnings };
}
