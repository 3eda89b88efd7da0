/** `signalbox cancel ID` ends a run in order; `signalbox terminate ID` ends it immediately. */

import { omitUndefined } from '../../json/omit-undefined.ts';
import { confirm, yesFlag } from '../confirm.ts';
import { gatewayOf } from '../gateway-client.ts';
import { jsonFlag, type OutputOptions } from '../options.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface EndOptions extends OutputOptions {
  readonly reason?: string;
  readonly yes?: boolean;
}

export const addCancel: AddCommand = (program, { terminal }) => {
  program
    .command('cancel')
    .description('cancel an execution and all of its open steps')
    .argument('<id>', 'the execution')
    .option('--reason <text>', "the reason, shown in the execution's error")
    .addOption(jsonFlag())
    .action(async (id: string, { reason, json }: EndOptions) => {
      const call = { params: { id }, json: omitUndefined({ reason }) };
      const { body } = await gatewayOf(terminal).call('POST', '/api/executions/:id/cancel', call);
      // The status may still be the one before: the run ends when its steps have.
      terminal.out(json === true ? formatJson(body) : `${id}  cancellation requested`);
    });
};

export const addTerminate: AddCommand = (program, { terminal }) => {
  program
    .command('terminate')
    .description('end an execution immediately; nothing is rolled back')
    .argument('<id>', 'the execution')
    .option('--reason <text>', "the reason, shown in the execution's error")
    .addOption(yesFlag())
    .addOption(jsonFlag())
    .action(async (id: string, { reason, yes, json }: EndOptions) => {
      await confirm(terminal, `Terminate ${id}? Nothing is rolled back.`, yes);
      const call = { params: { id }, json: omitUndefined({ reason }) };
      const { body } = await gatewayOf(terminal).call('POST', '/api/executions/:id/terminate', call);
      terminal.out(json === true ? formatJson(body) : `${id}  terminated`);
    });
};
