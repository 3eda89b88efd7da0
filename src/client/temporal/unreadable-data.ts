/**
 * Unreadable stored data of a run: encrypted under an unknown key, stored in a blob that was removed, or of an unknown
 * form, because every client of Temporal can write it. A list or a trace marks the one row.
 */

import type { Unreadable } from '../../history/events.ts';
import { isTooDeep, MAX_VALUE_DEPTH } from '../../json/depth.ts';
import { ClientError, hasCode } from '../errors.ts';
import { grpcOf, toClientError } from './rpc.ts';

/** Codes of errors that do not concern the run's data: Temporal is unreachable, or the error is another run's. */
const NON_DATA_ERROR_CODES = [
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
export function toUnreadableError(thrown: unknown): ClientError {
  const error = toClientError(thrown, false);
  if (error instanceof ClientError) return error;
  const message = 'What is stored here is not in a form that Signalbox writes: its encoding or its content is damaged.';
  return new ClientError('payload_unreadable', message, { cause: error });
}

/**
 * The result of `read`, or why the data cannot be read. @throws ClientError for failures that do not come from the
 * run's data.
 */
export async function tryRead<T>(
  read: () => Promise<T>,
): Promise<
  | { readonly value: T; readonly unreadable?: undefined }
  | { readonly value?: undefined; readonly unreadable: Unreadable }
> {
  try {
    return { value: await read() };
  } catch (thrown) {
    const error = toUnreadableError(thrown);
    // Other answers of the server do not concern the run's data either.
    if (hasCode(error, ...NON_DATA_ERROR_CODES) || grpcOf(thrown) !== undefined) throw toClientError(thrown, false);
    return { unreadable: toUnreadable(error) };
  }
}

export const toUnreadable = ({ code, message }: Unreadable): Unreadable => ({ code, message });

/**
 * The answer with the members that can be written as JSON. Where some cannot, they are omitted, and the reason is
 * added.
 */
export function withoutTooDeep<T extends object>(
  answer: T,
  members: readonly (keyof T & string)[],
): { readonly value: T; readonly unreadable?: Unreadable } {
  const tooDeep = members.filter(
    (member) => answer[member] !== undefined && isTooDeep(answer[member], MAX_VALUE_DEPTH),
  );
  if (tooDeep.length === 0) return { value: answer };
  const value = { ...answer };
  for (const member of tooDeep) delete value[member];
  const message = `What stands in ${tooDeep.join(' and ')} is nested too deeply to be told.`;
  return { value, unreadable: { code: 'value_too_deep', message } };
}
