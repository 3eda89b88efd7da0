/**
 * Links by which people decide approvals without an account (`notify`, LANGUAGE.md §6). A token names one question and
 * one person; a MAC under the master key proves that this host made it. Only the activity that sends it makes it, so
 * that no state, history or trace holds one. It decides as its person under the rules of the approval, once: a question
 * takes one decision of a person, and the token is of no use for another question.
 */
import { createHmac } from 'node:crypto';
import { RUN_WORKFLOW, type Standing } from '../../contract/run.ts';
import { DEFAULT_ORGANIZATION } from '../../engine/state/start.ts';
import { defined } from '../../json/defined.ts';
import type { Json } from '../../json/json.ts';
import { ClientError, hasCode } from '../errors.ts';
import { listKeys } from '../organization/api-keys.ts';
import { sameText } from '../payloads/keys.ts';
import { type Access, keysFor, type WriteAccess } from '../temporal/access.ts';
import { describe } from '../temporal/actor-calls.ts';
import { isOpen } from '../temporal/run-status.ts';
import type { Viewer } from './approvals.ts';
import { type Question, readQuestion } from './question.ts';
import { decide } from './run-actions.ts';

/** Whom the token is for, and about what. */
export interface ApprovalLink {
  readonly executionId: string;
  /** The path of the visit. */
  readonly path: string;
  readonly person: string;
  /** When it was asked, ISO 8601: a repeated visit is another question. */
  readonly since: string;
}

/** `base64url of [executionId, path, person, since]`, a dot, and its MAC. */
export function approvalToken(key: Uint8Array, { executionId, path, person, since }: ApprovalLink): string {
  const body = Buffer.from(JSON.stringify([executionId, path, person, since])).toString('base64url');
  return `${body}.${macOf(key, body)}`;
}

/** What the token names; undefined for a token that this host did not make. */
export function readApprovalToken(key: Uint8Array, token: string): ApprovalLink | undefined {
  const dot = token.indexOf('.');
  if (dot < 1 || !sameText(token.slice(dot + 1), macOf(key, token.slice(0, dot)))) return undefined;
  const [executionId, path, person, since] = JSON.parse(
    Buffer.from(token.slice(0, dot), 'base64url').toString('utf8'),
  ) as [string, string, string, string];
  return { executionId, path, person, since };
}

const macOf = (key: Uint8Array, body: string): string => createHmac('sha256', key).update(body).digest('base64url');

export interface LinkedQuestion {
  readonly link: ApprovalLink;
  readonly organizationId: string;
  readonly question: Question;
  /** The roles and groups of the person's keys. Undefined where the organization has no keys, and so no persons. */
  readonly standing: Standing | undefined;
  readonly viewer: Viewer;
}

/**
 * The open question of a token, which its person may decide.
 * @throws ClientError `not_found` (no such token), `already_decided`, `already_voted`, `gone` (the question has ended
 * without a decision), `not_an_approver`, `requester_may_not_approve`.
 */
export async function openLink(access: Access, token: string): Promise<LinkedQuestion> {
  const [link] = keysFor(access, 'approvals').flatMap((key) => readApprovalToken(key, token) ?? []);
  const description = link === undefined ? undefined : await describe(access, link.executionId);
  if (link === undefined || description?.type !== RUN_WORKFLOW)
    throw new ClientError('not_found', 'There is nothing at this address.');
  const organizationId = (description.memo?.['organizationId'] as string | undefined) ?? DEFAULT_ORGANIZATION;
  const { executionId, path, person, since } = link;
  const standing = await standingOf(access, organizationId, person);
  const viewer: Viewer =
    standing === undefined
      ? { role: 'approver', roles: [], groups: [] }
      : { id: person, role: 'approver', ...standing };
  const question = await readQuestion(access, organizationId, viewer, executionId, path).catch((error: unknown) => {
    // The visit was not taken into another run under this id.
    throw hasCode(error, 'no_such_step') ? gone() : error;
  });
  demandOpen(question, since, isOpen(description.status.name));
  if (standing !== undefined && question.requester === person && question.notBy?.includes(person) === true)
    throw new ClientError(
      'requester_may_not_approve',
      `${person} has started this run, and so cannot decide. Ask another approver.`,
    );
  if (question.notBy?.includes(person) === true)
    throw new ClientError('already_voted', `${person} has voted already; a vote stands.`);
  if (!question.mayAnswer) throw new ClientError('not_an_approver', `${person} is not among those who are asked now.`);
  return { link, organizationId, question, standing, viewer };
}

function demandOpen({ status, answer, since: asked }: Question, since: string, isRunOpen: boolean): void {
  if (status === 'approved' || status === 'rejected') {
    const who = answer?.by === undefined || answer.by === null ? '' : ` by ${answer.by}`;
    const when = answer === undefined ? '' : ` at ${answer.at}`;
    throw new ClientError('already_decided', `This was ${status}${who}${when}.`, {
      ...(answer === undefined ? {} : { details: { answer: { at: answer.at, ...defined({ by: answer.by }) } } }),
    });
  }
  if (status !== 'pending' || !isRunOpen || asked !== since) throw gone();
}

const gone = (): ClientError =>
  new ClientError('gone', 'This question is over: its time has passed, or its run has ended.');

/** Everything that the keys of a person stand for. */
async function standingOf(access: Access, org: string, person: string): Promise<Standing | undefined> {
  const keys = await listKeys(access, org);
  if (keys.length === 0) return undefined;
  const own = keys.filter(({ user }) => user === person);
  return {
    roles: [...new Set(own.flatMap(({ roles }) => roles))],
    groups: [...new Set(own.flatMap(({ groups }) => groups))],
  };
}

export interface LinkDecision {
  readonly decision: 'approved' | 'rejected';
  readonly comments?: string;
  /** The values of the form. */
  readonly data?: Json;
}

/**
 * Decides as the person of the link.
 * @throws ClientError those of openLink, and `invalid_submission` for data or comments that do not fit.
 */
export async function decideByLink(access: WriteAccess, linked: LinkedQuestion, given: LinkDecision): Promise<void> {
  const { link, organizationId, standing } = linked;
  const { executionId, path, person } = link;
  try {
    await decide(access, organizationId, executionId, {
      ...given,
      step: path,
      by: person,
      via: 'link',
      ...defined({ as: standing }),
    });
  } catch (error) {
    if (!hasCode(error, 'closed', 'not_waiting', 'no_such_step', 'already_decided')) throw error;
    // Another decision came first, or the question is over.
    const question = await readQuestion(access, organizationId, linked.viewer, executionId, path).catch(
      () => undefined,
    );
    if (question !== undefined) demandOpen(question, link.since, false);
    throw gone();
  }
}
