/**
 * A kind declares what a step does at a port that is not wired (`Ports.unwired`). It does that whether it has run or is
 * preset.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callbackName } from '../../src/contract/run/callbacks.ts';
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import { type OpenWait, type Simulated, simulate } from '../../src/engine/simulate.ts';
import type { TraceEvent } from '../../src/engine/state/protocol.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import type { Behaviour, Ports } from '../../src/steps/kind.ts';
import { kinds } from '../../src/steps/kinds/table.ts';
import type { Program } from '../../src/steps/program-types.ts';
import { programOf } from '../support/program.ts';
import { GENESIS } from './player.ts';

type Answer = { decision: 'approved' | 'rejected' } | { data: Json } | { message: Json };

/** How a step ends by a port: its config, and what its wait is answered; without an answer, its time passes. */
interface End {
  readonly config?: JsonObject;
  readonly answer?: Answer;
}

const ASK = { message: 'Well?', timeout: '1h' };
const SUCCESS = (config: JsonObject = {}) => ({ success: [{ config }] });

/** Each kind with ports, and each port by which its steps can end. */
const ENDS: { readonly [kind: string]: { readonly [port: string]: readonly End[] } } = {
  trigger: SUCCESS({ type: 'manual' }),
  condition: { true: [{ config: { expression: 'true' } }], false: [{ config: { expression: 'false' } }] },
  switch: {
    page: [{ config: { value: 'a', cases: { a: 'page' } } }],
    default: [{ config: { value: 'b', cases: { a: 'page' } } }],
  },
  set: SUCCESS({ values: [{ name: 'page', value: 1 }] }),
  mapping: SUCCESS({ output: 1 }),
  loop: { done: [{ config: { items: [] } }, { config: { items: [1, 2] } }] },
  forEach: { done: [{ config: { items: [] } }, { config: { items: [1, 2] } }] },
  parallel: { done: [{}] },
  race: { done: [{}] },
  checkpoint: SUCCESS(),
  removed: SUCCESS(),
  sleep: SUCCESS({ duration: '1h' }),
  approval: {
    approved: [
      { config: ASK, answer: { decision: 'approved' } },
      { config: { ...ASK, onTimeout: 'approved' } },
      { config: { ...ASK, notify: [{ channel: 'webhook', to: 'https://a.test' }] }, answer: { decision: 'approved' } },
    ],
    rejected: [
      { config: ASK, answer: { decision: 'rejected' } },
      { config: { ...ASK, onTimeout: 'rejected' } },
      { config: { ...ASK, onReject: 'cancel' }, answer: { decision: 'rejected' } },
    ],
    timeout: [
      { config: ASK },
      { config: { ...ASK, onTimeout: 'escalate', escalateTo: 'ann' } },
      { config: { ...ASK, notify: [{ channel: 'webhook', to: 'https://a.test' }] } },
    ],
  },
  user_input: {
    submitted: [{ config: ASK, answer: { data: 1 } }],
    timeout: [{ config: ASK }, { config: { ...ASK, default: { a: 1 } } }],
  },
  listen: {
    received: [{ config: { name: 'n' }, answer: { message: 1 } }],
    timeout: [
      { config: { name: 'n', timeout: '1h' } },
      { config: { name: 'n', timeout: '1h', count: 2 }, answer: { message: 1 } },
      { config: { name: ['n', 'm'], until: '1970-01-01', count: 2 } },
    ],
  },
  wait_callback: {
    received: [{ config: { timeout: '1h' }, answer: { message: 1 } }],
    timeout: [{ config: { timeout: '1h' } }],
  },
  action: SUCCESS({ type: 'echo' }),
  http: SUCCESS({ url: 'https://a.test' }),
  llm: SUCCESS({ userPrompt: 'Well?' }),
  tool: SUCCESS({ server: 's', toolName: 't' }),
  agent: SUCCESS({ userPrompt: 'Well?' }),
  agent_message: {
    success: [
      { config: { content: 'Hi.' } },
      { config: { content: 'Hi.', await_response: true }, answer: { message: { reply: 1 } } },
    ],
    timeout: [{ config: { content: 'Hi.', await_response: true, await_timeout_ms: 1_000 } }],
  },
  send_message: SUCCESS({ channel: 'webhook', to: 'https://a.test', text: 'Hi.' }),
  run_code: SUCCESS({ code: 'export default () => 1;' }),
  bash: SUCCESS({ command: 'true' }),
  run_workflow: SUCCESS({ workflow: 'other' }),
  run_employee: SUCCESS({ employee: 'ann', assignment: 'Hi.' }),
};

