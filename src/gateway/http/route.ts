/**
 * One object per route. The router, the checks of requests, the roles, the handling of `Idempotency-Key`, the audit and
 * the OpenAPI document all read it. The table of all routes is src/gateway/route-table.ts.
 */

import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { ApiKeyCache } from '../../client/organization/api-key-cache.ts';
import type { AuditTrail } from '../../client/organization/audit.ts';
import type { WriteAccess } from '../../client/temporal/access.ts';
import type { Role } from '../../contract/organization/organization.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { ProblemCode } from '../validation/problem-codes.ts';
import { noMembers, paramsAs, queryAs } from '../validation/validation.ts';
import type { Gateway } from './context.ts';
import type { Method } from './method.ts';
import { type Principal, principalOf } from './principal.ts';
import type { RouteBody } from './route-body.ts';

/** What a route answers with one status. */
export interface RouteAnswer {
  readonly text: string;
  /** Without a schema the answer has no body. */
  readonly schema?: z.ZodType;
  /** Default: application/json. */
  readonly media?: readonly string[];
  /** Headers worth knowing: name → description. */
  readonly headers?: { readonly [name: string]: string };
}

type RouteAnswers = { readonly [status: number]: RouteAnswer };
type Params = { readonly [name: string]: z.ZodType };

/**
 * How a route treats `Idempotency-Key`.
 * - `answer`: the gateway stores the answer and repeats it. The default of every POST that is not public.
 * - `id`: the key makes the id of what the route starts, so a repeated request finds it.
 * - `none`: the route ignores the header.
 */
export type Idempotency = 'answer' | 'id' | 'none';

/**
 * Where a public route may be called from. By default it has the loopback guard that applies without keys.
 * - `anywhere`: a signature or a token in the request counts, so Host and Origin are not checked.
 * - `probes`: load balancers call it; it has no rate limit, and proxies may pass it on.
 */
export type Callers = 'anywhere' | 'probes';

type RouteRole = Role | 'public';

interface RouteHead {
  readonly method: Method;
  /** As Express writes it, such as `/api/workflows/:slug`. */
  readonly path: string;
  /** The role that a caller needs; `public` routes need no API key. */
  readonly role: RouteRole;
  /** The operationId: generated clients name their functions after it. */
  readonly id: string;
  /** The part of the API that it belongs to. Default: that of its neighbours (route-table.ts). */
  readonly tag?: string;
  readonly summary: string;
  readonly description?: string;
  /** Request headers: name → description. */
  readonly headers?: { readonly [name: string]: string };
  /** Codes that the route may answer, beside those of every route. */
  readonly problems?: readonly ProblemCode[];
  readonly callers?: Callers;
}

interface RouteOptions extends RouteHead {
  readonly idempotency?: Idempotency;
  /** False: the run records the request. Default: every method but GET is audited. */
  readonly isAudited?: boolean;
  /** False: the gateway answers without asking Temporal. */
  readonly asksTemporal?: boolean;
  /** Whether it may change something: such requests need a slot (backpressure.ts). Default: every method but GET. */
  readonly writes?: boolean;
}

/** A request before its params, query and body are checked. */
export interface Incoming {
  readonly gateway: Gateway;
  /** Its writes are recorded in the audit, where the route is audited. */
  readonly access: WriteAccess;
  readonly keyring: ApiKeyCache;
  /** For routes that record more than their writes. */
  readonly trail: AuditTrail;
  /** All routes of the gateway. */
  readonly routes: readonly Route[];
  readonly req: Request;
  readonly res: Response;
  /**
   * Reads the body of a path whose bodies are read late (route-body.ts), and takes a slot (backpressure.ts).
   * @throws HttpProblem `request_timeout`, `gateway_busy`, and the errors of Express's body reader.
   */
  takeBody(organizationId: string): Promise<void>;
}

