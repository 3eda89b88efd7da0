/** What a carried state has open, as commands: how an execution takes over from the one before. */
import type { OpenChild } from '../../src/contract/children.ts';
import { childRunId } from '../../src/engine/state/child-run.ts';
import type { Command } from '../../src/engine/state/protocol.ts';
import type { OpenCommand, RunState } from '../../src/engine/state/state.ts';
import { childCommand } from '../../src/engine/walk/commands.ts';

/**
 * The commands that had been sent, in the order of their ids, and `yield` where the walk was giving way. Those in the
 * backlog are the core's to send. Activities are among them only when they were held back: an execution does not end
 * before its activities do. Children that run are not among them: they need not be started.
 */
export function openCommands(state: RunState): Command[] {
  const waiting = new Set(state.backlog);
  const commands = Object.entries(state.open)
    .filter(([id, open]) => !waiting.has(id) && !(open.type === 'child' && open.started === true))
    .map(([id, open]) => commandOf(state, id, open));
  return state.yielding ? [...commands, { type: 'yield' }] : commands;
}

/** Children that run, and that the run waits for. */
export function openChildren(state: RunState): OpenChild[] {
  return Object.entries(state.open).flatMap(([id, open]) =>
    open.type === 'child' && open.started === true
      ? [{ id, executionId: childRunId(state.genesis, id, open.child.workflow) }]
      : [],
  );
}

function commandOf(state: RunState, id: string, open: OpenCommand): Command {
  switch (open.type) {
    case 'run':
    case 'rollback':
      return open.command;
    case 'timer':
    case 'deadline':
      return { type: 'timer', id, at: open.at };
    case 'child':
      return childCommand(state, id, open.child);
  }
}
