/** The text of a dry run. */

import type { Definition } from '../definition/document/types.ts';
import type { DryRun, DryRunRow } from '../history/dry-run.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { rollbackLines, summaryLines } from './run-text.ts';
import { oneLine, table, truncateText } from './text-layout.ts';

const PATH_WIDTH = 50;
const INPUT_WIDTH = 90;

export function dryRunLines(definition: Definition, run: DryRun): string[] {
  const { status, steps, stepsTotal, waits, output, error } = run;
  const more = stepsTotal === undefined ? [] : [`… and ${stepsTotal - steps.length} more`];
  return [
    `${definition.slug}  ${status}  (dry run: no step was executed)`,
    ...table(['PATH', 'KIND', 'STATUS', 'PORT', 'BY', 'INPUT'], steps.map(dryStepCells)),
    ...more,
    ...summaryLines('', {
      status,
      ...omitUndefined({ output, error }),
    }),
    ...rollbackLines(steps),
    ...waits.flatMap((wait) => [
      `waits for ${wait.kind} at ${wait.path}`,
      Object.hasOwn(ANSWER_EXAMPLES, wait.kind)
        ? `continue: --answers '{"${wait.path}": ${ANSWER_EXAMPLES[wait.kind]}}'`
        : `continue: --presets '{"${wait.stepSlug}": …}'`,
    ]),
  ];
}

function dryStepCells(step: DryRunRow): string[] {
  const { path, stepType, status, port, input } = step;
  return [
    truncateText(path, PATH_WIDTH),
    stepType,
    status,
    port ?? '',
    outputSource(step),
    oneLine(input, INPUT_WIDTH),
  ];
}

const ANSWER_EXAMPLES: { readonly [kind: string]: string } = {
  approval: '{"decision": "approved"}',
  input: '{"form": …}',
  message: '{"message": …}',
  callback: '{"message": …}',
};

/** The source of a step's output if it is not the step itself. */
function outputSource({ output }: DryRunRow): string {
  const { meta } = (output ?? {}) as { meta?: { mocked?: boolean; preset?: boolean } };
  if (meta?.mocked === true) return 'mock';
  return meta?.preset === true ? 'preset' : '';
}
