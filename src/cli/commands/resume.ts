/** `signalbox resume ID --decision approve|deny` and `signalbox approve ID` decide approvals. */

import { type Command, Option } from 'commander';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { DecisionResult } from '../gateway-answers.ts';
import { gatewayOf } from '../gateway-client.ts';
import { jsonFlag, jsonOption, type OutputOptions } from '../options.ts';
import type { Terminal } from '../terminal.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface DecideOptions extends OutputOptions {
  readonly comments?: string;
  readonly step?: string;
  readonly data?: Json;
  readonly resumeToken?: string;
}

export const addResume: AddCommand = (program, { terminal }) => {
  const command = program
    .command('resume')
    .description('decide the approval that an execution waits for')
    .argument('<id>', 'the execution')
    .addOption(new Option('--decision <decision>', 'the decision').choices(['approve', 'deny']).makeOptionMandatory());
  withDetails(command).action((id: string, options: DecideOptions & { decision: string }) =>
    decide(terminal, id, options.decision === 'approve', options),
  );
};

export const addApprove: AddCommand = (program, { terminal }) => {
  const command = program
    .command('approve')
    .description('approve the approval that an execution waits for, like resume --decision approve')
    .argument('<id>', 'the execution');
  withDetails(command).action((id: string, options: DecideOptions) => decide(terminal, id, true, options));
};

function withDetails(command: Command): Command {
  return command
    .option('--comments <text>', 'the comment')
    .option('--step <step>', 'the approval, if several are open: a step or its path')
    .option('--data <json>', "the data for the approval's form", jsonOption)
    .option('--resume-token <token>', 'fail unless the token belongs to this approval')
    .addOption(jsonFlag());
}

async function decide(terminal: Terminal, id: string, approve: boolean, options: DecideOptions): Promise<void> {
  const { comments, step, data, resumeToken, json } = options;
  const { body } = await gatewayOf(terminal).call('POST', '/api/executions/:id/approve', {
    params: { id },
    json: {
      approve,
      ...omitUndefined({ comments, step, data, resumeToken }),
    },
  });
  terminal.out(json === true ? formatJson(body) : `${id}  ${body.path} ${decidedText(body)}`);
}

/** A vote is not a decision: `vote 1 of 2 recorded`. */
export function decidedText({
  decision,
  recorded,
  votes,
}: Pick<DecisionResult, 'decision' | 'recorded' | 'votes'>): string {
  if (recorded !== 'vote') return decision;
  if (votes === undefined) return `${decision}: vote recorded`;
  const tally = `${votes.have} of ${votes.needed}`;
  return decision === 'approved' ? `vote ${tally} recorded` : `vote recorded (${decision}); ${tally} approvals so far`;
}
