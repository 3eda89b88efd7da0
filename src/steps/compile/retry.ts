/** Retry policies of effects (LANGUAGE.md §7). */
import type { RetryPolicy, RetryPolicyName } from '../../definition/document/types.ts';
import type { ResolvedRetryPolicy } from '../program-types.ts';
import { duration, type Report } from './report.ts';

/** Policies that a definition may name instead of writing one. */
export const RETRY_POLICIES: { readonly [name in RetryPolicyName]: ResolvedRetryPolicy } = {
  /** LANGUAGE.md §1: the defaults of config.retryPolicy. */
  default: {
    maxAttempts: 3,
    initialIntervalMs: 1_000,
    backoffCoefficient: 2,
    maximumIntervalMs: 60_000,
    nonRetryable: [],
  },
  /** The defaults of rivet's steps: 200 ms before the second attempt, then doubled, at most 30 s. */
  quick: {
    maxAttempts: 3,
    initialIntervalMs: 200,
    backoffCoefficient: 2,
    maximumIntervalMs: 30_000,
    nonRetryable: [],
  },
  none: {
    maxAttempts: 1,
    initialIntervalMs: 1_000,
    backoffCoefficient: 1,
    maximumIntervalMs: 1_000,
    nonRetryable: [],
  },
};

/** The limit of Temporal. */
const MAX_ATTEMPTS = 1_000_000;

/** The policy, with absent members taken from `base`. A named policy is complete. */
export function resolveRetry(
  policy: RetryPolicy | RetryPolicyName | undefined,
  base: ResolvedRetryPolicy,
  at: string,
  report: Report,
): ResolvedRetryPolicy {
  if (policy === undefined) return base;
  if (typeof policy === 'string') {
    if (Object.hasOwn(RETRY_POLICIES, policy)) return RETRY_POLICIES[policy];
    report(
      at,
      'invalid_retry',
      `There is no retry policy '${policy}'.`,
      `Take ${Object.keys(RETRY_POLICIES)
        .map((name) => `'${name}'`)
        .join(', ')}, or an object.`,
    );
    return base;
  }
  // A run that was started by hand was not checked against the schema, and an invalid policy would fail its workflow
  // task forever.
  const fitting = <T>(
    member: string,
    value: T | undefined,
    isValid: (value: T) => boolean,
    expected: string,
  ): T | undefined => {
    if (value === undefined || isValid(value)) return value;
    report(`${at}/${member}`, 'invalid_retry', `Expected ${expected}.`);
    return undefined;
  };
  const isCount = (count: number): boolean => Number.isInteger(count) && count >= 1 && count <= MAX_ATTEMPTS;
  const isFactor = (factor: number): boolean => Number.isFinite(factor) && factor >= 1;
  const areCodes = (codes: readonly string[]): boolean =>
    Array.isArray(codes) && codes.every((code) => typeof code === 'string');
  const { maxAttempts, initialInterval, backoffCoefficient, maximumInterval, nonRetryable } = policy;
  return {
    maxAttempts:
      fitting('maxAttempts', maxAttempts, isCount, `a whole number from 1 to ${MAX_ATTEMPTS}`) ?? base.maxAttempts,
    initialIntervalMs: duration(initialInterval, `${at}/initialInterval`, report) ?? base.initialIntervalMs,
    backoffCoefficient:
      fitting('backoffCoefficient', backoffCoefficient, isFactor, 'a number of at least 1') ?? base.backoffCoefficient,
    maximumIntervalMs: duration(maximumInterval, `${at}/maximumInterval`, report) ?? base.maximumIntervalMs,
    nonRetryable: fitting('nonRetryable', nonRetryable, areCodes, 'a list of error codes') ?? base.nonRetryable,
  };
}
