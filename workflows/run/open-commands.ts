/** The open commands of a carried state: an execution sends them again after continue-as-new. */
import type { OpenChild } from '../../src/contract/children.ts';
import { childRunId } from '../../src/engine/state/child-run.ts';
import type { Command } from '../../src/engine/state/protocol.ts';
import type { OpenCommand, RunState } from '../../src/engine/state/state.ts';
import { childCommand } from '../../src/engine/walk/commands.ts';

/**
 * The commands that the core had sent, in the order of their ids, and `yield` where the walk was interrupted. The core
 * itself sends those of the backlog. Activities are among them only where they were held back, since an execution ends
 * after its activities. Children that run already are not among them.
 */
export function openCommands(state: RunState): Command[] {
  const waiting = new Set(state.backlog);
  const commands = Object.entries(state.openCommands)
    .filter(([id, open]) => !waiting.has(id) && !(open.type === 'child' && open.started === true))
    .map(([id, open]) => commandOf(state, id, open));
  return state.yielding ? [...commands, { type: 'yield' }] : commands;
}

/** Children that are running and that this run waits for. */
export function openChildren(state: RunState): OpenChild[] {
  return Object.entries(state.openCommands).flatMap(([id, open]) =>
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
