/**
 * The audience, and when votes decide (LANGUAGE.md §6). This only counts: approval-persons.ts says who may vote.
 */
import { isObject, type Json } from '../../../json/json.ts';
import { invalid, isAbsent, names, wholeNumber } from '../../config/read.ts';

const PREFIX = /^(user|role|group):/;
const MAX_VOTES = 1_000;

export type Verdict = 'approved' | 'rejected';
export type Quorum = 'any' | 'all' | number;

export type Vote = {
  decision: Verdict;
  by: string | null;
  comments: string | null;
  at: string;
  via: string;
  /** Who has the address of the link, where that is somebody else than `by`: a person, or the address. */
  holder?: string;
  /** The form data of the approver. */
  data?: Json;
  /** The reason of an operator who overrode the approvers' rules. */
  reason?: string;
  /** The names among the approvers that include the person. */
  for?: string[];
};

/**
 * The audience in the form of the search attribute SignalboxWaiting: `user:ann`, `role:finance`, `group:board`. Takes
 * `{users, roles, groups}`, or a list of names, which are users without a prefix.
 */
export function audienceOf(value: Json | undefined, member: string): string[] {
  if (isObject(value)) {
    const unknown = Object.keys(value).find((key) => !['users', 'roles', 'groups'].includes(key));
    if (unknown !== undefined)
      throw invalid(`${member}.${unknown}`, "left out: approvers have 'users', 'roles' and 'groups'", value[unknown]);
    return [
      ...names(value['users'], `${member}.users`).map((name) => `user:${name}`),
      ...names(value['roles'], `${member}.roles`).map((name) => `role:${name}`),
      ...names(value['groups'], `${member}.groups`).map((name) => `group:${name}`),
    ];
  }
  return names(value, member).map((name) => (PREFIX.test(name) ? name : `user:${name}`));
}

/** The quorum, `any` by default. A number above the number of named users is refused. */
export function quorumOf(value: Json | undefined, audience: readonly string[]): Quorum {
  if (isAbsent(value) || value === 'any') return 'any';
  if (value === 'all') return 'all';
  if (typeof value === 'string' && !/^\d+$/.test(value)) throw invalid('quorum', "'any', 'all' or a number", value);
  return wholeNumber(value, 'quorum', 1, quorumLimit(audience) ?? MAX_VOTES);
}

/**
 * The decision by the votes, oldest first; undefined while it is open. any: the first vote decides, either way. all:
 * each named user and somebody of each role and group must approve; one rejection rejects. A number: this many must
 * approve; rejected once too few voters are left, or, where the number of voters is unknown (roles, groups, no names),
 * by this many rejections.
 */
export function verdictOf(votes: readonly Vote[], quorum: Quorum, audience: readonly string[]): Verdict | undefined {
  const approvals = votes.filter((vote) => vote.decision === 'approved').length;
  const rejections = votes.length - approvals;
  if (quorum === 'any') return votes.at(-1)?.decision;
  if (quorum === 'all') {
    if (rejections > 0) return 'rejected';
    return isCovered(votes, audience) ? 'approved' : undefined;
  }
  if (approvals >= quorum) return 'approved';
  const voters = quorumLimit(audience);
  const isLost = voters === undefined ? rejections >= quorum : voters - rejections < quorum;
  return isLost ? 'rejected' : undefined;
}

/** The approvals so far and the approvals needed; undefined where the first vote decides. */
export function tallyOf(
  votes: readonly Vote[],
  quorum: Quorum,
  audience: readonly string[],
): { have: number; needed: number } | undefined {
  if (quorum === 'any') return undefined;
  const approvals = votes.filter((vote) => vote.decision === 'approved');
  if (quorum !== 'all') return { have: approvals.length, needed: quorum };
  const needed = Math.max(1, audience.length);
  if (audience.length === 0 || approvals.some((vote) => vote.for === undefined))
    return { have: approvals.length, needed };
  const covered = new Set(approvals.flatMap((vote) => vote.for ?? []));
  return { have: audience.filter((name) => covered.has(name)).length, needed };
}

/** Whether the approvals cover the audience. Votes without names are counted instead. */
function isCovered(votes: readonly Vote[], audience: readonly string[]): boolean {
  if (votes.some((vote) => vote.for === undefined)) return votes.length >= Math.max(1, audience.length);
  const covered = new Set(votes.flatMap((vote) => vote.for ?? []));
  return votes.length > 0 && audience.every((name) => covered.has(name));
}

/** The number of voters, where only users are named. A quorum cannot be larger. */
export function quorumLimit(audience: readonly string[]): number | undefined {
  return audience.length > 0 && audience.every((name) => name.startsWith('user:')) ? audience.length : undefined;
}
