/**
 * The segments of a run (src/engine/segment.ts): opens them, applies their lists, and holds back what happens to the
 * run meanwhile.
 *
 * The fold does the same with the events of the history (src/history/open-segment.ts): both open a segment after the
 * same event and take what was held back in the same order, after the list and before the next segment (E6).
 */
import { MARKS } from '../../src/contract/build-id.ts';
import {
  eventOf,
  type SegmentConfig,
  type SegmentEnd,
  type SegmentOutcome,
  segmentOf,
} from '../../src/engine/segment.ts';
import type { Command, Event, RunCommand } from '../../src/engine/state/protocol.ts';
import { serialize } from '../../src/engine/state/serialize.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import { asRegular } from '../../src/engine/walk/next-attempt.ts';
import type { FailureShape } from '../../src/steps/kind.ts';
import type { Program } from '../../src/steps/program-types.ts';

export interface SegmentsOptions {
  readonly program: Program;
  readonly state: RunState;
  /** Whether a segment may begin now. */
  mayBegin(): boolean;
  /** Whether the worker of the current task measures states for segments (`segments2`, build-id.ts). */
  measures(): boolean;
  /** The clock: epoch milliseconds. */
  now(): number;
  /** Runs the segment, and calls `ended` once. `first`: the path at which it begins. */
  run(config: SegmentConfig, first: string, ended: (outcome: SegmentOutcome) => void): void;
  /** Begins the next attempt after a failed one. False where there is none. */
  goesOn(command: RunCommand, failure: FailureShape, askedMs: number | undefined): boolean;
  /** A segment has ended: an event of history, or the end of a local activity. */
  noteEnd(): void;
  /** Applies an event to the core, and carries out its commands. Must not throw. */
  apply(event: Event): void;
  /** Carries out a command by itself. */
  perform(command: RunCommand): void;
}

export class Segments {
  readonly #options: SegmentsOptions;
  /** What happened while the segment was open, in order. */
  readonly #waiting: (() => void)[] = [];
  /** While a list is applied: the effects that have not ended. */
  #runs: Map<string, RunCommand> | undefined;
  #isOpen = false;

  constructor(options: SegmentsOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** A list, or what waited for it, is being applied. */
  get isApplied(): boolean {
    return this.#runs !== undefined;
  }

  /** Acts now, or after the open segment. */
  whenFree(act: () => void): void {
    if (this.#isOpen) this.#waiting.push(act);
    else act();
  }

  /** Takes the commands that belong into a segment, and returns the others, which are carried out now. */
  takeFrom(commands: readonly Command[]): readonly Command[] {
    const runs = this.#runs;
    if (runs === undefined) {
      const begun = this.#openWith(commands);
      return begun ? commands.filter(({ type }) => type !== 'run') : commands;
    }
    return commands.filter((command) => {
      if (command.type === 'run') runs.set(command.id, command);
      return command.type !== 'run' && !(command.type === 'cancel' && runs.delete(command.id));
    });
  }

  /** Whether the commands, which are new, have begun a segment. */
  #openWith(commands: readonly Command[]): boolean {
    const { program, state, mayBegin, measures, run, now } = this.#options;
    // Asked also where none may begin: it may correct the estimate of the state's size, in the fold too.
    const runs = segmentOf(program, state, commands, measures());
    const [first] = runs;
    if (first === undefined || !mayBegin()) return false;
    this.#isOpen = true;
    const config = {
      definition: program.definition,
      dataBytes: program.dataBytes(),
      marks: MARKS.filter(program.isMarked),
      state: serialize(program, state),
      at: Math.max(state.now, now()),
    };
    run(config, first.id, (outcome) => this.#ended(runs, outcome));
    return true;
  }

  #ended(begun: readonly RunCommand[], { ends, isFailed }: SegmentOutcome): void {
    const { apply, perform, noteEnd, goesOn } = this.#options;
    noteEnd();
    const runs = new Map(begun.map((command) => [command.id, command]));
    const again = new Map<string, SegmentEnd>();
    this.#runs = runs;
    for (const end of ends) {
      const event = eventOf(end);
      if (event === undefined) again.set(end.id, end);
      else {
        runs.delete(end.id);
        apply(event);
      }
    }
    this.#isOpen = false;
    for (const act of this.#waiting.splice(0)) act();
    this.#runs = undefined;
    if (this.#options.state.ending !== undefined) return;
    const left = [...runs.values()];
    if (!isFailed && again.size === 0 && this.#openWith(left)) return;
    for (const command of left) {
      const { error, retryAfterMs } = again.get(command.id) ?? {};
      if (error !== undefined && goesOn(command, error, retryAfterMs)) continue;
      perform(isFailed || again.has(command.id) ? asRegular(command) : command);
    }
  }
}
