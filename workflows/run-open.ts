/** What a carried state has open, as commands: how an execution takes over from the one before. */
import { childCommand } from '../src/engine/commands.ts';
import type { Command } from '../src/engine/protocol.ts';
import type { OpenCommand, RunState } from '../src/engine/state.ts';

/**
 * The commands that had been sent, in the order of their ids, and `yield` where the walk was giving way. Those in the
 * backlog are the core's to send. Activities are among them only when they were held back: an execution does not end
 * before its activities do.
 */
export function openCommands(state: RunState): Command[] {
  const waiting = new Set(state.backlog);
  const commands = Object.entries(state.open)
    .filter(([id]) => !waiting.has(id))
    .map(([id, open]) => commandOf(state, id, open));
  return state.yielding ? [...commands, { type: 'yield' }] : commands;
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
