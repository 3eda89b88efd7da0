/**
 * Answers for the waits of a dry run: by the path of a visit, or by the slug of a step for each of its visits. Several
 * answers in a list are given one after the other, such as the votes of an approval.
 */

import { z } from 'zod';
import { callbackName } from '../contract/run/callbacks.ts';
import type { Problem } from '../definition/document/types.ts';
import { admit } from '../engine/advance.ts';
import type { OpenWait, SimulatedReply } from '../engine/simulate.ts';
import type { Event } from '../engine/state/protocol.ts';
import type { RunState } from '../engine/state/state.ts';
import type { Json } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { childPointer } from '../json/pointer.ts';
import type { Program } from '../steps/program-types.ts';

type DryAnswer =
  /** An approval. `form` is the data of its form. */
  | {
      readonly decision: 'approved' | 'rejected';
      readonly comments?: string | undefined;
      readonly form?: Json | undefined;
      readonly by?: string | undefined;
    }
  /** A step `user_input`. */
  | { readonly form: Json; readonly by?: string | undefined }
  /** A step `listen` or `wait_callback`. `name`: which of several names; default: the first. */
  | { readonly message: Json; readonly name?: string | undefined }
  /** Nobody answers: time passes until the wait times out. */
  | { readonly timeout: true };

export interface DryAnswers {
  readonly [pathOrSlug: string]: DryAnswer | readonly DryAnswer[];
}

const MAX_ANSWERS_PER_WAIT = 100;

/** The schema of DryAnswers. `value`: the schema of any JSON value, `text`: of a name. */
export function dryAnswersSchema(value: z.ZodType<Json>, text: z.ZodType<string>) {
  const by = text.optional().describe('Who answers. Each vote of a quorum needs another person.');
  const answer = z.union([
    z.strictObject({
      decision: z.enum(['approved', 'rejected']),
      comments: z.string().optional(),
      form: value.optional().describe('The data of the form.'),
      by,
    }),
    z.strictObject({ form: value.describe('The data of a user_input step.'), by }),
    z.strictObject({
      message: value.describe('The payload of a message, or the body of a callback.'),
      name: text.optional().describe('Which of the names that the step listens to. Default: the first.'),
    }),
    z.strictObject({ timeout: z.literal(true).describe('Time passes until the wait times out.') }),
  ]);
  return z.record(z.string(), z.union([answer, z.array(answer).min(1).max(MAX_ANSWERS_PER_WAIT)]));
}

/** Answers the waits of one walk, and collects what did not fit. */
export class Answers {
  readonly problems: Problem[] = [];
  readonly #answers: DryAnswers;
  /** By path or slug: how many were given, by the path of the wait. */
  readonly #countsByKey = new Map<string, Map<string, number>>();
  #messages = 0;

  constructor(answers: DryAnswers) {
    this.#answers = answers;
  }

  /** The next answer for a wait. Undefined where there is none, or it does not fit. */
  readonly reply = (program: Program, state: RunState, wait: OpenWait): SimulatedReply | undefined => {
    for (const key of [wait.path, wait.slug]) {
      const answers = Object.hasOwn(this.#answers, key) ? [this.#answers[key]!].flat() : [];
      const counts = this.#countsByKey.get(key) ?? new Map<string, number>();
      const count = counts.get(wait.path) ?? 0;
      const answer = answers[count] as DryAnswer | undefined;
      if (answer === undefined) continue;
      this.#countsByKey.set(key, counts);
      counts.set(wait.path, count + 1);
      const reply = replyOf(answer, wait, state.now);
      const refused = typeof reply === 'string' ? reply : refusalOf(program, state, reply);
      if (typeof reply === 'string' || refused !== undefined) {
        this.#refuse(key, count, answers.length > 1, refused ?? '');
        return undefined;
      }
      if ('event' in reply && reply.event.type === 'message') this.#messages++;
      return reply;
    }
    return undefined;
  };

  /** Adds the problems that only the end of the walk shows: answers without a wait, and messages that no step took. */
  finish(state: RunState): readonly Problem[] {
    for (const key of Object.keys(this.#answers)) {
      if (this.#countsByKey.has(key)) continue;
      this.problems.push({
        pointer: childPointer('/answers', key),
        code: 'unused_answer',
        message: `Nothing waited at '${key}' that this answers. Name the path of a wait, or the slug of its step.`,
      });
    }
    if (this.#messages > 0 && state.inbox.length > 0)
      this.problems.push({
        pointer: '/answers',
        code: 'untaken_message',
        message: 'A message of the answers was taken by no step: its name, match or schema does not fit.',
      });
    return this.problems;
  }

  #refuse(key: string, index: number, isList: boolean, message: string): void {
    const pointer = childPointer('/answers', key);
    this.problems.push({ pointer: isList ? childPointer(pointer, index) : pointer, code: 'refused_answer', message });
  }
}

/** The reply, or a sentence why the answer does not fit the wait. */
function replyOf(answer: DryAnswer, { path, waiting }: OpenWait, at: number): SimulatedReply | string {
  const { kind } = waiting;
  const address = { at, step: path, via: 'api' } as const;
  if ('timeout' in answer)
    return waiting.until === undefined ? `'${path}' has no timeout: it waits for ever.` : { timesOut: true };
  if (kind === 'approval')
    return 'decision' in answer
      ? {
          event: {
            ...address,
            type: 'decide',
            decision: answer.decision,
            ...omitUndefined({ by: answer.by, comments: answer.comments, data: answer.form }),
          },
        }
      : `'${path}' waits for a decision: give {decision}.`;
  if (kind === 'input')
    return 'form' in answer && !('decision' in answer) && answer.form !== undefined
      ? { event: { ...address, type: 'submit', data: answer.form, ...omitUndefined({ by: answer.by }) } }
      : `'${path}' waits for input: give {form}.`;
  if (kind === 'message' || kind === 'callback') {
    if (!('message' in answer)) return `'${path}' waits for a ${kind}: give {message}.`;
    const name =
      kind === 'callback' ? callbackName(path) : (answer.name ?? waiting.hearing?.names[0] ?? waiting.name ?? '');
    return { event: { at, type: 'message', name, payload: answer.message } };
  }
  return `'${path}' waits for a ${kind}, which no answer ends.`;
}

/** Why the run would refuse it. */
function refusalOf(program: Program, state: RunState, reply: SimulatedReply): string | undefined {
  if (!('event' in reply) || !isRequest(reply.event)) return undefined;
  const answer = admit(program, state, reply.event);
  return 'code' in answer ? answer.message : undefined;
}

const isRequest = ({ type }: Event): boolean => type === 'decide' || type === 'submit';
