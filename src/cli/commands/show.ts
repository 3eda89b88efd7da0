/** `signalbox show ID`: an execution with its waits and steps. */

import { omitUndefined } from '../../json/omit-undefined.ts';
import { allSteps } from '../executions.ts';
import { gatewayOf } from '../gateway-client.ts';
import { jsonFlag, type OutputOptions } from '../options.ts';
import { executionLines } from '../run-text.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface ShowOptions extends OutputOptions {
  readonly all?: boolean;
  readonly status?: string;
  readonly step?: string;
}

export const addShow: AddCommand = (program, { terminal }) => {
  program
    .command('show')
    .description('show an execution: status, waits, steps, error')
    .argument('<id>', 'the execution')
    .option('--all', 'show every visit; otherwise many visits of one step are summarized')
    .option('--status <statuses>', 'only visits with these statuses, such as failed or failed,waiting')
    .option('--step <step>', 'only visits of this step: its slug or the path of a visit')
    .addOption(jsonFlag())
    .action(async (id: string, { json, all, status, step }: ShowOptions) => {
      const gateway = gatewayOf(terminal);
      const { body } = await gateway.call('GET', '/api/executions/:id', { params: { id } });
      const steps = await allSteps(gateway, id, omitUndefined({ status, step }));
      if (json === true) terminal.out(formatJson({ ...body, steps }));
      else for (const line of executionLines(body, steps, all === true)) terminal.out(line);
    });
};
