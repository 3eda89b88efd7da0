/** The text of a dry run. */

import type { Definition } from '../definition/document/types.ts';
import type { DryRun, DryStep } from '../history/dry-run.ts';
import { defined } from '../json/defined.ts';
import { rollbackLines, summaryLines } from './run-text.ts';
import { brief, cut, table } from './text-layout.ts';

const PATH_WIDTH = 50;
const INPUT_WIDTH = 90;

export function dryRunLines(definition: Definition, run: DryRun): string[] {
  const { status, steps, stepsTotal, waits, output, error } = run;
  const more = stepsTotal === undefined ? [] : [`… and ${stepsTotal - steps.length} more`];
  return [
    `${definition.slug}  ${status}  (dry run: no step was executed)`,
    ...table(['PATH', 'KIND', 'STATUS', 'PORT', 'BY', 'INPUT'], steps.map(cells)),
    ...more,
    ...summaryLines('', {
      status,
      ...defined({ output, error }),
    }),
    ...rollbackLines(steps),
    ...waits.flatMap((wait) => [
      `waits for ${wait.kind} at ${wait.path}`,
      Object.hasOwn(ANSWERS, wait.kind)
        ? `continue: --answers '{"${wait.path}": ${ANSWERS[wait.kind]}}'`
        : `continue: --presets '{"${wait.stepSlug}": …}'`,
    ]),
  ];
}

function cells(step: DryStep): string[] {
  const { path, stepType, status, port, input } = step;
  return [cut(path, PATH_WIDTH), stepType, status, port ?? '', source(step), brief(input, INPUT_WIDTH)];
}

const ANSWERS: { readonly [kind: string]: string } = {
  approval: '{"decision": "approved"}',
  input: '{"form": …}',
  message: '{"message": …}',
  callback: '{"message": …}',
};

/** The source of a step's output if it is not the step itself. */
function source({ output }: DryStep): string {
  const { meta } = (output ?? {}) as { meta?: { mocked?: boolean; preset?: boolean } };
  if (meta?.mocked === true) return 'mock';
  return meta?.preset === true ? 'preset' : '';
}
