/** `signalbox list`: executions, workflows, or approvals, open and decided ones. */
import { Argument, Option } from 'commander';
import type { Page } from '../../client/visibility/listing.ts';
import { DECIDED_FILTERS } from '../../contract/run/run.ts';
import { CliError, EXIT } from '../exit.ts';
import type { Execution, ListedApproval } from '../gateway-answers.ts';
import { gatewayOf } from '../gateway-client.ts';
import { jsonFlag, limitOption, type OutputOptions } from '../options.ts';
import { waitLine } from '../run-text.ts';
import { type ListLayout, showList } from '../show-list.ts';
import type { Terminal } from '../terminal.ts';
import { truncateText } from '../text-layout.ts';
import { WORKFLOW_LAYOUT } from '../workflows.ts';
import type { AddCommand } from './command.ts';

const LISTS = ['executions', 'workflows', 'approvals'] as const;
type List = (typeof LISTS)[number];

interface ListOptions extends OutputOptions {
  readonly workflow?: string;
  readonly status?: string;
  readonly decided?: string;
  readonly approver?: string;
  readonly all?: boolean;
  readonly resource?: string;
  readonly execution?: string;
  readonly limit: number;
}

const DEFAULT_LIMIT = 20;
const WAIT_WIDTH = 80;

export const addList: AddCommand = (program, { terminal }) => {
  program
    .command('list')
    .description(
      'list executions (open ones by latest start, then closed ones by latest end), workflows, or approvals, open or ' +
        'decided',
    )
    .addArgument(new Argument('[what]', 'what to list').choices(LISTS).default('executions'))
    .option('--workflow <slug>', 'only executions or approvals of this workflow')
    .option('--status <status>', 'only executions of this status, such as waiting or failed')
    .addOption(
      new Option('--decided [decision]', 'approvals that were decided, instead of open ones')
        .choices(DECIDED_FILTERS)
        .preset('any'),
    )
    .option('--approver <person>', 'only approvals that ask this person; with --decided, on which the person voted')
    .option('--all', 'also approvals that wait for others than you')
    .option('--resource <type/id>', 'only approvals about this resource')
    .option('--execution <id>', 'only approvals of this execution')
    .option('--limit <n>', 'the maximum number', limitOption, DEFAULT_LIMIT)
    .addOption(jsonFlag())
    .action(async (what: List, options: ListOptions) => {
      checkOptions(what, options);
      const { nextCursor } = await showPage(terminal, what, options);
      if (nextCursor !== undefined && options.json !== true)
        terminal.err(`There are more than ${options.limit}. Raise --limit to see them.`);
    });
};

/** @throws CliError for an option of another list */
function checkOptions(what: List, options: ListOptions): void {
  const { workflow, status, decided, approver, all, resource, execution } = options;
  if (what === 'workflows' && workflow !== undefined) throw misplacedOption('--workflow', 'executions or approvals');
  if (what !== 'executions' && status !== undefined) throw misplacedOption('--status', 'executions');
  const ofApprovals = Object.entries({ decided, approver, all, resource, execution }).find(
    ([, value]) => value !== undefined,
  );
  if (what !== 'approvals' && ofApprovals !== undefined) throw misplacedOption(`--${ofApprovals[0]}`, 'approvals');
}

/** Prints the first page. */
async function showPage(terminal: Terminal, what: List, options: ListOptions): Promise<Page<unknown>> {
  const { workflow: workflowId, status, decided, approver, all, execution, json } = options;
  const gateway = gatewayOf(terminal);
  const limit = String(options.limit);
  const shown = <T>(page: Page<T>, layout: ListLayout<T>): Page<T> => {
    showList(terminal, page.items, json, layout);
    return page;
  };
  switch (what) {
    case 'executions':
      return shown(
        (await gateway.call('GET', '/api/executions', { query: { limit, workflowId, status } })).body,
        EXECUTIONS,
      );
    case 'workflows':
      return shown((await gateway.call('GET', '/api/workflows', { query: { limit } })).body, WORKFLOW_LAYOUT);
    case 'approvals': {
      const [resourceType, ...id] = options.resource?.split('/') ?? [];
      const resourceId = id.length === 0 ? undefined : id.join('/');
      const { body } = await gateway.call('GET', '/api/approvals', {
        query: {
          ...{ limit, decided, approver, all: all === true ? 'true' : undefined },
          ...{ executionId: execution, resourceType, resourceId, workflowId },
        },
      });
      if (decided !== undefined) return shown(body, DECIDED_APPROVALS);
      const isMine = all !== true && approver === undefined;
      const none = isMine ? 'No approvals wait for you. With --all: those of others too.' : 'No approvals.';
      return shown(body, { ...OPEN_APPROVALS, none });
    }
  }
}

const EXECUTIONS: ListLayout<Execution> = {
  head: ['ID', 'STATUS', 'STARTED', 'WAITS FOR'],
  cells: ({ id, status, paused, startedAt, waitingFor }) => [
    id,
    paused === true ? `${status} (paused)` : status,
    startedAt,
    waitingFor.map(({ until: _until, ...wait }) => truncateText(waitLine(wait), WAIT_WIDTH)).join('; '),
  ],
  none: 'No executions.',
};

const OPEN_APPROVALS: Omit<ListLayout<ListedApproval>, 'none'> = {
  head: ['ID', 'STEP', 'SINCE', 'MESSAGE'],
  cells: ({ executionId, path, since, message }) => [executionId, path, since, truncateText(message ?? '', WAIT_WIDTH)],
};

const DECIDED_APPROVALS: ListLayout<ListedApproval> = {
  head: ['ID', 'STEP', 'DECISION', 'BY', 'AT', 'MESSAGE', 'COMMENT'],
  cells: ({ executionId, path, status, since, message, answer, unreadable }) => [
    executionId,
    path,
    status,
    answer?.by ?? (answer?.via === 'timeout' ? 'nobody in time' : ''),
    answer?.at ?? since,
    truncateText(unreadable?.message ?? message ?? '', WAIT_WIDTH),
    truncateText(answer?.comments ?? '', WAIT_WIDTH),
  ],
  none: 'No decided approvals.',
};

const misplacedOption = (flag: string, of: string): CliError =>
  new CliError(EXIT.usage, `${flag} is only for lists of ${of}.`);
