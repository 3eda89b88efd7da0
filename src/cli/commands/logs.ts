/** `signalbox logs ID`: a line whenever a step begins to wait or ends; `-f` follows to the end of the execution. */
import type { ExecutionView } from '../../client/run-view.ts';
import type { Step } from '../../client/trace.ts';
import { executionPath, exitOf, stepPage } from '../executions.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type Gateway, gatewayOf } from '../gateway.ts';
import { cut } from '../layout.ts';
import { jsonFlag } from '../options.ts';
import { errorLine, standingLines } from '../run-text.ts';
import type { Terminal } from '../terminal.ts';
import type { AddCommand } from './command.ts';

interface LogsOptions {
  readonly follow?: boolean;
  readonly json?: boolean;
}

const PAGE = 500;
const PAUSE_MS = 500;
const OPEN: ReadonlySet<string> = new Set(['pending', 'running', 'waiting', 'rolling_back']);

export const addLogs: AddCommand = (program, { terminal, action }) => {
  program
    .command('logs')
    .description('print the steps of an execution as they end')
    .argument('<id>', 'the execution')
    .option('-f, --follow', 'go on until the execution ends; exit code 40 if it fails')
    .addOption(jsonFlag())
    .action(
      action(async (id: string, options: LogsOptions) => {
        const gateway = gatewayOf(terminal);
        const log = new StepLog(gateway, id, (step) =>
          terminal.out(options.json === true ? JSON.stringify(step) : line(step)),
        );
        return options.follow === true ? follow(terminal, gateway, id, log, options) : once(gateway, id, log);
      }),
    );
};

async function once(gateway: Gateway, id: string, log: StepLog): Promise<ExitCode> {
  await status(gateway, id);
  await log.read();
  return EXIT.ok;
}

/** The status is asked before the steps: of a run that has ended, all steps are there then. */
async function follow(
  terminal: Terminal,
  gateway: Gateway,
  id: string,
  log: StepLog,
  { json }: LogsOptions,
): Promise<ExitCode> {
  for (;;) {
    const execution = await status(gateway, id);
    await log.read();
    if (!OPEN.has(execution.status)) {
      if (json !== true) {
        terminal.out(`${id}  ${execution.status}`);
        for (const text of standingLines(id, execution)) terminal.out(text);
      }
      return exitOf(execution);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function status(gateway: Gateway, id: string): Promise<ExecutionView> {
  const { body } = await gateway.call<ExecutionView>('GET', `${executionPath(id)}?exclude=input`);
  return body;
}

/** Tells every change of a step once. Pages whose steps have all ended are not read again. */
class StepLog {
  readonly #gateway: Gateway;
  readonly #id: string;
  readonly #tell: (step: Step) => void;
  /** What was told last of each step that may still change. */
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
