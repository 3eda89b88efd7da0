/**
 * Descriptions of signals, updates and queries (ARCHITECTURE.md §3). Temporal's UI and CLI show them beside the name,
 * and the manual lists them. The order of the signals is that in which a run begins to listen to them: it stays.
 */
export const SIGNAL_TEXTS = {
  approve: 'Approves: {step?, by?, comments?, data?, override?, reason?, key?}',
  reject: 'Rejects: {step?, by?, comments?, override?, reason?, key?}',
  decide: 'Decides: {decision: "approved" | "rejected", step?, by?, comments?, data?, override?, reason?, key?}',
  submit: 'Answers a user_input: {step?, data, by?, key?}',
  message:
    'Sends a message to listen steps: {name, payload?, id?, event?}. With event: {key?} only current listeners ' +
    'receive it',
  childDone: 'Reports the end of a child run: {path, output? | error?}',
  cancelStep: 'Cancels one open step: {step?, key?}',
  retryStep: 'Runs an open step again: {step?, key?}',
  skipTimer: 'Ends a sleep immediately: {step?, key?}',
  pause: 'Starts nothing new until resume: {key?}',
  resume: 'Continues after pause: {key?}',
  abort: 'Ends the run and rolls back what it did: {reason?}',
  granted: 'Grants the slot that the run waits for: {gate}',
} as const;

export const QUERY_TEXTS = {
  status: 'The status, and what the run waits for',
  steps: 'The outputs that the run holds, and its open steps',
  waiting: 'The open waits of the run',
  state: 'The whole state of the interpreter',
} as const;
