/** Payload formats in step configs: a form, a message's schema, a trigger's inputs. */

import type { PayloadFormat } from '../../definition/document/types.ts';
import { validatePayload } from '../../definition/payload/format.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { isConstant } from '../../template/template.ts';
import type { Parse, StepContext } from '../kind.ts';
import { isAbsent, object } from './read.ts';

const LISTED_PROBLEMS = 5;

/**
 * The format of a config member. One that holds templates is evaluated when the step begins and kept in `hold`; one that
 * holds none is the same at every visit, so state need not carry it.
 */
export interface Format {
  /** It holds no template. */
  readonly isConstant: boolean;
  /** What `hold` must keep: nothing where the format is a constant. */
  held(visit: StepContext): JsonObject;
  /** `hold`: where it is not the visit's yet, as within begin. */
  of(visit: StepContext, hold?: JsonObject): PayloadFormat | undefined;
}

export function planFormat(value: Json | undefined, member: string, parse: Parse): Format {
  if (value === undefined) return { isConstant: true, held: () => ({}), of: () => undefined };
  const template = parse.template(value, `/${member}`);
  const read = (json: Json | undefined): PayloadFormat | undefined =>
    isAbsent(json) ? undefined : object(json, member);
  if (isConstant(template)) return { isConstant: true, held: () => ({}), of: (visit) => read(visit.render(template)) };
  return {
    isConstant: false,
    held: (visit) => ({ [member]: read(visit.render(template)) ?? null }),
    of: (visit, hold = visit.hold) => read(hold[member]),
  };
}

const MAX_SHOWN_FORM = 4_000;

/** What those who are asked are shown of it; a larger one stands in the input of the step only. */
export function shownForm(format: PayloadFormat | undefined): { readonly form?: PayloadFormat } {
  return format === undefined || JSON.stringify(format).length > MAX_SHOWN_FORM ? {} : { form: format };
}

/** Why the data does not fit, as one sentence; undefined where it does, or where there is no format. */
export function misfit(format: PayloadFormat | undefined, data: Json): string | undefined {
  if (format === undefined) return undefined;
  const problems = validatePayload(format, data);
  if (problems.length === 0) return undefined;
  const listed = problems.slice(0, LISTED_PROBLEMS).map(({ pointer, message }) => `${pointer || '/'}: ${message}`);
  const more = problems.length - listed.length;
  return `${listed.join(' ')}${more > 0 ? ` (and ${more} more)` : ''}`;
}