/** A request as its handler sees it. */
export interface Call<P = unknown, Q = unknown, B = unknown> extends Incoming {
  /** The caller. */
  readonly principal: Principal;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

/** Public routes accept any caller, so their calls have no principal. */
type CallOf<R extends RouteRole, P, Q, B> = R extends 'public' ? Omit<Call<P, Q, B>, 'principal'> : Call<P, Q, B>;

/** The handler has written the answer itself, as streams do. */
export const SENT = Symbol('sent');

/** What a handler answers: JSON, or a text of another media type. */
export type Outcome =
  | {
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: { readonly [name: string]: string };
    }
  | {
      readonly status: number;
      readonly type: string;
      readonly text: string;
      readonly headers?: { readonly [name: string]: string };
    }
  | typeof SENT;

/** The read-only form of a schema's value. An object with arbitrary member names becomes `object`. */
export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? string extends keyof T
      ? object
      : { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

type Headers = { readonly headers?: { readonly [name: string]: string } };
type JsonOutcome<S, Answer> = Headers & { readonly status: S } & (Answer extends {
    readonly schema: z.ZodType<infer Body>;
  }
    ? { readonly body: DeepReadonly<Body> }
    : { readonly body?: undefined });
type TextOutcome<S> = Headers & { readonly status: S; readonly type: string; readonly text: string };

/** What the handler of a route with these answers may return: the compiler compares bodies with their schemas. */
export type OutcomeOf<A extends RouteAnswers> =
  | { [S in keyof A & number]: JsonOutcome<S, A[S]> | TextOutcome<S> }[keyof A & number]
  | typeof SENT;

/** 200 with this body. */
export const ok = <Body>(body: Body) => ({ status: 200, body }) as const;

/** 201 if the request created the resource, 200 if it existed before. */
export function createdOrOk<Body>(isCreated: boolean, body: Body, headers: { readonly [name: string]: string } = {}) {
  return isCreated ? ({ status: 201, body, headers } as const) : ({ ...ok(body), headers } as const);
}

/** A route as it is declared. */
interface RouteSpec<
  M extends Method,
  Path extends string,
  P extends Params,
  Q,
  B,
  A extends RouteAnswers,
  R extends RouteRole,
> extends RouteOptions {
  readonly method: M;
  readonly path: Path;
  readonly role: R;
  readonly params?: P;
  /** Default: no parameters; unknown ones are refused. */
  readonly query?: z.ZodType<Q>;
  readonly body?: RouteBody<B>;
  readonly answers: A;
  handle(
    call: CallOf<NoInfer<R>, { readonly [K in keyof P]: z.output<P[K]> }, Q, B>,
  ): Promise<OutcomeOf<NoInfer<A>>> | OutcomeOf<NoInfer<A>>;
}

/** A route as the router and the OpenAPI document see it. */
export interface Route extends RouteHead {
  readonly idempotency: Idempotency;
  readonly isAudited: boolean;
  readonly asksTemporal: boolean;
  readonly writes: boolean;
  readonly params: Params;
  readonly query?: z.ZodType;
  readonly body?: RouteBody<unknown>;
  readonly answers: RouteAnswers;
  /**
   * Checks params, query and body, then calls the handler.
   * @throws HttpProblem `invalid_request`, those of bodies, and those of the handler.
   */
  answer(incoming: Incoming): Promise<Outcome>;
}

/** A route of which the compiler knows what it answers: the command line reads answers by method and path. */
interface TypedRoute<M extends Method, Path extends string, A extends RouteAnswers> extends Route {
  readonly method: M;
  readonly path: Path;
  readonly answers: A;
}

/** Declares a route whose requests are checked before its handler runs. */
export function route<
  const M extends Method,
  const Path extends string,
  Q = unknown,
  B = undefined,
  P extends Params = Record<never, never>,
  A extends RouteAnswers = RouteAnswers,
  R extends RouteRole = Role,
>(spec: RouteSpec<M, Path, P, Q, B, A, R>): TypedRoute<M, Path, A> {
  const { params = {} as P, query, body, handle, ...rest } = spec;
  return {
    ...defaultsOf(rest),
    ...rest,
    params,
    ...omitUndefined({ query, body }),
    answer: async (incoming) =>
      handle({
        ...incoming,
        ...(spec.role === 'public' ? {} : { principal: principalOf(incoming.req) }),
        query: queryAs<unknown>(incoming.req, query ?? noMembers) as Q,
        body: body?.read(incoming.req) as B,
        params: paramsAs(incoming.req, params),
      } as CallOf<R, { readonly [K in keyof P]: z.output<P[K]> }, Q, B>),
  };
}

/** Declares a route whose handler reads the request itself. Its params and its body are only documented. */
export function rawRoute<A extends RouteAnswers>(
  spec: RouteOptions & {
    readonly params?: Params;
    readonly body?: RouteBody<unknown>;
    readonly answers: A;
    handle(incoming: Incoming): Promise<OutcomeOf<NoInfer<A>>>;
  },
): Route {
  const { params = {}, handle, ...rest } = spec;
  return { ...defaultsOf(rest), ...rest, params, answer: handle };
}

const defaultsOf = ({
  method,
  role,
  asksTemporal = true,
}: RouteOptions): Pick<Route, 'idempotency' | 'isAudited' | 'asksTemporal' | 'writes'> => ({
  idempotency: method === 'POST' && role !== 'public' ? 'answer' : 'none',
  isAudited: method !== 'GET',
  asksTemporal,
  writes: method !== 'GET' && asksTemporal,
});
