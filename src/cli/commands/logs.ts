/** `signalbox logs ID`: prints a line when a step starts to wait or ends; `-f` follows until the execution ends. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Execution, Step } from '../answers.ts';
import { exitOf, stepPage } from '../executions.ts';
import { TemporaryError } from '../exit.ts';
import { followEvents } from '../follow-events.ts';
import { type Gateway, gatewayOf } from '../gateway-client.ts';
import { jsonFlag, type Shown } from '../options.ts';
import { errorLine, summaryLines } from '../run-text.ts';
import type { Terminal } from '../terminal.ts';
import { cut } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface LogsOptions extends Shown {
  readonly follow?: boolean;
}

const PAGE = 500;
const GATHER_MS = 100;
const PAUSE_MS = 1_000;
const OPEN: ReadonlySet<string> = new Set(['pending', 'running', 'waiting', 'rolling_back']);

export const addLogs: AddCommand = (program, { terminal, exitWith }) => {
  program
    .command('logs')
    .description('print the steps of an execution when they wait or end')
    .argument('<id>', 'the execution')
    .option('-f, --follow', 'follow until the execution ends; exit code 40 if it fails')
    .addOption(jsonFlag())
    .action(async (id: string, { follow, json }: LogsOptions) => {
      const gateway = gatewayOf(terminal);
      const log = new StepLog(gateway, id, (step) => terminal.out(json === true ? JSON.stringify(step) : line(step)));
      // The status is read before the steps, so that a closed run has all of its steps.
      const read = async (): Promise<Execution> => {
        const execution = await status(gateway, id);
        await log.read();
        return execution;
      };
      const first = await read();
      const execution = follow === true ? await followed(gateway, id, first, read) : first;
      if (json !== true && !OPEN.has(execution.status)) tellEnd(terminal, id, execution);
      if (follow === true) exitWith(exitOf(execution));
    });
};

function tellEnd(terminal: Terminal, id: string, execution: Execution): void {
  terminal.out(`${id}  ${execution.status}`);
  for (const text of summaryLines(id, execution)) terminal.out(text);
}

/** Reads after each event until the execution has ended, and returns its final state. */
async function followed(
  gateway: Gateway,
  id: string,
  first: Execution,
  read: () => Promise<Execution>,
): Promise<Execution> {
  let execution = first;
  const events = followEvents(gateway, id);
  try {
    for (let isLeft = false; OPEN.has(execution.status); ) {
      // Events that arrive together are read together. A failed read is repeated even without a new event.
      await (isLeft ? Promise.race([events.next(), delay(PAUSE_MS)]) : events.next());
      await delay(GATHER_MS);
      try {
        execution = await read();
        isLeft = false;
      } catch (error) {
        if (!(error instanceof TemporaryError)) throw error;
        isLeft = true;
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
  readonly #tell: (step: Step) => void;
  /** The last reported status of each step that may still change. */
  readonly #told = new Map<string, string>();
  #cursor: string | undefined;

  constructor(gateway: Gateway, id: string, tell: (step: Step) => void) {
    this.#gateway = gateway;
    this.#id = id;
    this.#tell = tell;
  }

  async read(): Promise<void> {
    let cursor = this.#cursor;
    let isSettled = true;
    for (;;) {
      const page = await stepPage(this.#gateway, this.#id, PAGE, cursor);
      for (const step of page.items) this.#take(step);
      if (page.nextCursor === undefined) return;
      isSettled &&= page.items.every((step) => step.completedAt !== undefined);
      cursor = page.nextCursor;
      if (!isSettled) continue;
      this.#cursor = cursor;
      this.#told.clear();
    }
  }

  #take(step: Step): void {
    if (step.status === 'running' || this.#told.get(step.path) === step.status) return;
    this.#told.set(step.path, step.status);
    this.#tell(step);
  }
}

function line(step: Step): string {
  const at = step.completedAt ?? step.startedAt;
  const how = step.port === undefined ? step.status : `${step.status} ${step.port}`;
  return `${at}  ${cut(step.path, 100)}  ${how}${step.error === undefined ? '' : `  ${errorLine(step.error)}`}`;
}
