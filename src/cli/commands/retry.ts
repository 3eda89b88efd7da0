/** `signalbox retry ID` and `signalbox fork ID --from STEP`: a run that has ended goes on, or a new one begins within it. */

import { defined } from '../../json/defined.ts';
import type { Json } from '../../json/json.ts';
import { executionPath, type StartedExecution } from '../executions.ts';
import { EXIT } from '../exit.ts';
import { gatewayOf } from '../gateway-client.ts';
import { jsonFlag, jsonOption } from '../options.ts';
import { pretty } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface Shown {
  readonly json?: boolean;
}

export const addRetry: AddCommand = (program, { terminal, action }) => {
  program
    .command('retry')
    .description('let a failed execution go on from where it failed')
    .argument('<id>', 'the execution')
    .addOption(jsonFlag())
    .action(
      action(async (id: string, { json }: Shown) => {
        const { body } = await gatewayOf(terminal).call<StartedExecution>('POST', `${executionPath(id)}/retry`, {
          json: {},
        });
        terminal.out(json === true ? pretty(body) : `${id}  ${body.status}`);
        return EXIT.ok;
      }),
    );
};

interface ForkOptions extends Shown {
  readonly from: string;
  readonly edits?: Json;
  // `--version` is the command's own.
  readonly of?: string;
}

export const addFork: AddCommand = (program, { terminal, action }) => {
  program
    .command('fork')
    .description('start a new execution from a step of one that has ended')
    .argument('<id>', 'the execution')
    .requiredOption('--from <step>', 'where it begins: a step that was visited once, or the path of a visit')
    .option('--edits <json>', 'what is different: {input, variables, state, outputs, steps}', jsonOption)
    .option('--of <version>', 'a hash or a number of the workflow, instead of the definition that it ran')
    .addOption(jsonFlag())
    .action(
      action(async (id: string, { from, edits, of, json }: ForkOptions) => {
        const { body } = await gatewayOf(terminal).call<StartedExecution>('POST', `${executionPath(id)}/fork`, {
          json: {
            from,
            ...defined({ edits, version: of }),
          },
        });
        terminal.out(json === true ? pretty(body) : `${body.executionId}  ${body.status}`);
        return EXIT.ok;
      }),
    );
};
