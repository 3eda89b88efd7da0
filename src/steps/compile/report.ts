/** Reports problems of a document while it is compiled. Compilation continues after each. */
import type { Json } from '../../json/json.ts';
import { TemplateError } from '../../template/types.ts';
import { durationMs } from '../config/duration.ts';
import { ConfigError, StepFailure } from '../kind.ts';

export type Report = (pointer: string, code: string, message: string, hint?: string) => void;

/** A TemplateError with the pointer from the root of the document. */
export class LocatedTemplateError extends Error {
  readonly pointer: string;
  override readonly cause: TemplateError;
  constructor(pointer: string, cause: TemplateError) {
    super(cause.message);
    this.pointer = pointer;
    this.cause = cause;
  }
}

export function tryOrReport<T>(pointer: string, report: Report, make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof LocatedTemplateError)
      report(error.pointer, error.cause.code, error.message, hintOf(error.cause));
    else if (error instanceof TemplateError)
      report(`${pointer}${error.pointer ?? ''}`, error.code, error.message, hintOf(error));
    else if (error instanceof ConfigError) report(`${pointer}${error.at}`, error.code, error.message);
    else if (error instanceof StepFailure) report(pointer, error.code, error.message);
    else throw error;
    return undefined;
  }
}

/** The expected form, where the message does not have it already. */
export function hintOf({ expected, message }: TemplateError): string | undefined {
  return expected === undefined || message.includes(expected) ? undefined : expected;
}

export function duration(value: Json | undefined, pointer: string, report: Report): number | undefined {
  return value === undefined ? undefined : tryOrReport(pointer, report, () => durationMs(value));
}
