/**
 * Unreadable stored data of a run: encrypted under an unknown key, stored in a blob that was removed, or of an unknown
 * form, because every client of Temporal can write it. A list or a trace marks the one row.
 */

import type { Unreadable } from '../../history/events.ts';
import { isTooDeep, MAX_VALUE_DEPTH } from '../../json/depth.ts';
import { ClientError, hasCode } from '../errors.ts';
import { grpcOf, translated } from './rpc.ts';

/** Codes of errors that do not concern the run's data: Temporal is unreachable, or the error is another run's. */
const NOT_OF_THE_RUN = [
  'temporal_unreachable',
  'temporal_busy',
  'not_found',
  'outcome_unknown',
  'invalid_cursor',
  'invalid_query',
];

/**
 * Why the data cannot be read. The text of a decoding error is not repeated, because it may quote data that should have
 * been encrypted.
 */
export function unreadableOf(thrown: unknown): ClientError {
  const error = translated(thrown, false);
  if (error instanceof ClientError) return error;
  const message = 'What is stored here is not in a form that Signalbox writes: its encoding or its content is damaged.';
  return new ClientError('payload_unreadable', message, { cause: error });
}

/**
 * The result of `read`, or why the data cannot be read. @throws ClientError for failures that do not come from the
 * run's data.
 */
export async function legible<T>(
  read: () => Promise<T>,
): Promise<
  | { readonly value: T; readonly unreadable?: undefined }
  | { readonly value?: undefined; readonly unreadable: Unreadable }
> {
  try {
    return { value: await read() };
  } catch (thrown) {
    const error = unreadableOf(thrown);
    // Other answers of the server do not concern the run's data either.
    if (hasCode(error, ...NOT_OF_THE_RUN) || grpcOf(thrown) !== undefined) throw translated(thrown, false);
    return { unreadable: toldOf(error) };
  }
}

export const toldOf = ({ code, message }: Unreadable): Unreadable => ({ code, message });

/**
 * The answer with the members that can be written as JSON. Where some cannot, they are omitted, and the reason is
 * added.
 */
export function writable<T extends object>(
  answer: T,
  members: readonly (keyof T & string)[],
): { readonly value: T; readonly unreadable?: Unreadable } {
  const bad = members.filter((member) => answer[member] !== undefined && isTooDeep(answer[member], MAX_VALUE_DEPTH));
  if (bad.length === 0) return { value: answer };
  const value = { ...answer };
  for (const member of bad) delete value[member];
  const message = `What stands in ${bad.join(' and ')} is nested too deeply to be told.`;
  return { value, unreadable: { code: 'value_too_deep', message } };
}
