/**
 * What all actors share (ARCHITECTURE.md §4). An actor is a workflow that keeps one thing: it takes writes as updates, shows
 * what is read often in its memo, and continues as new when its history is long.
 *
 * Update handlers are synchronous: validator and handler run in one go, so what the validator allowed still holds, and
 * nothing is half done when the actor continues as new (TEMPORAL.md §2).
 */

import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  defineSignal,
  defineUpdate,
  makeContinueAsNewFunc,
  setHandler,
  upsertSearchAttributes,
  type Workflow,
  workflowInfo,
} from '@temporalio/workflow';
import type { RememberedAnswers } from '../../src/contract/actors.ts';
import { ACTOR_DIVISION, DIVISION_ATTRIBUTE, SET_APART_SIGNAL } from '../../src/contract/division.ts';
import type { Json } from '../../src/json/json.ts';

/** Answers kept for repeated requests: a client repeats within seconds. */
const REMEMBERED = 64;
/** Of these together, as JSON: they are carried with the rest of the state in one payload. */
const REMEMBERED_CHARACTERS = 300_000;
/** Below this an actor would do nothing but continue as new. */
const LEAST_HISTORY = 20;

const DIVISION = defineSearchAttributeKey(DIVISION_ATTRIBUTE, SearchAttributeType.KEYWORD);

/**
 * Runs an actor that stores something: no cancellation ends it. One that an earlier version has started without the attribute
 * that sets actors apart takes it on when it is told to.
 */
export function stored<Result>(keep: () => Promise<Result>): Promise<Result> {
  setHandler(defineSignal(SET_APART_SIGNAL), () => {
    if (workflowInfo().typedSearchAttributes.get(DIVISION) === undefined)
      upsertSearchAttributes([{ key: DIVISION, value: ACTOR_DIVISION }]);
  });
  return CancellationScope.nonCancellable(keep);
}

/** Throws the refusal that the caller sees: `code` is the failure's type. */
export function refuse(code: string, message: string, details?: Json): never {
  throw ApplicationFailure.create({
    type: code,
    message,
    nonRetryable: true,
    ...(details === undefined ? {} : { details: [details] }),
  });
}

/** The writes of one actor, and the answers that it remembers. */
export interface Writes {
  answers(): RememberedAnswers;
  /**
   * Takes the update `name`. `check` refuses by throwing and changes nothing (a refused update leaves no history),
   * `write` changes the state and answers.
   */
  on<Request extends { readonly key: string }, Answer>(
    name: string,
    check: (request: Request) => void,
    write: (request: Request) => Answer,
  ): void;
}

export function writes(carried: RememberedAnswers): Writes {
  let answers = [...carried];
  const remembered = (key: string) => answers.find((entry) => entry.key === key);
  return {
    answers: () => answers,
    on(name, check, write) {
      type Request = Parameters<typeof write>[0];
      type Answer = ReturnType<typeof write>;
      const handler = (request: Request): Answer => {
        const known = remembered(request.key);
        if (known) return known.answer as Answer;
        const answer = guarded(() => write(request));
        answers = latest([...answers, { key: request.key, answer: answer as Json }]);
        return answer;
      };
      const validator = (request: Request): void => {
        if (typeof request?.key !== 'string') refuse('invalid_request', 'The update needs an argument with a key.');
        if (!remembered(request.key)) guarded(() => check(request));
      };
      setHandler(defineUpdate<Answer, [Request]>(name), handler, { validator });
    },
  };
}

function latest(answers: RememberedAnswers): RememberedAnswers[number][] {
  let from = Math.max(0, answers.length - REMEMBERED);
  let characters = 0;
  for (let at = answers.length - 2; at >= from; at--) {
    characters += JSON.stringify(answers[at]).length;
    if (characters > REMEMBERED_CHARACTERS) from = at + 1;
  }
  return answers.slice(from);
}

/** Any other error would leave the workflow task retrying for ever. */
function guarded<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof ApplicationFailure) throw error;
    return refuse(
      'invalid_request',
      `The update cannot be taken: ${error instanceof Error ? error.message : 'unknown'}.`,
    );
  }
}

/** Whether the history has come to its limit. Safe to branch on: replay sees the same lengths. */
export function isFull(historyLimit: number): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return continueAsNewSuggested || historyLength >= Math.max(historyLimit, LEAST_HISTORY);
}

/** Resolves when it is time to continue as new and every handler has answered. */
export async function untilFull(historyLimit: number): Promise<void> {
  await condition(() => isFull(historyLimit));
  await condition(allHandlersFinished);
}

/** Continues as new with everything that the memo shows, which would not carry over by itself; search attributes do. */
export function becomeNew<Actor extends Workflow>(...start: Parameters<Actor>): Promise<never> {
  const { workflowType, memo = {} } = workflowInfo();
  return makeContinueAsNewFunc<Actor>({ workflowType, memo })(...start);
}
