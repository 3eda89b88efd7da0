/**
 * `signalbox retry ID` continues a failed run; `signalbox fork ID --from STEP` starts a new run within a closed one.
 */

import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { gatewayOf } from '../gateway-client.ts';
import { jsonFlag, jsonOption, type OutputOptions } from '../options.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

export const addRetry: AddCommand = (program, { terminal }) => {
  program
    .command('retry')
    .description('continue a failed execution at the step that failed')
    .argument('<id>', 'the execution')
    .addOption(jsonFlag())
    .action(async (id: string, { json }: OutputOptions) => {
      const { body } = await gatewayOf(terminal).call('POST', '/api/executions/:id/retry', {
        params: { id },
        json: {},
      });
      terminal.out(json === true ? formatJson(body) : `${id}  ${body.status}`);
    });
};

interface ForkOptions extends OutputOptions {
  readonly from: string;
  readonly edits?: Json;
  // `--version` is the command's own.
  readonly of?: string;
}

export const addFork: AddCommand = (program, { terminal }) => {
  program
    .command('fork')
    .description('start a new execution at a step of a closed one')
    .argument('<id>', 'the execution')
    .requiredOption('--from <step>', 'the first step: a step that was visited once, or the path of a visit')
    .option('--edits <json>', 'changes: {input, variables, state, outputs, steps}', jsonOption)
    .option('--of <version>', 'the hash or number of a version, instead of the definition that the original ran')
    .addOption(jsonFlag())
    .action(async (id: string, { from, edits, of, json }: ForkOptions) => {
      const { body } = await gatewayOf(terminal).call('POST', '/api/executions/:id/fork', {
        params: { id },
        json: {
          from,
          ...omitUndefined({ edits, version: of }),
        },
      });
      terminal.out(json === true ? formatJson(body) : `${body.executionId}  ${body.status}`);
    });
};
