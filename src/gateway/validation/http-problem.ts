/** The error for every refusal of the gateway. It does not depend on Temporal, so threads can throw it too. */

import type { Problem } from '../../definition/document/types.ts';
import type { JsonObject } from '../../json/json.ts';
import { PROBLEM_CODES, type ProblemCode } from './problem-codes.ts';

interface HttpProblemOptions {
  readonly problems?: readonly Problem[];
  readonly headers?: { readonly [name: string]: string };
  /** Members beside those of RFC 9457, such as `paths` or `executionId`. */
  readonly more?: JsonObject;
  readonly cause?: unknown;
}

/** Thrown anywhere in a handler; becomes the answer. */
export class HttpProblem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly title: string;
  readonly options: HttpProblemOptions;
  constructor(code: ProblemCode, detail: string, options: HttpProblemOptions = {}) {
    super(detail, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'HttpProblem';
    this.code = code;
    this.status = PROBLEM_CODES[code].status;
    this.title = PROBLEM_CODES[code].title;
    this.options = options;
  }
}
