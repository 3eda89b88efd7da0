/** The limits of sizes: a table, and single numbers that pages mention. */

import {
  MAX_RECORDED_STEPS,
  MAX_RECORDINGS,
  STATE_OVERHEAD_BYTES,
  STEP_INPUT_BYTES,
  STEP_OUTPUT_BYTES,
} from '../../../contract/definitions/recording.ts';
import { INBOX_MESSAGE_BYTES } from '../../../contract/organization/inbox.ts';
import {
  MAX_BLOB_STATE_BYTES,
  MAX_DEFINITION_BYTES,
  MAX_SECRET_BYTES_PER_STEP,
  MAX_SECRETS_PER_STEP,
  MAX_STATE_BYTES,
  MAX_STEPS,
  MIN_BLOB_BYTES,
  MIN_SECRET_CHARACTERS,
} from '../../../definition/document/limits.ts';
import {
  INBOX_REFUSAL_FRACTION,
  MAX_INBOX_BYTES,
  MAX_INBOX_MESSAGES,
  MAX_OPEN_COMMANDS,
  MAX_PAYLOAD_BYTES,
} from '../../../engine/state/limits.ts';
import { MAX_NESTING } from '../../../json/depth.ts';
import { MAX_SOURCE_LENGTH, MAX_WORK } from '../../../template/limits.ts';
import { MAX_BODY_BYTES } from '../../http/body.ts';
import { code, table } from '../page.ts';

/** Slots that are one number each. */
export const NUMBERS: { readonly [slot: string]: number } = {
  'blob bytes': MIN_BLOB_BYTES,
  'largest payload': MAX_PAYLOAD_BYTES,
  'largest state': MAX_BLOB_STATE_BYTES,
  'open commands': MAX_OPEN_COMMANDS,
  'recorded input': STEP_INPUT_BYTES,
  'recorded output': STEP_OUTPUT_BYTES,
  'recorded steps': MAX_RECORDED_STEPS,
  recordings: MAX_RECORDINGS,
  'recording bytes': MAX_STATE_BYTES - STATE_OVERHEAD_BYTES,
  'secrets per step': MAX_SECRETS_PER_STEP,
  'shortest secret': MIN_SECRET_CHARACTERS,
};

const count = (number: number): string => number.toLocaleString('en');
const bytes = (number: number): string => `${count(number)} bytes`;
const bytesWithBlobStore = (without: number): string =>
  `${bytes(MAX_BLOB_STATE_BYTES)}; without a blob store ${bytes(without)}`;

export function sizeLimits(): string {
  const rows = [
    ['Definition', bytes(MAX_DEFINITION_BYTES), 'definition_too_large'],
    ['Steps of a definition', count(MAX_STEPS), 'too_many_steps'],
    ['Nesting of JSON', count(MAX_NESTING), 'too_deep'],
    ['Body of a request, decompressed', bytes(MAX_BODY_BYTES), 'body_too_large'],
    ['Input of a run or a child run', bytes(MAX_PAYLOAD_BYTES), 'payload_too_large'],
    ['Output of a child run, answer of a query', bytes(MAX_PAYLOAD_BYTES), 'result_too_large'],
    ['Config sent to an activity', bytesWithBlobStore(MAX_PAYLOAD_BYTES), 'payload_too_large'],
    [
      'Secrets of a step',
      `${count(MAX_SECRETS_PER_STEP)}, ${bytes(MAX_SECRET_BYTES_PER_STEP)} in total`,
      'too_many_secrets',
    ],
    ['Result of a step, output of a run', bytesWithBlobStore(MAX_PAYLOAD_BYTES), 'result_too_large'],
    ['Definition and state of a run in total', bytesWithBlobStore(MAX_STATE_BYTES), 'state_too_large'],
    [
      'Messages that no step has received yet',
      `${bytes(MAX_INBOX_BYTES)} and ${count(MAX_INBOX_MESSAGES)}; ` +
        `the API refuses more at ${INBOX_REFUSAL_FRACTION * 100}%`,
      'inbox_overflow',
    ],
    ['Message for the inbox', bytes(INBOX_MESSAGE_BYTES), 'payload_too_large'],
    ['Open recordings of an organization', count(MAX_RECORDINGS), 'too_many'],
    ['Expression', `${count(MAX_SOURCE_LENGTH)} characters`, 'expression_limit'],
    ['Evaluation of an expression', `${count(MAX_WORK)} units of work`, 'expression_limit'],
  ].map(([what = '', limit = '', error = '']) => [what, limit, code(error)]);
  return table(['What', 'Limit', 'Error'], rows);
}
