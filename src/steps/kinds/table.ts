/** Every step kind. A new one is a file in this folder and a line here. */

import type { StepKind } from '../kind.ts';
import { action } from './action.ts';
import { agent } from './agent/agent.ts';
import { agentMessage } from './agent/agent-message.ts';
import { approval } from './approval/approval.ts';
import { bash } from './bash.ts';
import { breakKind } from './break.ts';
import { checkpoint } from './checkpoint.ts';
import { condition } from './condition.ts';
import { fail } from './fail.ts';
import { finish } from './finish.ts';
import { forEach } from './for-each.ts';
import { http } from './http.ts';
import { listen } from './listen.ts';
import { llm } from './llm.ts';
import { loop } from './loop.ts';
import { mapping } from './mapping.ts';
import { parallel } from './parallel.ts';
import { race } from './race.ts';
import { removed } from './removed.ts';
import { runCode } from './run-code.ts';
import { runEmployee } from './run-employee.ts';
import { runWorkflow } from './run-workflow.ts';
import { sendMessage } from './send-message.ts';
import { set } from './set.ts';
import { sleep } from './sleep.ts';
import { switchKind } from './switch.ts';
import { tool } from './tool.ts';
import { trigger } from './trigger.ts';
import { userInput } from './user-input.ts';
import { waitCallback } from './wait-callback.ts';

export const kinds: readonly StepKind[] = [
  trigger,
  condition,
  switchKind,
  set,
  mapping,
  loop,
  breakKind,
  forEach,
  parallel,
  race,
  checkpoint,
  finish,
  fail,
  removed,
  sleep,
  approval,
  userInput,
  listen,
  waitCallback,
  action,
  http,
  llm,
  tool,
  agent,
  agentMessage,
  sendMessage,
  runCode,
  bash,
  runWorkflow,
  runEmployee,
];

/** The kind of that type or alias; undefined for an unknown name. */
export function kindOf(name: string): StepKind | undefined {
  return byName.get(name);
}

const byName: ReadonlyMap<string, StepKind> = new Map(
  kinds.flatMap((kind) => [kind.type, ...(kind.aliases ?? [])].map((name) => [name, kind] as const)),
);