const WITH_BODY: { readonly [kind: string]: string } = {
  loop: 'loop',
  forEach: 'item',
  parallel: 'branch',
  race: 'branch',
};

type Within = 'root' | 'parallel' | 'loop' | 'forEach';

interface Scene {
  readonly kind: string;
  readonly port: string;
  readonly end: End;
  readonly wired: boolean;
  readonly goesOn: boolean;
  readonly within: Within;
}

const scenes: fc.Arbitrary<Scene> = fc
  .constantFrom(
    ...Object.entries(ENDS).flatMap(([kind, ports]) =>
      Object.entries(ports).flatMap(([port, ends]) => ends.map((end) => ({ kind, port, end }))),
    ),
  )
  .chain((end) =>
    fc.record({
      kind: fc.constant(end.kind),
      port: fc.constant(end.port),
      end: fc.constant(end.end),
      wired: fc.boolean(),
      goesOn: fc.boolean(),
      within: fc.constantFrom<Within>('root', 'parallel', 'loop', 'forEach'),
    }),
  );

function definitionOf({ kind, port, end, wired, goesOn, within }: Scene, preset?: JsonObject): Definition {
  const body = WITH_BODY[kind];
  const step: StepDefinition = {
    stepType: kind,
    config: end.config ?? {},
    nextSteps: { ...(body === undefined ? {} : { [body]: 'inside' }), ...(wired ? { [port]: 'next' } : {}) },
    ...(goesOn ? { onError: 'continue' } : {}),
    ...omitUndefined({ preset }),
  };
  const inside = body === undefined ? {} : { inside: { stepType: 'checkpoint' } };
  const steps = { step, ...inside, ...(wired ? { next: { stepType: 'checkpoint' } } : {}) };
  const around = { parallel: 'branch', loop: 'loop', forEach: 'item' };
  return {
    name: 'Ends',
    slug: 'ends',
    steps:
      within === 'root'
        ? steps
        : {
            around: {
              stepType: within,
              config: within === 'parallel' ? {} : { items: [1] },
              nextSteps: { [around[within]]: 'step', done: 'after' },
            },
            ...steps,
            after: { stepType: 'checkpoint' },
          },
  };
}

function play(program: Program, answer?: Answer): Simulated {
  let answered = false;
  const reply = (_program: Program, state: { now: number }, { path, waiting }: OpenWait) => {
    if (answer === undefined || answered) return undefined;
    answered = true;
    const to = { at: state.now, step: path, via: 'api' };
    if ('decision' in answer) return { event: { ...to, type: 'decide' as const, decision: answer.decision } };
    if ('data' in answer) return { event: { ...to, type: 'submit' as const, data: answer.data } };
    const name = waiting.kind === 'callback' ? callbackName(path) : waiting.name!;
    return { event: { at: state.now, type: 'message' as const, name, payload: answer.message } };
  };
  return simulate(program, {
    genesis: GENESIS,
    effect: ({ activity }) => ({
      result: { data: activity === 'agentTurn' ? { answer: 1, text: '1', calls: [], messages: [] } : { ok: true } },
    }),
    child: () => ({ output: 1 }),
    reply,
  });
}

const isEndOfStep = (line: TraceEvent) => line.t === 'end' && /(^|\/)step$/.test(line.path);
const endOf = ({ trace }: Simulated) => trace.find(isEndOfStep) as Extract<TraceEvent, { t: 'end' }> | undefined;
const dataOf = (run: Simulated) => (endOf(run)?.output as { data?: Json } | undefined)?.data ?? null;

/** What people see of an end, without the words of a failure and what only a preset has. */
function seen(run: Simulated) {
  const { status, error, output, trace, state } = run;
  const end = endOf(run)!;
  const after = trace.slice(trace.indexOf(end) + 1);
  const { ending } = state;
  return {
    run: { status, code: error?.code, stepSlug: error?.stepSlug, path: error?.path, output },
    reason: ending?.status === 'cancelled' ? ending : undefined,
    end: { members: Object.keys(end), status: end.status, port: end.port, code: end.error?.code, data: dataOf(run) },
    follows: after.filter(({ t }) => t === 'begin').map(({ path }) => path),
    rows: after.filter(({ t }) => t === 'end').map((line) => (line.t === 'end' ? [line.path, line.status] : [])),
  };
}

