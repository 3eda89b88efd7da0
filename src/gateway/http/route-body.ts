/** Bodies of routes: how the OpenAPI document describes them, and how a handler gets them. */
import type { Request } from 'express';
import { z } from 'zod';
import { anything } from '../answers/named.ts';
import { bodyAs } from './body.ts';
import type { Method } from './method.ts';

export interface RouteBody<Body> {
  readonly schema: z.ZodType;
  /** Default: application/json. */
  readonly media?: readonly string[];
  readonly isOptional?: true;
  /** The largest body in bytes. Default: MAX_BODY_BYTES. */
  readonly maxBytes?: number;
  /** The handler reads the bytes once it knows that the address exists (`takeBody` of its Incoming). */
  readonly isReadLate?: true;
  /** What the handler gets. */
  read(req: Request): Body;
}

type BodyOptions = Pick<RouteBody<unknown>, 'media' | 'isOptional' | 'maxBytes' | 'isReadLate'>;

/** A JSON body of the schema. Where it is optional, a missing one counts as `{}`. */
export const jsonOf = <Body>(schema: z.ZodType<Body>, options: BodyOptions = {}): RouteBody<Body> => ({
  schema,
  ...options,
  read: (req) => bodyAs(req, schema, options.isOptional === true ? {} : undefined),
});

/** No body, or an empty object. */
export const emptyBody = (): RouteBody<object> => jsonOf(z.strictObject({}), { isOptional: true });

/** The body of routes that accept any method: read late, and absent with GET and DELETE. */
export const bodyOfMethod = (method: Method, media: readonly string[]): { readonly body?: RouteBody<undefined> } =>
  method === 'GET' || method === 'DELETE'
    ? {}
    : { body: rawBodyOf(anything, { media, isOptional: true, isReadLate: true }) };

/** A body that the handler reads itself. The schema only documents it. */
export const rawBodyOf = (schema: z.ZodType, options: BodyOptions = {}): RouteBody<undefined> => ({
  schema,
  ...options,
  read: () => undefined,
});
