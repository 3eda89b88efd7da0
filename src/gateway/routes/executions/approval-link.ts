/**
 * `/approvals/:token`: a person decides an approval by the link of a message (ARCHITECTURE.md §5). The token authorizes
 * the caller. GET shows the question and decides nothing, because mail scanners and link previews open links.
 */

import type { Request, Response } from 'express';
import { z } from 'zod';
import { decideByLink, type LinkDecision, type LinkedQuestion, openLink } from '../../../client/runs/approval-links.ts';
import type { Access } from '../../../client/temporal/access.ts';
import type { PayloadFormat, Problem } from '../../../definition/document/types.ts';
import { validatePayload } from '../../../definition/payload/format.ts';
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { readableTime } from '../../../template/time.ts';
import { named, text, time } from '../../answers/named.ts';
import { jsonBody, mediaOf } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { type Incoming, rawRoute, SENT } from '../../http/route.ts';
import { bodyOfMethod } from '../../http/route-body.ts';
import { coerceFields, formBodyFields } from '../../input/form-fields.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { BODY_PROBLEMS, type ProblemCode, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { nameText } from '../../validation/validation.ts';
import {
  FORM_DATA_PREFIX,
  type LinkQuestion,
  prefersHtml,
  questionPage,
  sendPage,
  thanksPage,
  withHtmlProblems,
} from './public-pages.ts';

const linkedQuestionAnswer = named(
  'LinkedQuestion',
  z.object({
    message: text,
    person: text.describe('The person as whom the link decides.'),
    since: time,
    until: time.optional(),
    form: z.record(z.string(), z.unknown()).optional(),
    commentRequired: z.boolean(),
  }),
);
const linkDecisionAnswer = named('LinkDecided', z.object({ decision: z.enum(['approved', 'rejected']) }));
const params = { token: nameText(4_000) };
const PROBLEMS: readonly ProblemCode[] = [
  ...WRITE_PROBLEMS,
  'not_found',
  'gone',
  'already_decided',
  'already_voted',
  'not_an_approver',
  'requester_may_not_approve',
];

export const approvalLinkRoutes = [
  rawRoute({
    method: 'GET',
    path: '/approvals/:token',
    role: 'public',
    callers: 'anywhere',
    id: 'openApprovalLink',
    summary: 'Shows the question of an approval to the person for whom the link is. It decides nothing.',
    description: 'A request that accepts HTML is answered with a page. A link that was used is answered with 409.',
    params,
    answers: { 200: { text: 'The question.', schema: linkedQuestionAnswer, media: ['application/json', 'text/html'] } },
    problems: PROBLEMS,
    handle: async ({ access, gateway, req, res }) => {
      await withHtmlProblems(req, res, async () => show(req, res, await questionOfLink(req, access, gateway)));
      return SENT;
    },
  }),
  rawRoute({
    method: 'POST',
    path: '/approvals/:token',
    role: 'public',
    callers: 'anywhere',
    id: 'decideByApprovalLink',
    summary: 'Decides an approval as the person for whom the link is, once.',
    description: 'The body has `decision` (approved, rejected), `comments`, and the values of the form as `data`.',
    params,
    ...bodyOfMethod('POST', ['application/json', 'application/x-www-form-urlencoded']),
    answers: { 200: { text: 'Decided.', schema: linkDecisionAnswer, media: ['application/json', 'text/html'] } },
    problems: [...PROBLEMS, 'invalid_submission', ...BODY_PROBLEMS, 'unsupported_media_type'],
    handle: async (incoming) => {
      const { req, res } = incoming;
      await withHtmlProblems(req, res, () => decideFromRequest(incoming));
      return SENT;
    },
  }),
];

const questionOfLink = (req: Request, access: Access, { config }: Gateway): Promise<LinkedQuestion> =>
  openLink(access, String(req.params['token']), config.adminKey !== undefined);

async function show(req: Request, res: Response, linked: LinkedQuestion): Promise<void> {
  if (prefersHtml(req)) {
    sendPage(res, 200, questionPage(pageOf(linked)));
    return;
  }
  const { message, person, form, commentRequired } = pageOf(linked);
  const { since, until } = linked.question;
  res.status(200).json({ message, person, since, commentRequired, ...omitUndefined({ until, form }) });
}

