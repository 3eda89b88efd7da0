import type { Definition } from '../../definition/document/types.ts';
import type { Json } from '../../json/json.ts';
import type { Program } from '../../steps/program-types.ts';
import type { Genesis } from './protocol.ts';
import { type RunState, STATE_VERSION } from './state.ts';

/** The first state of a run: its variables, and the defaults of its declared state. */
export function initialState(program: Program, genesis: Genesis): RunState {
  const { definition } = program;
  return {
    version: STATE_VERSION,
    genesis,
    now: genesis.startedAt,
    frames: {},
    work: [],
    openCommands: {},
    sentCount: 0,
    openActivities: 0,
    commandCounts: { timers: 0, children: 0, waitingTimers: 0 },
    backlog: [],
    variables: { ...definition.config?.variables },
    state: defaultsOf(definition),
    outputs: {},
    inbox: [],
    inboxBytes: 0,
    messageIds: [],
    requestAnswers: {},
    rollbackSteps: [],
    visits: 0,
    seq: 0,
    bytes: 0,
    paused: false,
    yielding: false,
    activation: { at: genesis.startedAt, units: 0, bytes: 0 },
    viewDigest: '',
  };
}

/** The defaults of the declared state. */
export function defaultsOf({ state = {} }: Definition): { [key: string]: Json } {
  return Object.fromEntries(
    Object.entries(state).flatMap(([key, field]) => (field.default === undefined ? [] : [[key, field.default]])),
  );
}
