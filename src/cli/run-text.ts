/** The text of an execution. */

import { sampleOf } from '../definition/payload/format-sample.ts';
import { shellQuoted } from '../json/shell.ts';
import type { Execution, Step, Wait } from './gateway-answers.ts';
import { STEP_HEAD, stepRows } from './step-table.ts';
import { durationText, factLines, formatJson, oneLine, table, truncateText } from './text-layout.ts';

/** The status of a run with its output, error or waits. */
export type RunSummary = Pick<Execution, 'status' | 'output' | 'error' | 'paused' | 'pausedSince'> &
  Partial<Pick<Execution, 'waitingFor'>>;
type RunError = NonNullable<Execution['error']>;

const DETAILS_WIDTH = 400;

/** `approval at review until 2026-01-16T10:30:00.000Z: Refund 12?` */
export function waitLine({ kind, path, until, message, name, executionId, position, votes, ...tries }: Wait): string {
  // The whole run, and no step, waits for a slot.
  if (kind === 'slot') return `slot (limit: ${name ?? ''})${position === undefined ? '' : `, place ${position}`}`;
  if (kind === 'worker') return 'worker: none is alive';
  const { attempt, maxAttempts } = tries;
  const tried =
    attempt === undefined ? '' : ` (attempt ${attempt}${maxAttempts === undefined ? '' : ` of ${maxAttempts}`})`;
  const what = kind === 'unpause' ? 'paused activity' : kind === 'store' ? 'the store of large data' : kind;
  const about = message ?? name ?? executionId;
  const tally = votes === undefined ? '' : ` (${votes.have} of ${votes.needed} votes)`;
  return (
    `${what} at ` +
    `${path}${tally}${tried}${until === undefined ? '' : ` until ${until}`}${about === undefined ? '' : `: ${about}`}`
  );
}

/** `http_status at pay after 3 attempts: The server answered 500.` */
export function errorLine({ code, path, attempts, message }: RunError): string {
  const where = path === undefined || path === '' ? '' : ` at ${path}`;
  return `${code}${where}${attempts === undefined || attempts < 2 ? '' : ` after ${attempts} attempts`}: ${message}`;
}

/** The complete command for a decision, with the step if several are open and a comment if it is required. */
function decideLine(id: string, { path, commentRequired, form }: Wait, several: boolean): string {
  const step = several ? ` --step '${path}'` : '';
  const data = form === undefined ? '' : ` --data ${shellQuoted(JSON.stringify(sampleOf(form)))}`;
  return (
    `npx signalbox resume ${id} --decision ` +
    `approve|deny${step}${data}${commentRequired === true ? " --comments 'why'" : ''}`
  );
}

/** Output, error and waits, with the command that decides an approval. */
export function summaryLines(id: string, summary: RunSummary): string[] {
  const { output, error, waitingFor = [], paused, pausedSince } = summary;
  const lines: string[] = [];
  if (paused === true) {
    lines.push(`paused${pausedSince === undefined ? '' : ` since ${pausedSince}`}: no new step starts`);
    lines.push(`resume:   npm run -s temporal -- workflow signal --workflow-id '${id}' --name resume`);
  }
  const several = waitingFor.filter(({ kind }) => kind === 'approval').length > 1;
  for (const wait of waitingFor) {
    lines.push(`waits for ${waitLine(wait)}`);
    if (wait.form !== undefined) lines.push(`form:     ${oneLine(wait.form, DETAILS_WIDTH)}`);
    if (wait.kind === 'approval') lines.push(`decide:   ${decideLine(id, wait, several)}`);
  }
  if (error !== undefined) {
    lines.push(`error: ${errorLine(error)}`);
    if (error.details !== undefined) lines.push(`details: ${oneLine(error.details, DETAILS_WIDTH)}`);
  }
  if (output !== undefined) lines.push(formatJson(output));
  return lines;
}

/** `rolled back: ship, charge`, in the order of execution, and the steps whose rollback failed. */
export function rollbackLines(steps: readonly Pick<Step, 'path' | 'stepType' | 'status' | 'error'>[]): string[] {
  const rollbacks = steps.filter(({ stepType }) => stepType === 'rollback');
  const done = rollbacks.filter(({ status }) => status === 'completed').map(({ path }) => rolledBackPath(path));
  const failed = rollbacks.filter(({ error }) => error !== undefined);
  return [
    ...(done.length === 0 ? [] : [`rolled back: ${truncateText(done.join(', '), DETAILS_WIDTH)}`]),
    ...failed.map(
      ({ path, error }) =>
        `not rolled back: ${rolledBackPath(path)}${error === undefined ? '' : `: ${errorLine(error)}`}`,
    ),
  ];
}

const rolledBackPath = (path: string): string => path.replace(/\/rollback$/, '');

/** All about an execution: its facts, its status and its steps; with `all`, each visit has a row. */
export function executionLines(execution: Execution, steps: readonly Step[], all: boolean): string[] {
  const { id, status, workflowId, workflowVersion, startedAt, completedAt, trigger, initiator, parentId } = execution;
  const { url } = execution.temporal;
  const facts = factLines([
    ['workflow', [workflowId, workflowVersion].filter((part) => part !== undefined).join(' ')],
    ['started', `${startedAt}${completedAt === undefined ? '' : `, took ${durationText(startedAt, completedAt)}`}`],
    ['trigger', [trigger.type, trigger.id].filter((part) => part !== undefined).join(' ')],
    ['by', initiator],
    ['parent', parentId],
    ['web ui', url],
    ['input', execution.input === undefined ? undefined : oneLine(execution.input)],
  ]);
  return [
    `${id}  ${status}`,
    ...facts,
    ...summaryLines(id, execution),
    ...rollbackLines(steps),
    ...(steps.length === 0 ? [] : ['', ...table(STEP_HEAD, stepRows(steps, all))]),
  ];
}