it('knows how the steps of each kind end', () => {
  const covered = Object.entries(ENDS).map(([kind, ports]) => [kind, Object.keys(ports)]);
  const known = kinds
    .map((kind) => {
      const { names, body = [] } = kind.ports({ stepType: kind.type, ...ENDS[kind.type]?.['page']?.[0] });
      return [kind.type, names.filter((port) => !body.includes(port))] as const;
    })
    .filter(([, names]) => names.length > 0);
  expect(covered).toEqual(known);
});

it('ends the same way live and preset, for each kind and each port', () => {
  fc.assert(
    fc.property(scenes, (scene) => {
      const { port, end } = scene;
      // What the step outputs at the port is seen where that is wired, outside of anything.
      const data = dataOf(play(programOf(definitionOf({ ...scene, wired: true, within: 'root' })), end.answer));
      const live = play(programOf(definitionOf(scene)), end.answer);
      const preset = play(programOf(definitionOf(scene, { data, port })));
      expect(seen(preset)).toEqual(seen(live));
    }),
    { numRuns: 600 },
  );
});

describe('a port that is not wired', () => {
  const failing = (kind: string, n = 0) => {
    const end = ENDS[kind]!['timeout']![n]!;
    const scene: Scene = { kind, port: 'timeout', end, wired: false, goesOn: false, within: 'root' };
    return play(programOf(definitionOf(scene)), end.answer).error;
  };

  it.each([
    [
      'approval',
      0,
      'approval_timeout',
      "Nobody decided on the step 'step' in time; wire its port 'timeout', or set onTimeout.",
      { message: 'Well?', votes: [] },
    ],
    [
      'user_input',
      0,
      'input_timeout',
      "Nobody answered the step 'step' in time; wire its port 'timeout', or give a default.",
      undefined,
    ],
    [
      'listen',
      1,
      'listen_timeout',
      "The step 'step' did not get its message in time; wire its port 'timeout', or wait longer.",
      { received: 1 },
    ],
    [
      'wait_callback',
      0,
      'callback_timeout',
      "Nobody called the URL of the step 'step' in time; wire its port 'timeout', or wait longer.",
      undefined,
    ],
    [
      'agent_message',
      0,
      'agent_message_timeout',
      "The agent did not answer the step 'step' in time; wire its port 'timeout', or wait longer.",
      undefined,
    ],
  ])('fails %s (%i) with %s', (kind, n, code, message, details) => {
    expect(failing(kind, n)).toEqual({
      ...{ code, message, retryable: false, path: 'step', stepSlug: 'step' },
      ...omitUndefined({ details }),
    });
  });
});

/** A step of a kind that only declares what an unwired port does, and ends by that port. */
function madeUp(unwired: NonNullable<Ports['unwired']>[string], preset: boolean, isFirst: boolean): Program {
  const port = 'late';
  const program = programOf({
    name: 'Made up',
    slug: 'made-up',
    steps: {
      step: {
        stepType: 'sleep',
        config: { duration: '1h' },
        nextSteps: { success: 'next' },
        ...(preset ? { preset: { data: { a: 1 }, port } } : {}),
      },
      next: { stepType: 'checkpoint' },
    },
  });
  const step = program.steps.get('step')!;
  const end = () => ({ do: 'end', port, data: { a: 1 }, details: { n: 1 } }) as const;
  const behaviour: Behaviour = isFirst ? { begin: end } : { ...step.behaviour, resume: end };
  const ports: Ports = { normal: 'success', names: ['success', port], unwired: { [port]: unwired } };
  return { ...program, steps: new Map([...program.steps, ['step', { ...step, behaviour, ports }]]) };
}

describe.each([true, false])(
  'a kind that only declares what an unwired port does (ends as it begins: %s)',
  (isFirst) => {
    it.each([
      [{ fails: 'too_late' }, { status: 'failed', error: { code: 'too_late', path: 'step' } }],
      [{ leaves: 'success' }, { status: 'completed', output: 'next' }],
      [{ cancels: 'too_late' }, { status: 'cancelled', state: { ending: { reason: 'too_late', details: { a: 1 } } } }],
    ])('%j: does so live and preset', (unwired, expected) => {
      const [live, preset] = [play(madeUp(unwired, false, isFirst)), play(madeUp(unwired, true, isFirst))];
      expect(live).toMatchObject(expected);
      expect(seen(preset)).toEqual(seen(live));
      if ('fails' in unwired) expect(live.error?.details).toEqual({ n: 1 });
    });
  },
);
