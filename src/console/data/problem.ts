/** Problems: error responses of the API, and requests that got no response. */
import { isObject } from '../../json/json.ts';
import { parseJsonInput } from './parse-json-input.ts';
import type { ProblemItem } from './types.ts';

/** The problem code of a request that reached no gateway. */
export const UNREACHABLE = 'unreachable';

interface ApiProblemInit {
  /** 0 where nothing answered. */
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly problems?: readonly ProblemItem[];
  /** X-Request-Id of the answer, by which the gateway's log finds it. */
  readonly requestId?: string | undefined;
  /** Other members of the problem, such as `paths`. */
  readonly extensions?: { readonly [member: string]: unknown };
}

export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly problems: readonly ProblemItem[];
  readonly requestId: string | undefined;
  readonly extensions: { readonly [member: string]: unknown };
  constructor({ status, code, detail, problems = [], requestId, extensions = {} }: ApiProblemInit) {
    super(detail);
    this.name = 'ApiProblem';
    this.status = status;
    this.code = code;
    this.problems = problems;
    this.requestId = requestId;
    this.extensions = extensions;
  }
}

/** Parses the problem of an error response. `text` is the body, which may come from a proxy. */
export function parseProblem(status: number, text: string, requestId: string | undefined): ApiProblem {
  const { detail, code, problems, type: _type, title: _title, status: _status, ...extensions } = membersOf(text);
  return new ApiProblem({
    status,
    code: typeof code === 'string' ? code : `http_${status}`,
    detail: typeof detail === 'string' ? detail : `The answer has the status ${status} and no explanation.`,
    problems: Array.isArray(problems) ? problems.filter(isProblemItem) : [],
    requestId,
    extensions,
  });
}

/** Any thrown value as a problem, for screens that show it. */
export const asApiProblem = (thrown: unknown): ApiProblem =>
  thrown instanceof ApiProblem
    ? thrown
    : new ApiProblem({ status: 0, code: 'failed', detail: thrown instanceof Error ? thrown.message : String(thrown) });

/** The message of a problem for one JSON pointer, such as `/name`. */
export const problemAt = (problem: ApiProblem | undefined, pointer: string): string | undefined =>
  problem?.problems.find((item) => item.pointer === pointer)?.message;

function membersOf(text: string): { readonly [member: string]: unknown } {
  const { value } = parseJsonInput(text);
  return isObject(value) ? value : {};
}

const isProblemItem = (value: unknown): value is ProblemItem =>
  isObject(value) && typeof value['pointer'] === 'string' && typeof value['message'] === 'string';
