/** `signalbox logs ID`: prints a line when a step starts to wait or ends; `-f` follows until the execution ends. */
import { setTimeout as delay } from 'node:timers/promises';
import { exitCodeOf, stepPage } from '../executions.ts';
import { RetryableCliError } from '../exit.ts';
import { followEvents } from '../follow-events.ts';
import type { Execution, Step } from '../gateway-answers.ts';
import { type Gateway, gatewayOf } from '../gateway-client.ts';
import { jsonFlag, type OutputOptions } from '../options.ts';
import { errorLine, summaryLines } from '../run-text.ts';
import type { Terminal } from '../terminal.ts';
import { truncateText } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface LogsOptions extends OutputOptions {
  readonly follow?: boolean;
}

const PAGE_SIZE = 500;
const DEBOUNCE_MS = 100;
const RETRY_MS = 1_000;
const OPEN_STATUSES: ReadonlySet<string> = new Set(['pending', 'running', 'waiting', 'rolling_back']);

export const addLogs: AddCommand = (program, { terminal, exitWith }) => {
  program
    .command('logs')
    .description('print the steps of an execution when they wait or end')
    .argument('<id>', 'the execution')
    .option('-f, --follow', 'follow until the execution ends; exit code 40 if it fails')
    .addOption(jsonFlag())
    .action(async (id: string, { follow, json }: LogsOptions) => {
      const gateway = gatewayOf(terminal);
      const log = new StepLog(gateway, id, (step) =>
        terminal.out(json === true ? JSON.stringify(step) : stepLine(step)),
      );
      // The status is read before the steps, so that a closed run has all of its steps.
      const read = async (): Promise<Execution> => {
        const execution = await status(gateway, id);
        await log.read();
        return execution;
      };
      const first = await read();
      const execution = follow === true ? await followToEnd(gateway, id, first, read) : first;
      if (json !== true && !OPEN_STATUSES.has(execution.status)) printEnd(terminal, id, execution);
      if (follow === true) exitWith(exitCodeOf(execution));
    });
};

function printEnd(terminal: Terminal, id: string, execution: Execution): void {
  terminal.out(`${id}  ${execution.status}`);
  for (const text of summaryLines(id, execution)) terminal.out(text);
}

/** Reads after each event until the execution has ended, and returns its final state. */
async function followToEnd(
  gateway: Gateway,
  id: string,
  first: Execution,
  read: () => Promise<Execution>,
): Promise<Execution> {
  let execution = first;
  const events = followEvents(gateway, id);
  try {
    for (let mustReadAgain = false; OPEN_STATUSES.has(execution.status); ) {
      // Events that arrive together are read together. A failed read is repeated even without a new event.
      await (mustReadAgain ? Promise.race([events.next(), delay(RETRY_MS)]) : events.next());
      await delay(DEBOUNCE_MS);
      try {
        execution = await read();
        mustReadAgain = false;
      } catch (error) {
        if (!(error instanceof RetryableCliError)) throw error;
        mustReadAgain = true;
      }
    }
  } finally {
    events.end();
  }
  return execution;
}

async function status(gateway: Gateway, id: string): Promise<Execution> {
  const { body } = await gateway.call('GET', '/api/executions/:id', { params: { id }, query: { exclude: 'input' } });
  return body;
}

/** Reports every change of a step once. Pages whose steps have all ended are not read again. */
class StepLog {
  readonly #gateway: Gateway;
  readonly #id: string;
  readonly #report: (step: Step) => void;
  /** The last reported status of each step that may still change. */
  readonly #reportedStatus = new Map<string, string>();
  #cursor: string | undefined;

  constructor(gateway: Gateway, id: string, report: (step: Step) => void) {
    this.#gateway = gateway;
    this.#id = id;
    this.#report = report;
  }

  async read(): Promise<void> {
    let cursor = this.#cursor;
    let isSettled = true;
    for (;;) {
      const page = await stepPage(this.#gateway, this.#id, PAGE_SIZE, cursor);
      for (const step of page.items) this.#reportChange(step);
      if (page.nextCursor === undefined) return;
      isSettled &&= page.items.every((step) => step.completedAt !== undefined);
      cursor = page.nextCursor;
      if (!isSettled) continue;
      this.#cursor = cursor;
      this.#reportedStatus.clear();
    }
  }

  #reportChange(step: Step): void {
    if (step.status === 'running' || this.#reportedStatus.get(step.path) === step.status) return;
    this.#reportedStatus.set(step.path, step.status);
    this.#report(step);
  }
}

function stepLine(step: Step): string {
  const at = step.completedAt ?? step.startedAt;
  const how = step.port === undefined ? step.status : `${step.status} ${step.port}`;
  const error = step.error === undefined ? '' : `  ${errorLine(step.error)}`;
  return `${at}  ${truncateText(step.path, 100)}  ${how}${error}`;
}
