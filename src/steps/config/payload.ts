/** Payload formats in step configs: a form, a message's schema, a trigger's inputs. */

import type { PayloadFormat, Problem } from '../../definition/document/types.ts';
import { validatePayload } from '../../definition/payload/format.ts';
import type { Json } from '../../json/json.ts';
import { isConstant } from '../../template/template.ts';
import type { Parse, StepContext } from '../kind.ts';
import { isAbsent, object } from './read.ts';

const MAX_LISTED_PROBLEMS = 5;

/**
 * The format of a config member. A format with templates is evaluated when the step begins and stored in the step state
 * under the member's name. A constant format is the same at every visit, so the state does not carry it.
 */
export interface Format<M extends string> {
  readonly isConstant: boolean;
  /** The members of the step state that hold the evaluated format: none for a constant format. */
  stored(visit: StepContext): StoredFormat<M>;
  formatOf(visit: StepContext, state: StoredFormat<M>): PayloadFormat | undefined;
}

export type StoredFormat<M extends string> = { readonly [member in M]?: PayloadFormat | null };

export function planFormat<M extends string>(value: Json | undefined, member: M, parse: Parse): Format<M> {
  if (value === undefined) return { isConstant: true, stored: () => ({}), formatOf: () => undefined };
  const template = parse.template(value, `/${member}`);
  const read = (json: Json | undefined): PayloadFormat | undefined =>
    isAbsent(json) ? undefined : object(json, member);
  if (isConstant(template))
    return { isConstant: true, stored: () => ({}), formatOf: (visit) => read(visit.render(template)) };
  return {
    isConstant: false,
    stored: (visit) => ({ [member]: read(visit.render(template)) ?? null }) as StoredFormat<M>,
    formatOf: (_visit, state) => read(state[member]),
  };
}

const MAX_SHOWN_FORM = 4_000;

/** The form as a wait shows it. A larger form is shown only in the input of the step. */
export function shownForm(format: PayloadFormat | undefined): { readonly form?: PayloadFormat } {
  return format === undefined || JSON.stringify(format).length > MAX_SHOWN_FORM ? {} : { form: format };
}

/** As validatePayload, as the worker of the task does it. */
export const payloadProblems = (visit: Pick<StepContext, 'isMarked'>, format: PayloadFormat, data: Json): Problem[] =>
  validatePayload(format, data, { before0_4: !visit.isMarked('formats') });

/** The problems of the data as one sentence; undefined where it fits, or where there is no format. */
export function payloadMismatch(
  visit: Pick<StepContext, 'isMarked'>,
  format: PayloadFormat | undefined,
  data: Json,
): string | undefined {
  if (format === undefined) return undefined;
  const problems = payloadProblems(visit, format, data);
  if (problems.length === 0) return undefined;
  const listed = problems.slice(0, MAX_LISTED_PROBLEMS).map(({ pointer, message }) => `${pointer || '/'}: ${message}`);
  const more = problems.length - listed.length;
  return `${listed.join(' ')}${more > 0 ? ` (and ${more} more)` : ''}`;
}
