/** `signalbox proposals`: lists, shows, reviews and applies proposals to change a definition. */

import { type Command, Option } from 'commander';
import { PROPOSAL_STATUSES } from '../../contract/definitions/proposal.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { showDiff } from '../diff-text.ts';
import type { Proposal } from '../gateway-answers.ts';
import { gatewayOf } from '../gateway-client.ts';
import { jsonFlag, type OutputOptions } from '../options.ts';
import { allItems, showList } from '../show-list.ts';
import { factLines, formatJson, truncateText } from '../text-layout.ts';
import type { AddCommand, CommandContext } from './command.ts';

const NOTES_WIDTH = 60;

export const addProposals: AddCommand = (program, host) => {
  const proposals = program.command('proposals').description('review and apply proposals to change a workflow');
  addListing(proposals, host);
  addShow(proposals, host);
  addReview(proposals, host, 'approve', 'approve a proposal of somebody else');
  addReview(proposals, host, 'reject', 'reject a proposal');
  addApply(proposals, host);
};

function addListing(proposals: Command, { terminal }: CommandContext): void {
  proposals
    .command('list')
    .description('list the proposals to change a workflow, newest first')
    .argument('<slug>', 'the workflow')
    .addOption(new Option('--status <status>', 'only proposals with this status').choices(PROPOSAL_STATUSES))
    .addOption(jsonFlag())
    .action(async (slug: string, { status, json }: OutputOptions & { readonly status?: string }) => {
      const gateway = gatewayOf(terminal);
      const items = await allItems((page) =>
        gateway.call('GET', '/api/workflows/:slug/proposals', { params: { slug }, query: { status, ...page } }),
      );
      showList(terminal, items, json, {
        head: ['ID', 'STATUS', 'CREATED', 'BY', 'NOTES'],
        cells: ({ id, createdAt, proposedBy, notes, ...proposal }) => [
          id,
          proposal.status,
          createdAt,
          proposedBy ?? '',
          truncateText(notes ?? '', NOTES_WIDTH),
        ],
        none: 'No proposals.',
      });
    });
}

function addShow(proposals: Command, { terminal }: CommandContext): void {
  proposals
    .command('show')
    .description('show a proposal and the changes that it would make')
    .argument('<slug>', 'the workflow')
    .argument('<id>', 'the proposal')
    .addOption(jsonFlag())
    .action(async (slug: string, id: string, { json }: OutputOptions) => {
      const path = '/api/workflows/:slug/proposals/:id';
      const { body } = await gatewayOf(terminal).call('GET', path, { params: { slug, id } });
      if (json === true) terminal.out(formatJson(body));
      else {
        for (const line of proposalLines(body)) terminal.out(line);
        showDiff(terminal, body.diffText);
      }
    });
}

function proposalLines({ id, status, workflowId, review, ...proposal }: Proposal): string[] {
  return [
    `Proposal ${id} of ${workflowId}  ${status}`,
    ...factLines([
      ['by', proposal.proposedBy],
      ['run', proposal.executionId],
      ['notes', proposal.notes],
      ['expires', proposal.expiresAt],
      ['review', review && [review.decision, review.by, review.notes].filter((part) => part !== undefined).join(': ')],
      ['error', proposal.error],
    ]),
  ];
}

function addReview(
  proposals: Command,
  { terminal }: CommandContext,
  decision: 'approve' | 'reject',
  description: string,
): void {
  proposals
    .command(decision)
    .description(description)
    .argument('<slug>', 'the workflow')
    .argument('<id>', 'the proposal')
    .option('--notes <text>', 'the reason')
    .addOption(jsonFlag())
    .action(async (slug: string, id: string, { notes, json }: OutputOptions & { readonly notes?: string }) => {
      const { body } = await gatewayOf(terminal).call('POST', '/api/workflows/:slug/proposals/:id/review', {
        params: { slug, id },
        json: { decision, ...omitUndefined({ notes }) },
      });
      terminal.out(json === true ? formatJson(body) : `Proposal ${id} of ${slug} is ${body.status}.`);
    });
}

function addApply(proposals: Command, { terminal }: CommandContext): void {
  proposals
    .command('apply')
    .description('apply an approved proposal; refused if the workflow has changed since')
    .argument('<slug>', 'the workflow')
    .argument('<id>', 'the proposal')
    .addOption(jsonFlag())
    .action(async (slug: string, id: string, { json }: OutputOptions) => {
      const path = '/api/workflows/:slug/proposals/:id/apply';
      const { body } = await gatewayOf(terminal).call('POST', path, { params: { slug, id } });
      const { version, hash } = body.workflow;
      terminal.out(json === true ? formatJson(body) : `${slug} ${version} stored ${hash}`);
    });
}
