/**
 * Who is asked, and when the votes decide (LANGUAGE.md §6). Pure counting: who may vote at all is told by
 * approval-persons.ts; here a vote is a name and a decision.
 */
import { isObject, type Json } from '../../../json/json.ts';
import { invalid, isAbsent, names, wholeNumber } from '../../config/read.ts';

const PREFIX = /^(user|role|group):/;
const MOST_VOTES = 1_000;

export type Verdict = 'approved' | 'rejected';
export type Quorum = 'any' | 'all' | number;

export type Vote = {
  decision: Verdict;
  by: string | null;
  comments: string | null;
  at: string;
  via: string;
  /** What the approver filled in, where a form was sent. */
  data?: Json;
  /** Given by an operator past the approvers' rules. */
  reason?: string;
  /** Of a person: the names among the approvers that the vote stands for. */
  for?: string[];
};

/**
 * Those who are asked, as the search attribute SignalboxWaiting names them: `user:ann`, `role:finance`, `group:board`.
 * Takes `{users, roles, groups}`, or a list of names, which are users unless they say otherwise.
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

/** `any` where nothing is said. A number that the users named cannot reach is refused. */
export function quorumOf(value: Json | undefined, audience: readonly string[]): Quorum {
  if (isAbsent(value) || value === 'any') return 'any';
  if (value === 'all') return 'all';
  if (typeof value === 'string' && !/^\d+$/.test(value)) throw invalid('quorum', "'any', 'all' or a number", value);
  return wholeNumber(value, 'quorum', 1, quorumLimit(audience) ?? MOST_VOTES);
}

/**
 * The decision that the votes amount to, the last of them being the newest; undefined while it is open. any: the first
 * vote decides, either way. all: everyone named must approve (somebody of each role and group), so one rejection
 * rejects. A number: so many must approve, and it is rejected once too few are left who could; where that is unknown
 * (roles, groups, nobody named), by as many rejections.
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

/** How many of the approvals that are needed there are; undefined where the first vote decides. */
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

/** Where votes name nobody, they are counted. */
function isCovered(votes: readonly Vote[], audience: readonly string[]): boolean {
  if (votes.some((vote) => vote.for === undefined)) return votes.length >= Math.max(1, audience.length);
  const covered = new Set(votes.flatMap((vote) => vote.for ?? []));
  return votes.length > 0 && audience.every((name) => covered.has(name));
}

/** How many may vote, where only users are named: no quorum can be larger. */
export function quorumLimit(audience: readonly string[]): number | undefined {
  return audience.length > 0 && audience.every((name) => name.startsWith('user:')) ? audience.length : undefined;
}
