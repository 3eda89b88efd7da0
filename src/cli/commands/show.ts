/** `signalbox show ID`: an execution, what it waits for, and its steps. */
import type { ExecutionView } from '../../client/run-view.ts';
import { allSteps, executionPath } from '../executions.ts';
import { EXIT } from '../exit.ts';
import { gatewayOf } from '../gateway.ts';
import { pretty } from '../layout.ts';
import { jsonFlag } from '../options.ts';
import { executionLines } from '../run-text.ts';
import type { AddCommand } from './command.ts';

export const addShow: AddCommand = (program, { terminal, action }) => {
  program
    .command('show')
    .description('show an execution: status, what it waits for, its steps, its error')
    .argument('<id>', 'the execution')
    .addOption(jsonFlag())
    .action(
      action(async (id: string, { json }: { json?: boolean }) => {
        const gateway = gatewayOf(terminal);
        const { body } = await gateway.call<ExecutionView>('GET', executionPath(id));
        const steps = await allSteps(gateway, id);
        if (json === true) terminal.out(pretty({ ...body, steps }));
        else for (const line of executionLines(body, steps)) terminal.out(line);
        return EXIT.ok;
      }),
    );
};
