/**
 * Opens, closes and cancels commands. At most 500 are open, and 1.5 MB are sent in one activation; the others wait in
 * the backlog (command-backlog.ts, E10). An id is open once (E3). After it is closed, a late result is ignored (E4).
 */
import { childRunId } from '../state/child-run.ts';
import { dispatchBacklog, isTimer } from '../state/command-backlog.ts';
import type { Core } from '../state/core.ts';
import { RECORD_OVERHEAD } from '../state/limits.ts';
import type { Command } from '../state/protocol.ts';
import { charge, chargeValue } from '../state/space.ts';
import type { OpenCommand, OpenVisit, RunState } from '../state/state.ts';

/** Opens a command. It is sent when a slot is free. */
export function openCommand(core: Core, id: string, command: OpenCommand, visit?: OpenVisit): void {
  const { state } = core;
  if (Object.hasOwn(state.openCommands, id)) throw new Error(`Two open commands have the id '${id}'.`);
  state.openCommands[id] = command;
  charge(core, RECORD_OVERHEAD + 6 * id.length);
  if (command.type === 'run' || command.type === 'rollback') chargeValue(core, command.command.config);
  else if (command.type === 'child') chargeValue(core, command.child.input);
  if (command.type === 'run') state.openActivities++;
  if (isTimer(command)) state.commandCounts.waitingTimers++;
  visit?.commands.push(id);
  state.backlog.push(id);
}

/**
 * Sends queued commands. Returns whether only the byte limit of this activation stopped it: the core must then yield,
 * since no event would send the rest.
 */
export function sendBacklog(core: Core): boolean {
  return dispatchBacklog(core, {
    send: (id, command) => sendCommand(core, id, command),
    recall: (id) => core.commands.push({ type: 'cancel', id }),
  });
}

/** Removes a command that was completed or cancelled. */
export function closeCommand(core: Core, id: string): OpenCommand | undefined {
  const { state } = core;
  if (!Object.hasOwn(state.openCommands, id)) return undefined;
  const command = state.openCommands[id]!;
  const queued = state.backlog.indexOf(id);
  const { commandCounts: slots } = state;
  if (queued >= 0) {
    state.backlog.splice(queued, 1);
    if (isTimer(command)) slots.waitingTimers--;
  } else {
    state.sentCount--;
    if (isTimer(command)) slots.timers--;
    else if (command.type === 'child') slots.children--;
  }
  delete state.openCommands[id];
  if (command.type === 'run') state.openActivities--;
  return command;
}

/** Cancels a command and ignores its result if one arrives (E9). */
export function cancelCommand(core: Core, id: string): void {
  const wasSent = Object.hasOwn(core.state.openCommands, id) && !core.state.backlog.includes(id);
  if (closeCommand(core, id) !== undefined && wasSent) core.commands.push({ type: 'cancel', id });
}

function sendCommand(core: Core, id: string, command: OpenCommand): void {
  switch (command.type) {
    case 'run':
    case 'rollback':
      core.commands.push(command.command);
      return;
    case 'timer':
    case 'deadline':
      core.commands.push({ type: 'timer', id, at: command.at });
      return;
    case 'child':
      core.commands.push(makeChildCommand(core.state, id, command.child));
  }
}

/** The child's id is known before it starts (child-run.ts). */
export function makeChildCommand(
  state: RunState,
  id: string,
  child: Extract<OpenCommand, { type: 'child' }>['child'],
): Extract<Command, { type: 'child' }> {
  return { type: 'child', id, executionId: childRunId(state.genesis, id, child.workflow), ...child };
}
