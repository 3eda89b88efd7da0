/**
 * Links by which people decide approvals without logging in (`notify`, LANGUAGE.md §6). A token names one question, one
 * person and where it was sent; a MAC under the master key proves that this host made it. Only the activity that sends
 * it makes it, so that no state, history or trace holds one. It decides as its person under the rules of the approval,
 * once: a question takes one decision of a person, and the token is of no use for another question.
 */
import { isNamed } from '../../contract/organization/people.ts';
import { RUN_WORKFLOW } from '../../contract/run/run.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { isDecidedBy, matchingAudience } from '../../steps/kinds/approval/approval-persons.ts';
import type { Vote } from '../../steps/kinds/approval/approval-votes.ts';
import { readableTime } from '../../template/time.ts';
import { ClientError, hasCode, rethrowAs } from '../errors.ts';
import { readPeople } from '../organization/api-keys.ts';
import { signedToken, verifiedTokenParts } from '../payloads/keys.ts';
import { type Access, keysFor, type WriteAccess } from '../temporal/access.ts';
import { describe } from '../temporal/actor-calls.ts';
import { isOpen } from '../temporal/run-status.ts';
import { type Decider, deciderOf, VIA_LINK } from './link-decider.ts';
import { type GivenAnswer, type Question, readQuestion } from './question.ts';
import { decide } from './run-actions.ts';
import { organizationOf } from './run-read.ts';

/** Whom the token is for, and about what. */
interface ApprovalLink {
  readonly executionId: string;
  /** The path of the visit. */
  readonly path: string;
  readonly person: string;
  /** When it was asked, ISO 8601: a repeated visit is another question. */
  readonly since: string;
  /** The address or channel it was sent to, where the definition names the person apart (`as`). */
  readonly to?: string;
}

/** The token of [executionId, path, person, since, to?]. */
export const approvalToken = (key: Uint8Array, { executionId, path, person, since, to }: ApprovalLink): string =>
  signedToken(key, [executionId, path, person, since, ...(to === undefined ? [] : [to])]);

/** What the token names; undefined for a token that this host did not make. */
function readApprovalToken(key: Uint8Array, token: string): ApprovalLink | undefined {
  const parts = verifiedTokenParts(key, token);
  if (parts === undefined) return undefined;
  const [executionId = '', path = '', person = '', since = '', to] = parts;
  return { executionId, path, person, since, ...omitUndefined({ to }) };
}

export interface LinkedQuestion {
  readonly link: ApprovalLink;
  readonly organizationId: string;
  readonly question: Question;
  readonly decider: Decider;
  /** The names among the approvers that include the person: `user:ann`, `role:finance`. */
  readonly askedAs: readonly string[];
}

/**
 * The open question of a token, which its person may decide. `hasOperator`: an admin key of the environment
 * administers `default`.
 * @throws ClientError `not_found` (no such token), `already_decided`, `already_voted`, `gone` (the question has ended
 * without a decision), `not_an_approver`, `requester_may_not_approve`.
 */
export async function openLink(access: Access, token: string, hasOperator: boolean): Promise<LinkedQuestion> {
  const [link] = keysFor(access, 'approvals').flatMap((key) => readApprovalToken(key, token) ?? []);
  const description = link === undefined ? undefined : await describe(access, link.executionId);
  if (link === undefined || description?.type !== RUN_WORKFLOW)
    throw new ClientError('not_found', 'There is nothing at this address.');
  const organizationId = organizationOf(description);
  const [known, question] = await Promise.all([
    readPeople(access, organizationId, hasOperator),
    readLinkedQuestion(access, organizationId, link),
  ]);
  const decider = deciderOf(link, known, question.outsiders === true);
  demandOpenQuestion(question, link, decider, isOpen(description.status.name));
  const { audience = [], notBy = [], requester } = question;
  const { id: by, as, holder } = decider;
  if (as === undefined) return { link, organizationId, question, decider, askedAs: [] };
  const isExcluded = (name: string): boolean => isDecidedBy({ by, as, ...omitUndefined({ holder }) }, name);
  // The run says whom it excludes: also the person who started it, where they may not decide.
  if (requester !== undefined && notBy.includes(requester) && isExcluded(requester))
    throw new ClientError(
      'requester_may_not_approve',
      `${requester} has started this run, and so cannot decide. Ask another approver.`,
    );
  const voter = notBy.find(isExcluded);
  if (voter !== undefined) {
    // A fork also excludes who started the run that it was forked from.
    const other =
      description.memo?.['forkOf'] === undefined ? '' : ', or started the run that this one was forked from';
    throw new ClientError('already_voted', `${voter} has voted already (and that vote counts)${other}.`);
  }
  const askedAs = matchingAudience(audience, { by, as });
  if (audience.length > 0 && askedAs.length === 0)
    throw new ClientError(
      'not_an_approver',
      `${by} is not among those who are asked now. If you should be, ask the author of the workflow to name you, a ` +
        'role or a group of yours as approver.',
    );
  return { link, organizationId, question, decider, askedAs };
}

/** @throws ClientError `gone` for a visit that was not taken into another run under this id. */
const readLinkedQuestion = (access: Access, org: string, { executionId, path }: ApprovalLink): Promise<Question> =>
  readQuestion(access, org, { role: 'viewer', roles: [], groups: [] }, executionId, path).catch(
    rethrowAs('no_such_step', questionOver),
  );

/** @throws ClientError `already_decided`, `gone`. */
function demandOpenQuestion(question: Question, { since }: ApprovalLink, decider: Decider, isRunOpen: boolean): void {
  const { status, answer, since: asked } = question;
  if (answer !== undefined && (status === 'approved' || status === 'rejected')) {
    const { at, by, votes = [] } = answer;
    const vote = [answer, ...(votes as Vote[])].find((one) => isDecidedByLink(one, decider));
    const decision = `${status}${by === undefined || by === null ? '' : ` by ${by}`} at ${readableTime(at)}`;
    const text =
      vote === undefined
        ? `This was ${decision}.`
        : vote === answer
          ? `Your decision was taken: this was ${decision}.`
          : `Your vote was taken. This was then ${decision}.`;
    throw new ClientError('already_decided', text, {
      details: { isOwn: vote !== undefined, answer: { at, ...omitUndefined({ by }) } },
    });
  }
  if (status !== 'pending' || !isRunOpen || asked !== since) throw questionOver();
}

/** Whether the person of the link has made that decision or vote by a link. */
const isDecidedByLink = ({ by, via }: Pick<GivenAnswer, 'by' | 'via'>, { id, as }: Decider): boolean =>
  typeof by === 'string' && isNamed(id, as?.names, by) && via?.startsWith(VIA_LINK) === true;

const questionOver = (): ClientError =>
  new ClientError('gone', 'This question is over: its time has passed, or its run has ended.');

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
  const { link, organizationId, decider } = linked;
  const { id: by, ...rest } = decider;
  try {
    await decide(access, organizationId, link.executionId, { ...given, step: link.path, by, ...rest });
  } catch (error) {
    if (!hasCode(error, 'closed', 'not_waiting', 'no_such_step', 'already_decided')) throw error;
    // Another decision came first, or the question is over.
    demandOpenQuestion(await readLinkedQuestion(access, organizationId, link), link, decider, false);
    throw questionOver();
  }
}
