/** `signalbox submit ID` answers a user_input step; `signalbox message ID NAME` reaches listen steps. */

import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { gatewayOf } from '../gateway-client.ts';
import { idempotencyHeader, idempotencyOption, jsonFlag, jsonOption, type OutputOptions } from '../options.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface SubmitOptions extends OutputOptions {
  readonly data: Json;
  readonly step?: string;
}

interface MessageOptions extends OutputOptions {
  readonly data?: Json;
  readonly idempotencyKey?: string;
}

export const addSubmit: AddCommand = (program, { terminal }) => {
  program
    .command('submit')
    .description('answer the input that an execution waits for')
    .argument('<id>', 'the execution')
    .requiredOption('--data <json>', 'the answer; @FILE reads it from a file', jsonOption)
    .option('--step <step>', 'the input, if several are open: a step or its path')
    .addOption(jsonFlag())
    .action(async (id: string, { data, step, json }: SubmitOptions) => {
      const { body } = await gatewayOf(terminal).call('POST', '/api/executions/:id/submit', {
        params: { id },
        json: { data, ...omitUndefined({ step }) },
      });
      terminal.out(json === true ? formatJson(body) : `${id}  ${body.path} submitted`);
    });
};

export const addMessage: AddCommand = (program, { terminal }) => {
  program
    .command('message')
    .description('send a message to the listen steps of an execution; one that arrives early is kept')
    .argument('<id>', 'the execution')
    .argument('<name>', 'the name of the message')
    .option('--data <json>', 'its content; @FILE reads it from a file; default: null', jsonOption)
    .addOption(idempotencyOption())
    .addOption(jsonFlag())
    .action(async (id: string, name: string, { data = null, idempotencyKey, json }: MessageOptions) => {
      const { body } = await gatewayOf(terminal).call('POST', '/api/executions/:id/messages/:name', {
        params: { id, name },
        json: data,
        headers: idempotencyHeader(idempotencyKey),
      });
      terminal.out(json === true ? formatJson(body) : `${id}  message ${name} sent`);
    });
};
