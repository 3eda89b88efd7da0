/**
 * The handlers of a run's signals, updates and queries (ARCHITECTURE.md §3). They are synchronous: each message is
 * applied to the core before the handler returns, in the order of history. No message can fail the run.
 */

import {
  ApplicationFailure,
  defineQuery,
  defineSignal,
  defineUpdate,
  log,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import type { Accepted, Refusal } from '../../src/contract/run/run.ts';
import { QUERY_TEXTS, SIGNAL_TEXTS } from '../../src/engine/inbound/signal-texts.ts';
import {
  deepMemberMessage,
  SIGNALS,
  toEvent,
  UPDATES,
  unknownMemberMessage,
  updateToEvent,
} from '../../src/engine/inbound/signals.ts';
import { MAX_PAYLOAD_BYTES } from '../../src/engine/state/limits.ts';
import type { Event } from '../../src/engine/state/protocol.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import type { Json } from '../../src/json/json.ts';
import { refusalFailure } from './failures.ts';

/** What a message is answered. A signal has no answer; only its refusal is shown. */
export type Answer = Accepted | Refusal;

/** The run, as its handlers see it. */
export interface RunHandlers {
  /** Applies a message, and answers it, now or after the open segment. Must not throw. */
  take(event: Event, as: 'signal' | 'update', answered: (answer: Answer) => void): void;
  /** No segment is open. */
  isFree(): boolean;
  /** Whether the run accepts the event now, and which visit takes it. Changes nothing. */
  admit(event: Event): Answer;
  /** A signal was ignored. Only the run's details show it, since a signal has no answer. */
  ignored(signal: string, message: string): void;
}

const DESCRIPTIONS: { readonly [name: string]: string } = { ...SIGNAL_TEXTS, ...QUERY_TEXTS };

export function listenToSignals(run: RunHandlers): void {
  const receive = (name: string, payload: unknown): void => {
    const event = toEvent(name, payload, Date.now());
    if (event === undefined) {
      const why =
        unknownMemberMessage(name, payload) ??
        deepMemberMessage(payload) ??
        'No signal has this name, or its payload has the wrong shape.';
      log.warn('A signal was ignored.', { signal: name, code: 'invalid_signal', message: why });
      run.ignored(name, `${why} ${DESCRIPTIONS[name] ?? ''}`.trim());
      return;
    }
    run.take(event, 'signal', (answer) => {
      if ('accepted' in answer) return;
      const { code, message } = answer;
      log.warn('A signal was ignored.', { signal: name, code, message });
      run.ignored(name, message);
    });
  };
  // The default handler first: it gets the signals that came before there were handlers in the order of history.
  // Handlers by name would get them name by name.
  setDefaultSignalHandler((name, payload) => receive(name, payload));
  for (const name of SIGNALS) {
    setHandler(defineSignal<[unknown]>(name), (payload) => receive(name, payload), descriptionOf(name));
  }
}

export function answerUpdates(run: RunHandlers): void {
  for (const name of UPDATES) {
    const parseEvent = (payload: unknown): Event => {
      const event = updateToEvent(name, payload, Date.now());
      if (event === undefined) {
        const why =
          unknownMemberMessage(name, payload) ?? deepMemberMessage(payload) ?? `'${name}' takes one JSON object.`;
        throw refusalFailure({
          code: 'invalid_signal',
          message: `The update ${why} ${DESCRIPTIONS[name] ?? ''}`.trim(),
        });
      }
      return event;
    };
    const acceptedOrThrow = (answer: Answer): Accepted => {
      if ('accepted' in answer) return answer;
      throw refusalFailure(answer);
    };
    const takeNow = (event: Event): Accepted => {
      let answer: Answer = { code: 'closed', message: 'The run has ended.' };
      run.take(event, 'update', (given) => {
        answer = given;
      });
      return acceptedOrThrow(answer);
    };
    const takenLater = (event: Event): Promise<Accepted> =>
      new Promise((resolve, reject) => {
        run.take(event, 'update', (answer) => {
          if ('accepted' in answer) resolve(answer);
          else reject(refusalFailure(answer));
        });
      });
    setHandler(
      defineUpdate<Accepted, [unknown]>(name),
      (payload) => {
        const event = parseEvent(payload);
        return run.isFree() ? takeNow(event) : takenLater(event);
      },
      // A refusal here leaves no event in history. The runner asks again, because a replay does not run validators, and
      // because an open segment may change the answer.
      {
        validator: (payload) => {
          const event = parseEvent(payload);
          if (run.isFree()) acceptedOrThrow(run.admit(event));
        },
        ...descriptionOf(name),
      },
    );
  }
}

export function answerQueries(answers: { readonly [name: string]: () => Json }): void {
  for (const [name, answer] of Object.entries(answers))
    setHandler(defineQuery<Json>(name), () => checkAnswerSize(name, answer()), descriptionOf(name));
}

/** The server would drop an answer above its limit silently. @throws ApplicationFailure `result_too_large`. */
function checkAnswerSize(name: string, answer: Json): Json {
  const bytes = jsonBytes(answer);
  if (bytes <= MAX_PAYLOAD_BYTES) return answer;
  throw ApplicationFailure.nonRetryable(
    `The answer of the query '${name}' has ${bytes} bytes; at most ${MAX_PAYLOAD_BYTES} fit. ` +
      "Read the run's steps through the gateway.",
    'result_too_large',
    { bytes, limit: MAX_PAYLOAD_BYTES },
  );
}

function descriptionOf(name: string): { description?: string } {
  const description = DESCRIPTIONS[name];
  return description === undefined ? {} : { description };
}
