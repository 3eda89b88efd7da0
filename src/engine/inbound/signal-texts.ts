/**
 * What is said of each signal, update and query (ARCHITECTURE.md §3): Temporal's UI and CLI show it beside the name, and the
 * manual lists it.
 */
export const SIGNAL_TEXTS = {
  approve: 'Approves: {step?, by?, comments?, data?, override?, reason?, key?}',
  reject: 'Rejects: {step?, by?, comments?, override?, reason?, key?}',
  decide: 'Decides: {decision: "approved" | "rejected", step?, by?, comments?, data?, override?, reason?, key?}',
  submit: 'Answers a user_input: {step?, data, by?, key?}',
  message:
    'A message for listen steps: {name, payload?, id?, event?}. With event: {key?} only those that listen now take it',
  childDone: 'A child run ended: {path, output? | error?}',
  cancelStep: 'Cancels one open step: {step?, key?}',
  retryStep: 'Runs an open step again: {step?, key?}',
  skipTimer: 'Ends a sleep at once: {step?, key?}',
  pause: 'Nothing new begins until resume: {key?}',
  resume: 'Goes on after pause: {key?}',
  abort: 'Ends the run, and rolls back what it has done: {reason?}',
  granted: 'A gate lets the run pass that waited for a slot: {gate}',
} as const;

export const QUERY_TEXTS = {
  status: 'The status, and what is waited for',
  steps: 'The outputs that the run remembers, and what is open',
  waiting: 'What the run waits for',
  state: 'The whole state of the interpreter',
} as const;
