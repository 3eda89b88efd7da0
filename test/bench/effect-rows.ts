/** Effects as steps against the same activities called by a workflow that was written by hand. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createActivities } from '../../activities/registry.ts';
import type { ActivityInput, ActivityOutput } from '../../src/contract/run/activity.ts';
import type { AgentTurn } from '../../src/contract/run/agent.ts';
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import type { Json } from '../../src/json/json.ts';
import { testServer } from '../support/temporal.ts';
import { paired, type Row, timed } from './rows.ts';
import { execute, executeByHand, type Sides, startSides } from './temporal-rows.ts';

const STEPS = 20;
const TURNS = 5;
const CALLS = 3;
const SCRIPT = 'export default function (input) { return { sum: input.a + input.b }; }';

export const EFFECT_ROWS = ['http step', 'run_code step', 'agent of'] as const;

export async function effectRows(handBundle: string, only: (name: string) => boolean): Promise<Row[]> {
  const server = await testServer({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8' });
  const web = createServer((_req, res) => res.setHeader('content-type', 'application/json').end('{"ok": true}'));
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/`;
  const { noop, http, runCode } = createActivities(server.config);
  const activities = { noop: noop!, http: http!, runCode: runCode!, agentTurn, tool: async () => ({ data: 'done' }) };
  const sides = await startSides(server, handBundle, activities);
  try {
    return await rowsOf(sides, url, only);
  } finally {
    await sides.stop();
    await server.close();
    web.closeAllConnections();
    await new Promise((resolve) => web.close(resolve));
  }
}

async function rowsOf(sides: Sides, url: string, only: (name: string) => boolean): Promise<Row[]> {
  const rows: Row[] = [];
  const ratio = async (name: string, ours: Definition, workflow: string, args: unknown[]): Promise<void> => {
    if (!only(name)) return;
    const value = await paired(
      7,
      () => timed(() => execute(sides, ours)),
      () => timed(() => executeByHand(sides, workflow, args)),
    );
    rows.push({ name, value, unit: '', aim: { most: 1.1 } });
  };
  await ratio('http step / by hand', chain({ stepType: 'http', config: { url } }), 'requests', [STEPS, url]);
  const script = { language: 'javascript', code: SCRIPT, input: { a: 1, b: 2 } };
  const config: Json = { ...script, timeoutMs: 10_000, memoryMb: 64 };
  await ratio('run_code step / by hand', chain({ stepType: 'run_code', config: script }), 'scripts', [STEPS, config]);
  if (only('run_code step, warm')) rows.push(await warmRow(sides, config));
  const request = { model: 'bench', messages: [{ role: 'user', content: 'Go.' }], tools: null };
  await ratio(`agent of ${TURNS} turns of ${CALLS} tools / by hand`, agentDefinition(), 'agent', [request]);
  return rows;
}

/** What a script takes beyond a local activity that does nothing. */
async function warmRow(sides: Sides, config: Json): Promise<Row> {
  const each = async (given: Json): Promise<number> =>
    (await timed(() => executeByHand(sides, 'scripts', [STEPS, given]))) / STEPS;
  const over: number[] = [];
  for (let round = 0; round < 8; round++) over.push((await each(config)) - (await each(null)));
  const value = over.slice(1).sort((a, b) => a - b)[3]!;
  return { name: 'run_code step, warm, over an empty local activity', value, unit: ' ms', aim: { most: 3 } };
}

function chain(step: StepDefinition): Definition {
  const steps: { [slug: string]: StepDefinition } = {};
  for (let n = 0; n < STEPS; n++)
    steps[`s${n}`] = n + 1 < STEPS ? { ...step, nextSteps: { success: `s${n + 1}` } } : step;
  return { name: 'Bench', slug: 'bench', steps };
}

function agentDefinition(): Definition {
  const agent: StepDefinition = {
    stepType: 'agent',
    config: { model: 'bench', userPrompt: 'Go.', maxSteps: TURNS + 1 },
  };
  return { name: 'Bench', slug: 'bench', steps: { agent } };
}

/** A model that wants three tools in each of five turns, and then answers. */
async function agentTurn(input: ActivityInput): Promise<ActivityOutput> {
  const { messages } = input.config as { messages: Json[] };
  const turn = messages.filter((message) => (message as { role: string }).role === 'assistant').length;
  const said = { role: 'assistant', content: `Turn ${turn}.` };
  const target = { kind: 'tool', server: 'bench', tool: 'look' } as const;
  const calls = Array.from({ length: turn < TURNS ? CALLS : 0 }, (_, n) => ({
    id: `${turn}-${n}`,
    name: 'look',
    input: { n },
    target,
  }));
  const answer: AgentTurn = { answer: calls.length > 0 ? null : 'Done.', text: 'Done.', calls, messages: [said] };
  return { data: answer as unknown as Json };
}
