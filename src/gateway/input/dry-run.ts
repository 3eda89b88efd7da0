/** `POST /api/executions {dryRun: true}`: a walk without effects, on a simulated clock. */

import { dryRunnable } from '../../check/check.ts';
import { acceptedInput, demandPresets } from '../../client/starts/accepted-input.ts';
import type { DryAnswers } from '../../history/dry-run-answers.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { Gateway } from '../http/context.ts';
import { type Checked, demandValid } from './definition-input.ts';
import { offloadDryRun } from './offload.ts';

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
  const definition = dryRunnable(checked) ?? demandValid(checked).definition;
  demandPresets(definition, presets);
  const run = await offloadDryRun(gateway, {
    definition,
    now: Date.now(),
    input: acceptedInput(definition, input, '/input'),
    presets,
    organizationId,
    dataBytes: gateway.access.dataBytes,
    ...omitUndefined({ answers }),
  });
  return { ...run, problems: [...problems, ...run.problems], warnings };
}
