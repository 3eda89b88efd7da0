/** What the OpenAPI document says of one operation. The schemas are those that the route itself checks with. */
import type { z } from 'zod';
import type { Method } from '../http/resource.ts';
import type { ProblemCode } from '../validation/problem-codes.ts';

export interface OperationAnswer {
  readonly text: string;
  /** Without one there is no body. */
  readonly schema?: z.ZodType;
  /** Default: application/json. */
  readonly media?: readonly string[];
  /** Headers of note: name → what it says. */
  readonly headers?: { readonly [name: string]: string };
}

export interface Operation {
  readonly method: Method;
  /** As the route has it (`/api/workflows/:slug`). */
  readonly path: string;
  /** Unique: what generated clients call it. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: { readonly [name: string]: z.ZodType };
  readonly query?: z.ZodType;
  /** Request headers: name → what it says. */
  readonly headers?: { readonly [name: string]: string };
  readonly body?: {
    readonly schema: z.ZodType;
    /** Default: application/json alone. */
    readonly media?: readonly string[];
    readonly isOptional?: true;
  };
  readonly answers: { readonly [status: number]: OperationAnswer };
  /** Beside those that every operation may have. */
  readonly problems?: readonly ProblemCode[];
  /** Whoever comes from anywhere may call it: there is no guard of Host and Origin. */
  readonly isPublic?: true;
}

/** Of every operation that takes a body. */
export const BODY_PROBLEMS: readonly ProblemCode[] = [
  'invalid_json',
  'too_deep',
  'forbidden_key',
  'invalid_name',
  'body_too_large',
  'unsupported_media_type',
];

/** Of every operation. */
export const COMMON_PROBLEMS: readonly ProblemCode[] = [
  'rate_limited',
  'invalid_request',
  'request_timeout',
  'headers_too_large',
  'internal_error',
];
/** Of every operation that takes an Idempotency-Key, and keeps its answer. */
export const KEY_PROBLEMS: readonly ProblemCode[] = ['idempotency_conflict', 'request_in_flight'];
/** The header that every POST takes. */
export const REQUEST_KEY = {
  'Idempotency-Key': 'The same key again is the same request, and gets the same answer.',
} as const;
/** Of every operation that asks Temporal. */
export const TEMPORAL_PROBLEMS: readonly ProblemCode[] = ['temporal_unreachable', 'payload_unreadable'];
export const GUARD_PROBLEMS: readonly ProblemCode[] = [
  'host_not_allowed',
  'origin_not_allowed',
  'proxy_without_keys',
  'key_required',
  'key_invalid',
  'role_required',
];
/** Of every operation that writes. */
export const WRITE_PROBLEMS: readonly ProblemCode[] = ['outcome_unknown', 'refused'];
export const LIST_PROBLEMS: readonly ProblemCode[] = ['invalid_cursor', 'invalid_query'];
