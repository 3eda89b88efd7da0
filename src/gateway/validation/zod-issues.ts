/** The issues that zod finds, as problems: a pointer, a code, and a sentence that says what was expected. */
import type { z } from 'zod';
import type { Problem } from '../../definition/document/types.ts';
import { pointer } from '../../json/pointer.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** Zod's default message for a union without a matching alternative. */
const DEFAULT_UNION_MESSAGE = 'Invalid input';

/** The problems of one issue, including those inside a union or a record's key. */
export function asProblems(issue: Issue, prefix: Path = []): Problem[] {
  const path = [...prefix, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        pointer: pointer([...path, key]),
        code: 'unknown_member',
        message: `${key} is not known here.`,
      }));
    case 'invalid_union':
      return unionProblems(issue, path);
    case 'invalid_key':
      return [invalid(path, issue.issues[0]?.message ?? issue.message)];
    default:
      return [invalid(path, issue.message)];
  }
}

/** The alternative of a union that fits best. Where two fit equally well, the issue of the union itself. */
function unionProblems(issue: z.core.$ZodIssueInvalidUnion, path: Path): Problem[] {
  const [nearest, next] = issue.errors
    .filter((issues) => issues.length > 0)
    .map((issues) => ({ issues, matchScore: matchScoreOf(issues), count: countOf(issues) }))
    .sort((a, b) => b.matchScore - a.matchScore || a.count - b.count);
  const isMeant =
    nearest !== undefined &&
    nearest.matchScore > 0 &&
    (next === undefined || nearest.matchScore > next.matchScore || nearest.count < next.count);
  if (isMeant) return nearest.issues.flatMap((inner) => asProblems(inner, path));
  return [invalid(path, issue.message === DEFAULT_UNION_MESSAGE ? expectedBy(issue) : issue.message)];
}

/** 0: the value has another type; 1: the type fits, but the value is wrong; 2: only a part of the value is wrong. */
function matchScoreOf(issues: readonly Issue[]): number {
  const rootIssues = issues.filter(({ path }) => path.length === 0);
  if (rootIssues.some(({ code }) => code === 'invalid_type')) return 0;
  return rootIssues.length === 0 ? 2 : 1;
}

const countOf = (issues: readonly Issue[]): number =>
  issues.reduce((count, issue) => count + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);

function expectedBy(issue: z.core.$ZodIssueInvalidUnion): string {
  const types = issue.errors.flatMap(([first]) => (first?.code === 'invalid_type' ? [String(first.expected)] : []));
  if (types.length === issue.errors.length) return `Expected ${[...new Set(types)].join(' or ')}.`;
  return [...new Set(issue.errors.flatMap(([first]) => first?.message ?? []))].map(sentence).join(' Or: ');
}

const invalid = (path: Path, message: string): Problem => ({
  pointer: pointer(path),
  code: 'invalid_value',
  message: sentence(message),
});

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
