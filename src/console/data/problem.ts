/** An answer of the API that is no success, or none at all. */
import { isObject } from '../../json/json.ts';
import { parsed } from './parsed.ts';
import type { ProblemItem } from './types.ts';

/** The code of a problem that no gateway answered: it cannot be reached. */
export const UNREACHABLE = 'unreachable';

interface Parts {
  /** 0 where nothing answered. */
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly problems?: readonly ProblemItem[];
  /** X-Request-Id of the answer, by which the gateway's log finds it. */
  readonly requestId?: string | undefined;
  /** Other members of the problem, such as `paths`. */
  readonly more?: { readonly [member: string]: unknown };
}

export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly problems: readonly ProblemItem[];
  readonly requestId: string | undefined;
  readonly more: { readonly [member: string]: unknown };
  constructor({ status, code, detail, problems = [], requestId, more = {} }: Parts) {
    super(detail);
    this.name = 'ApiProblem';
    this.status = status;
    this.code = code;
    this.problems = problems;
    this.requestId = requestId;
    this.more = more;
  }
}

/** The problem that an answer holds. `text` is the body, which a proxy may have written. */
export function problemIn(status: number, text: string, requestId: string | undefined): ApiProblem {
  const { detail, code, problems, type: _type, title: _title, status: _status, ...more } = membersOf(text);
  return new ApiProblem({
    status,
    code: typeof code === 'string' ? code : `http_${status}`,
    detail: typeof detail === 'string' ? detail : `The answer has the status ${status} and no explanation.`,
    problems: Array.isArray(problems) ? problems.filter(isItem) : [],
    requestId,
    more,
  });
}

/** Any thrown value as a problem, for screens that show it. */
export const asApiProblem = (thrown: unknown): ApiProblem =>
  thrown instanceof ApiProblem
    ? thrown
    : new ApiProblem({ status: 0, code: 'failed', detail: thrown instanceof Error ? thrown.message : String(thrown) });

/** What a problem says of one place, by JSON pointer: `/name`. */
export const problemAt = (problem: ApiProblem | undefined, pointer: string): string | undefined =>
  problem?.problems.find((item) => item.pointer === pointer)?.message;

function membersOf(text: string): { readonly [member: string]: unknown } {
  const { value } = parsed(text);
  return isObject(value) ? value : {};
}

const isItem = (value: unknown): value is ProblemItem =>
  isObject(value) && typeof value['pointer'] === 'string' && typeof value['message'] === 'string';
