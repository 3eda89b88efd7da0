/**
 * Plays a run against its world: answers what is open, sends what people send, lets time pass. After every event it
 * checks what must always hold (src/engine/advance.ts, E1 to E10).
 */

import { admit, advance, genesis } from '../../src/engine/advance.ts';
import { statusOf, waitingFor } from '../../src/engine/inbound/view.ts';
import { countCommands } from '../../src/engine/state/command-backlog.ts';
import { MAX_OPEN_COMMANDS } from '../../src/engine/state/limits.ts';
import type { Command, Event, Genesis, TraceEvent } from '../../src/engine/state/protocol.ts';
import { restore, serialize } from '../../src/engine/state/serialize.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import type { Json } from '../../src/json/json.ts';
import type { Program } from '../../src/steps/program-types.ts';

export const GENESIS: Genesis = {
  executionId: 'run.default.generated.1',
  organizationId: 'default',
  input: { id: 1 },
  presets: {},
  trigger: { type: 'manual' },
  depth: 0,
  startedAt: 1_000,
};

type Issued = Extract<Command, { type: 'run' | 'timer' | 'child' }>;
/** An event without its time. */
export type EventWithoutTime = Event extends infer E ? (E extends Event ? Omit<E, 'at'> : never) : never;

export class Player {
  readonly program: Program;
  state: RunState;
  at: number = GENESIS.startedAt;
  /** Commands that wait for their answer, oldest first. */
  readonly open = new Map<string, Issued>();
  readonly commands: Command[] = [];
  readonly trace: TraceEvent[] = [];
  /** Continue as new after every event. */
  readonly carries: boolean;
  #shown: Extract<Command, { type: 'visible' }> | undefined;
  readonly #begun = new Map<string, 'open' | 'ended'>();
  #endings = 0;

  constructor(program: Program, options: { carries?: boolean; genesis?: Partial<Genesis> } = {}) {
    this.program = program;
    this.carries = options.carries ?? false;
    this.state = genesis(program, { ...GENESIS, ...options.genesis });
  }

  get ended(): boolean {
    return this.state.ending !== undefined;
  }

  feed(happening: EventWithoutTime): Command[] {
    const event = { ...happening, at: this.at } as Event;
    const lines: TraceEvent[] = [];
    const answer = 'id' in event ? this.open.get(event.id ?? '') : undefined;
    if (answer !== undefined && event.type !== 'message') this.open.delete(answer.id);
    const commands = advance(this.program, this.state, event, (line) => lines.push(line));
    if (this.carries && !this.ended)
      this.state = restore(JSON.parse(JSON.stringify(serialize(this.program, this.state))) as Json);
    this.commands.push(...commands);
    this.trace.push(...lines);
    this.#applyCommands(commands);
    this.#checkTrace(lines);
    this.#check();
    return commands;
  }

  admit(happening: EventWithoutTime): ReturnType<typeof admit> {
    const before = JSON.stringify(this.state);
    const answer = admit(this.program, this.state, { ...happening, at: this.at } as Event);
    must(JSON.stringify(this.state) === before, 'admit changes nothing');
    return answer;
  }

  /** Lets time pass to a timer, the earliest by default, and fires it. */
  fire(id?: string): void {
    const timers = [...this.open.values()].filter((one) => one.type === 'timer').sort((a, b) => a.at - b.at);
    const timer = id === undefined ? timers[0] : timers.find((one) => one.id === id);
    if (timer === undefined) return;
    this.at = Math.max(this.at, timer.at);
    this.feed({ type: 'fired', id: timer.id });
  }

  /** The state without the clock, which every event moves. */
  stateWithoutClock(): string {
    return JSON.stringify({ ...this.state, now: 0, activation: 0 });
  }

  #applyCommands(commands: readonly Command[]): void {
    for (const command of commands) {
      must(this.#endings === 0 || command.type === 'visible', 'nothing but the last view follows the end');
      switch (command.type) {
        case 'run':
        case 'timer':
        case 'child':
          must(!this.open.has(command.id), `E3: '${command.id}' is open once`);
          this.open.set(command.id, command);
          break;
        case 'cancel':
          must(this.open.delete(command.id), `E9: '${command.id}' was open when it was cancelled`);
          break;
        case 'visible':
          this.#shown = command;
          break;
        case 'fail':
          must(command.error.code !== 'internal_error', `E8: ${command.error.message} has a code of its own`);
          this.#endings++;
          break;
        case 'complete':
        case 'cancelled':
          this.#endings++;
      }
    }
  }

  #checkTrace(lines: readonly TraceEvent[]): void {
    for (const line of lines) {
      const { t, path } = line;
      must(t !== 'end' || line.error?.code !== 'internal_error', `E8: '${path}' fails with a code of its own`);
      if (t === 'begin') {
        must(!this.#begun.has(path), `E3: '${path}' begins once`);
        this.#begun.set(path, 'open');
      } else must(this.#begun.get(path) === 'open', `'${path}' is open at its ${t}`);
      if (t === 'end') this.#begun.set(path, 'ended');
    }
  }

  #check(): void {
    const { state } = this;
    const odd = oddity(state, '');
    must(odd === undefined, `the state is plain JSON, also at ${odd}`);
    const sent = Object.keys(state.openCommands).filter((id) => !state.backlog.includes(id));
    must(
      sent.length === this.open.size && sent.every((id) => this.open.has(id)),
      'what is open is what the state says',
    );
    must(state.sentCount === this.open.size, 'what is open is counted');
    must(JSON.stringify(state.commandCounts) === JSON.stringify(countCommands(state)), 'places are counted');
    must(
      state.openActivities === Object.values(state.openCommands).filter(({ type }) => type === 'run').length,
      'effects are counted',
    );
    must(this.open.size <= MAX_OPEN_COMMANDS, 'commands open at once are bounded');
    const status = statusOf(state);
    must(this.#shown?.status === status, `what is shown (${this.#shown?.status}) is what is (${status})`);
    if (this.ended) {
      must(this.open.size === 0, 'E9: nothing is open after the end');
      for (const [path, is] of this.#begun) must(is === 'ended', `'${path}' has ended with the run`);
      must(this.#endings === 1, 'a run ends once');
      return;
    }
    const effects = [...this.open.values()].filter((one) => one.type === 'run');
    must(status !== 'waiting' || effects.length === 0, 'a run that waits has no effect in flight');
    const goesOn = state.yielding || state.paused || this.open.size > 0 || waitingFor(state).length > 0;
    must(goesOn, 'something will happen');
  }
}

/** Not `expect`: it is asked some thousand times in a run. */
function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`It does not hold that ${what}.`);
}

/** The first place where a value is no JSON; undefined where all is. */
function oddity(value: unknown, at: string): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : at;
  if (typeof value !== 'object') return at;
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto !== Object.prototype && proto !== Array.prototype) return at;
  for (const [key, member] of Object.entries(value)) {
    const odd = oddity(member, `${at}/${key}`);
    if (odd !== undefined) return odd;
  }
  return undefined;
}
