/** `signalbox list`: executions, workflows, or approvals, open and decided ones. */
import { Argument, Option } from 'commander';
import type { ApprovalView } from '../../client/runs/approvals.ts';
import type { DecidedView } from '../../client/runs/decided-approvals.ts';
import type { ExecutionView } from '../../client/runs/run-view.ts';
import type { DefinitionHead } from '../../contract/actors.ts';
import { DECIDED_FILTERS } from '../../contract/run.ts';
import { CliError, EXIT } from '../exit.ts';
import { type Gateway, gatewayOf } from '../gateway-client.ts';
import { jsonFlag, limitOption } from '../options.ts';
import { waitLine } from '../run-text.ts';
import { cut, pretty, table } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

const LISTS = ['executions', 'workflows', 'approvals'] as const;
type List = (typeof LISTS)[number];

interface ListOptions {
  readonly workflow?: string;
  readonly status?: string;
  readonly decided?: string;
  readonly approver?: string;
  readonly all?: boolean;
  readonly resource?: string;
  readonly execution?: string;
  readonly limit: number;
  readonly json?: boolean;
}

const DEFAULT_LIMIT = 20;
const WAIT_WIDTH = 80;

export const addList: AddCommand = (program, { terminal, action }) => {
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
    .action(
      action(async (what: List, options: ListOptions) => {
        const { items, lines, isCut } = await read(gatewayOf(terminal), what, options);
        if (options.json === true) terminal.out(pretty(items));
        else if (items.length === 0) terminal.err(nothing(what, options));
        else for (const line of lines) terminal.out(line);
        if (isCut && options.json !== true)
          terminal.err(`There are more than ${options.limit}. Raise --limit to see them.`);
        return EXIT.ok;
      }),
    );
};

interface Listed {
  readonly items: readonly unknown[];
  readonly lines: readonly string[];
  readonly isCut: boolean;
}

async function read(gateway: Gateway, what: List, options: ListOptions): Promise<Listed> {
  const { workflow, status, limit } = options;
  if (what === 'workflows' && workflow !== undefined) throw misplaced('--workflow', 'executions or approvals');
  if (what !== 'executions' && status !== undefined) throw misplaced('--status', 'executions');
  const { decided, approver, all, resource, execution } = options;
  const ofApprovals = Object.entries({ decided, approver, all, resource, execution }).find(
    ([, value]) => value !== undefined,
  );
  if (what !== 'approvals' && ofApprovals !== undefined) throw misplaced(`--${ofApprovals[0]}`, 'approvals');
  const query = new URLSearchParams({ limit: String(limit) });
  if (decided !== undefined) query.set('decided', decided);
  if (approver !== undefined) query.set('approver', approver);
  if (all === true) query.set('all', 'true');
  if (execution !== undefined) query.set('executionId', execution);
  if (resource !== undefined) {
    const [type = '', ...id] = resource.split('/');
    query.set('resourceType', type);
    if (id.length > 0) query.set('resourceId', id.join('/'));
  }
  if (workflow !== undefined) query.set('workflowId', workflow);
  if (status !== undefined) query.set('status', status);
  const page = async <T>(path: string) => {
    const { body } = await gateway.call<{ items: readonly T[]; nextCursor?: string }>('GET', `${path}?${query}`);
    return { items: body.items, isCut: body.nextCursor !== undefined };
  };
  switch (what) {
    case 'executions': {
      const found = await page<ExecutionView>('/api/executions');
      return { ...found, lines: table(['ID', 'STATUS', 'STARTED', 'WAITS FOR'], found.items.map(executionCells)) };
    }
    case 'workflows': {
      const found = await page<DefinitionHead>('/api/workflows');
      return { ...found, lines: table(['SLUG', 'VERSION', 'ENABLED', 'UPDATED', 'NAME'], found.items.map(headCells)) };
    }
    case 'approvals': {
      if (decided !== undefined) {
        const found = await page<DecidedView>('/api/approvals');
        const head = ['ID', 'STEP', 'DECISION', 'BY', 'AT', 'MESSAGE', 'COMMENT'];
        return { ...found, lines: table(head, found.items.map(decidedCells)) };
      }
      const found = await page<ApprovalView>('/api/approvals');
      return { ...found, lines: table(['ID', 'STEP', 'SINCE', 'MESSAGE'], found.items.map(approvalCells)) };
    }
  }
}

function nothing(what: List, { decided, approver, all }: ListOptions): string {
  if (what !== 'approvals') return `No ${what}.`;
  if (decided !== undefined) return 'No decided approvals.';
  return all === true || approver !== undefined
    ? 'No approvals.'
    : 'No approvals wait for you. With --all: those of others too.';
}

const executionCells = ({ id, status, paused, startedAt, waitingFor }: ExecutionView): string[] => [
  id,
  paused === true ? `${status} (paused)` : status,
  startedAt,
  waitingFor.map(({ until: _until, ...wait }) => cut(waitLine(wait), WAIT_WIDTH)).join('; '),
];

const headCells = ({ slug, version, enabled, updatedAt, name }: DefinitionHead): string[] => [
  slug,
  version ?? '',
  enabled ? 'yes' : 'no',
  updatedAt,
  name,
];

const approvalCells = ({ executionId, path, since, message }: ApprovalView): string[] => [
  executionId,
  path,
  since,
  cut(message ?? '', WAIT_WIDTH),
];

const decidedCells = ({ executionId, path, status, since, message, answer, unreadable }: DecidedView): string[] => [
  executionId,
  path,
  status,
  answer?.by ?? (answer?.via === 'timeout' ? 'nobody in time' : ''),
  answer?.at ?? since,
  cut(unreadable?.message ?? message ?? '', WAIT_WIDTH),
  cut(answer?.comments ?? '', WAIT_WIDTH),
];

const misplaced = (flag: string, of: string): CliError =>
  new CliError(EXIT.flags, `${flag} is only for lists of ${of}.`);