function pageOf({ question, decider, askedAs }: LinkedQuestion): LinkQuestion {
  const { message, workflowName, workflowId, requester, since, until, priority, dueDate, deeplink } = question;
  const { resourceType = '', resourceId = '' } = question;
  const facts: [string, string | undefined][] = [
    ['Workflow', workflowName ?? workflowId],
    ['Asked by', requester],
    ['Asked at', readableTime(since)],
    ['Until', until === undefined ? undefined : readableTime(until)],
    ['Due', dueDate === undefined ? undefined : readableTime(dueDate)],
    ['Priority', priority],
    ['Subject', `${resourceType} ${resourceId}`.trim() || undefined],
    ['See also', deeplink],
  ];
  return {
    message: message ?? question.stepSlug,
    facts: facts.filter((fact): fact is [string, string] => fact[1] !== undefined),
    person: decider.id,
    askedAs,
    form: formatOf(linkedForm(question.form, question.stepInput)),
    commentRequired: question.commentRequired === true,
  };
}

/** Lists leave out a large form. The step has it. */
const linkedForm = (form: Json | undefined, stepInput: Json | undefined): Json | undefined =>
  form ?? (stepInput === undefined ? undefined : getOwn(stepInput, 'form'));

const formatOf = (form: Json | undefined): PayloadFormat | undefined =>
  form !== undefined && isObject(form) ? form : undefined;

async function decideFromRequest({ access, gateway, req, res, takeBody }: Incoming): Promise<void> {
  const linked = await questionOfLink(req, access, gateway);
  await takeBody(linked.organizationId);
  const page = pageOf(linked);
  const { given, typed } = decisionIn(req, page);
  const problems = problemsOf(given, page);
  if (problems.length > 0 || given.decision === undefined) {
    if (!prefersHtml(req)) throw invalidSubmission(problems);
    sendPage(res, 422, questionPage(page, { typed, problems }));
    return;
  }
  const { decision } = given;
  await decideByLink(access, linked, { ...omitUndefined(given), decision });
  if (prefersHtml(req)) sendPage(res, 200, thanksPage(page.message));
  else res.status(200).json({ decision });
}

type SubmittedDecision = Omit<LinkDecision, 'decision' | 'comments' | 'data'> & {
  readonly decision: LinkDecision['decision'] | undefined;
  readonly comments?: string | undefined;
  readonly data?: Json | undefined;
};

/** The decision in the body, and what was typed, to show it again. @throws HttpProblem. */
function decisionIn(req: Request, { form }: LinkQuestion): { given: SubmittedDecision; typed: JsonObject } {
  const media = mediaOf(req);
  if (media === 'json') {
    const body = jsonBody(req) ?? null;
    const members = isObject(body) ? body : {};
    const data = getOwn(members, 'data');
    return { given: { ...readDecision(members), ...omitUndefined({ data }) }, typed: {} };
  }
  if (media !== 'form')
    throw new HttpProblem('unsupported_media_type', 'Send the decision as JSON or as a form (urlencoded).');
  const sent = formBodyFields(req);
  const fields: JsonObject = {};
  for (const [name, value] of Object.entries(sent))
    if (name.startsWith(FORM_DATA_PREFIX)) setOwn(fields, name.slice(FORM_DATA_PREFIX.length), value);
  const given = readDecision(sent);
  const data = form === undefined || given.decision === 'rejected' ? undefined : coerceFields(form, fields);
  return {
    given: { ...given, ...omitUndefined({ data }) },
    typed: { ...fields, ...omitUndefined({ comments: given.comments }) },
  };
}

function readDecision(members: JsonObject): SubmittedDecision {
  const [decision, comments] = [getOwn(members, 'decision'), getOwn(members, 'comments')];
  return {
    decision: decision === 'approved' || decision === 'rejected' ? decision : undefined,
    ...(typeof comments === 'string' && comments !== '' ? { comments } : {}),
  };
}

function problemsOf(
  { decision, comments = '', data }: SubmittedDecision,
  { form, commentRequired }: LinkQuestion,
): Problem[] {
  if (decision === undefined)
    return [{ pointer: '', code: 'missing_member', message: 'Expected the decision: approved or rejected.' }];
  const missing: Problem[] =
    commentRequired && comments.trim() === ''
      ? [{ pointer: '', code: 'missing_member', message: 'This decision needs a comment.' }]
      : [];
  return decision === 'approved' && form !== undefined ? [...missing, ...validatePayload(form, data ?? {})] : missing;
}

function invalidSubmission(problems: readonly Problem[]): HttpProblem {
  const [first] = problems;
  return new HttpProblem('invalid_submission', `Nothing was decided. ${first?.message ?? ''}`, { problems });
}
