/** The place of `POST /api/executions {dryRun: true}`: a walk without effects, on a simulated clock. */
import type { Response } from 'express';
import type { Json } from '../template/types.ts';
import type { Checked } from './definition-door.ts';
import { HttpProblem } from './problem.ts';

export interface DryRun {
  readonly organizationId: string;
  readonly input: Json;
  readonly presets: { readonly [slug: string]: Json };
}

export function answerDryRun(_res: Response, _checked: Checked, _run: DryRun): void {
  throw new HttpProblem(
    'dry_run_unavailable',
    'This gateway cannot walk a definition without effects. Leave dryRun out, and mock steps by `presets`.',
  );
}
