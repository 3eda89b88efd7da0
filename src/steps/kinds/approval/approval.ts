import { assert } from '../../../json/assert.ts';
import type { JsonObject } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { instantMs, isoInstant, planDuration, planTimeout } from '../../config/duration.ts';
import { type Format, payloadMismatch, planFormat, shownForm } from '../../config/payload.ts';
import { isAbsent, text } from '../../config/read.ts';
import {
  type ApprovalSubject,
  ConfigError,
  type DecisionEvent,
  type KindRefusal,
  type OpenStepContext,
  type Outcome,
  type Resume,
  type RunSpec,
  type StepContext,
  type StepKind,
  type SubmissionEvent,
  type TimerSpec,
} from '../../kind.ts';
import { DECIDED, type Notice, type NoticeFacts, type Notify, planNotify } from './approval-notify.ts';
import {
  electorsOf,
  excludedRequesters,
  excludedVoters,
  hasVoted,
  isDecidedBy,
  matchingAudience,
  personOf,
} from './approval-persons.ts';
import { approvalSchema, ON_REJECT, ON_TIMEOUT, SUBJECT } from './approval-schema.ts';
import type { ApprovalState, Ending } from './approval-state.ts';
import { audienceOf, quorumOf, tallyOf, type Verdict, type Vote, verdictOf } from './approval-votes.ts';

const REMINDER = '/reminder[';
const ESCALATION = '/escalation';
/** Signals carry no identity. A caller that can signal through Temporal is an operator. */
const VIA_SIGNAL = 'temporal';

export const approval: StepKind<ApprovalState> = {
  type: 'approval',
  class: 'wait',
  takesDecisions: true,
  summary: 'Asks people, and waits for their decision.',
  description: `The run waits, for days if necessary, until the approvers have decided: through the API, the command
line, or a signal. One decision wins. Later ones are refused.

- **Who.** \`approvers\` names users, roles and groups, by the names in API keys. Without it, everyone with the right
  to approve may decide. The person who started the run may not, with any of their keys, unless \`requesterMayApprove\`
  is set. While an organization has no keys it has no persons, and anyone may decide.
- **How many.** \`quorum\` is \`any\` (the first vote decides, either way), \`all\` (each named user and somebody of
  each role and group must approve; one rejection rejects), or a number of approvals. With a number, the approval is
  rejected once too few voters are left. Where roles or groups are named, the number of voters is unknown, and that
  number of rejections rejects. A vote is not yet a decision, and nobody votes twice.
- **How long.** After \`timeout\` the step ends by \`timeout\` (with \`approval_timeout\` if that port is not wired),
  decides by itself, or asks \`escalateTo\` for the same time again; any one of them decides. \`reminders\` add
  "(reminder 1)" to the message that lists show.
- **Messages.** \`notify\` sends messages by the channels of send_message when it is asked, at reminders, when it is
  escalated, and when it is decided. Without it nobody is told. Each address of an e-mail gets a link of its own, by
  which the person with that address decides, once, under the same rules: it must be the address of a key that may
  decide (\`emails\` of keys), and \`approvers\` must name its person. \`outsiders: true\` also lets addresses decide
  that no key has. Opening the link decides nothing. A webhook or a channel of Slack gets a link where \`as\` names the
  person. A message that cannot be sent fails nothing: the trace shows it below the approval. The step ends when
  the messages about the decision are sent or have failed.
- **Data.** \`form\` is a payload format that an approver fills in. \`commentRequired\` demands a comment with either
  decision. With a quorum every vote keeps its approver's form data (\`votes[].data\`), and \`submittedData\` is that
  of the vote that decided.
- **Rejected.** The step ends by \`rejected\`; if that port is not wired, the branch ends there. \`onReject: cancel\`
  cancels the run with \`approval_denied\`. The details of the run's error, and the step's output, tell who decided and
  when, with comments and votes.

A signal from Temporal (\`approve\`, \`reject\`) decides immediately where neither approvers nor a quorum are set.
Otherwise it needs \`{override: true, reason}\`. It is recorded as \`via: temporal\`.`,
  example: {
    stepType: 'approval',
    config: {
      message: 'Refund {{ input.amount }} to {{ input.customer }}?',
      approvers: { roles: ['finance'] },
      timeout: '2d',
      form: { note: 'string' },
    },
    nextSteps: { approved: 'pay', rejected: 'tell', timeout: 'tell' },
  },
  output:
    '`{decision, decidedBy, comments, submittedData, reviewedAt, votes, via}`: decision is approved, rejected or ' +
    'timeout; absent values are null.',
  dataMembers: ['decision', 'decidedBy', 'comments', 'submittedData', 'reviewedAt', 'votes', 'via'],
  schema: approvalSchema,
  ports: ({ config }) => ({
    normal: 'approved',
    names: ['approved', 'rejected', 'timeout'],
    ruledOut: [
      ...(config?.['onReject'] === 'cancel' ? ['rejected'] : []),
      ...(config?.['onTimeout'] === 'approved' || config?.['onTimeout'] === 'rejected' ? ['timeout'] : []),
    ],
    unwired: {
      timeout: {
        fails: 'approval_timeout',
        message: (slug) => `Nobody decided on the step '${slug}' in time; wire its port 'timeout', or set onTimeout.`,
      },
      ...(config?.['onReject'] === 'cancel' ? { rejected: { cancels: 'approval_denied' } } : {}),
    },
  }),
  needs: (config) => ({ approval: { rules: config, at: '' } }),
  plan(config, parse) {
    if (config['message'] === undefined) throw new ConfigError('/message', 'Expected what is asked.');
    const onTimeout = option(config, 'onTimeout', ON_TIMEOUT) ?? 'timeout';
    if (onTimeout === 'escalate' && config['escalateTo'] === undefined)
      throw new ConfigError('/escalateTo', "Expected who is asked after the timeout, since onTimeout is 'escalate'.");
    const reminders = config['reminders'] ?? [];
    if (!Array.isArray(reminders)) throw new ConfigError('/reminders', "Expected a list of durations such as ['1d'].");
    const template = (member: string) => parse.template(config[member], `/${member}`);
    const rules: Rules = {
      onTimeout,
      cancelsOnReject: option(config, 'onReject', ON_REJECT) === 'cancel',
      commentRequired: flag(config, 'commentRequired'),
      form: planFormat(config['form'], 'form', parse),
      escalateTo: template('escalateTo'),
      notify: planNotify(config['notify'], parse),
    };
    // Only the gateway reads it, since a run does not know keys.
    flag(config, 'outsiders');
    const requesterMayApprove = flag(config, 'requesterMayApprove');
    const [message, approvers, quorum] = [template('message'), template('approvers'), template('quorum')];
    const timeoutOf = planTimeout(config, parse);
    const remindersMs = reminders.map((value, i) => planDuration(value, `/reminders/${i}`, parse));
    const subject = SUBJECT.filter((member) => config[member] !== undefined).map((member) => ({
      member,
      template: template(member),
    }));

    return {
      begin(visit) {
        const audience = audienceOf(visit.render(approvers), 'approvers');
        const until = timeoutOf(visit);
        const about: { -readonly [member in keyof ApprovalSubject]: ApprovalSubject[member] } = {};
        for (const { member, template: written } of subject) {
          const value = visit.render(written);
          if (!isAbsent(value))
            about[member] = member === 'dueDate' ? isoInstant(instantMs(value)) : text(value, member);
        }
        const state: ApprovalState = {
          message: text(visit.render(message), 'message'),
          audience,
          quorum: quorumOf(visit.render(quorum), audience),
          requesterMayApprove,
          votes: [],
          subject: about,
          ...rules.form.stored(visit),
          ...(until === undefined ? {} : { until, timeoutMs: until - visit.now }),
        };
        const timers: TimerSpec[] = remindersMs
          .map((ms, i) => ({ suffix: `${REMINDER}${i}]`, at: visit.now + ms(visit) }))
          .filter(({ at }) => until === undefined || at < until);
        if (until !== undefined) timers.push({ at: until });
        if (config['notify'] !== undefined) state.asked = visit.now;
        return { ...waitForVotes(visit, state, rules), timers, ...messages(visit, state, rules, 'asked', 'asked') };
      },
      resume: (visit, event) => resume(visit, event, rules),
      refuse: (visit, event) => refuse(visit, event, rules),
    };
  },
};

type Open = OpenStepContext<ApprovalState>;

interface Rules {
  readonly onTimeout: (typeof ON_TIMEOUT)[number];
  readonly cancelsOnReject: boolean;
  readonly commentRequired: boolean;
  readonly form: Format<'form'>;
  readonly escalateTo: Parameters<StepContext['render']>[0];
  readonly notify: Notify;
}

/** The messages of a notice, as a member of an outcome. None where there are no recipients. */
function messages(
  visit: StepContext,
  { message, until, asked = visit.now }: ApprovalState,
  { notify }: Rules,
  notice: Notice,
  name: string,
  facts: Pick<NoticeFacts, 'decision' | 'by' | 'comments'> = {},
): { readonly run?: RunSpec[] } {
  const run = notify(visit, notice, name, { message, until, since: asked, ...facts });
  return run.length === 0 ? {} : { run };
}

function resume(visit: Open, event: Resume, rules: Rules): Outcome<ApprovalState> {
  const { state } = visit;
  if (state.ending !== undefined) return afterMessage(state, state.ending, event);
  if (event.on === 'fired') {
    if (!event.suffix.startsWith(REMINDER)) return timedOut(visit, rules);
    state.reminded = (state.reminded ?? 0) + 1;
    const notices = messages(visit, state, rules, 'reminder', `reminder${state.reminded}`);
    return { ...waitForVotes(visit, state, rules), ...notices };
  }
  if (event.on !== 'decision') return { do: 'ignore' };
  const person = personOf(event);
  const vote: Vote = {
    decision: event.decision,
    by: event.by ?? null,
    comments: event.comments ?? null,
    at: isoInstant(visit.now),
    via: event.via,
    ...(event.holder === undefined ? {} : { holder: event.holder.id }),
    ...(event.data === undefined || state.quorum === 'any' ? {} : { data: event.data }),
    ...(isOverride(event) ? { reason: event.reason } : {}),
    ...(person === undefined ? {} : { for: matchingAudience(state.audience, person) }),
  };
  const votes = [...state.votes, vote];
  state.votes = votes;
  const verdict =
    event.via === VIA_SIGNAL
      ? event.decision
      : verdictOf(votes, state.quorum, person === undefined ? state.audience : electorsOf(visit));
  return verdict === undefined ? waitForVotes(visit, state, rules) : endWithVerdict(visit, verdict, rules, event);
}

/** Why this decision is refused now; undefined where it is accepted (LANGUAGE.md §6). */
function refuse(visit: Open, event: DecisionEvent | SubmissionEvent, rules: Rules): KindRefusal | undefined {
  const { state } = visit;
  if (event.on !== 'decision')
    return { code: 'not_waiting', message: `The step '${visit.slug}' waits for a decision: approve or reject it.` };
  if (isOverride(event)) return undefined;
  if (event.via === VIA_SIGNAL) {
    if (state.audience.length > 0 || state.quorum !== 'any')
      return {
        code: 'needs_override',
        message:
          `The step '${visit.slug}' has approvers, and a signal carries no identity: ` +
          'send {override: true, reason: "…"} as an operator, or decide through the API.',
      };
  } else if (hasVoted(state.votes, event)) {
    return {
      code: 'already_voted',
      message: `${event.by ?? 'This caller'} has voted on the step '${visit.slug}' already; a vote stands.`,
    };
  }
  const person = personOf(event);
  const requester = excludedRequesters(visit).find((name) => isDecidedBy(event, name));
  if (person !== undefined && requester !== undefined)
    return {
      code: 'requester_may_not_approve',
      message:
        `${requester} has started this run, or one that it was forked from, and so cannot decide on the step ` +
        `'${visit.slug}'. Ask another approver, or set requesterMayApprove.`,
    };
  if (person !== undefined && state.audience.length > 0 && matchingAudience(state.audience, person).length === 0)
    return {
      code: 'not_an_approver',
      message: `The step '${visit.slug}' asks ${state.audience.join(', ')}, and ${person.by} is none of them.`,
    };
  if (rules.commentRequired && (event.comments ?? '').trim() === '')
    return {
      code: 'invalid_submission',
      message: `The step '${visit.slug}' wants a comment with every decision; send 'comments'.`,
    };
  const problem =
    event.decision === 'approved'
      ? payloadMismatch(visit, rules.form.formatOf(visit, visit.state), event.data ?? {})
      : undefined;
  return problem === undefined
    ? undefined
    : { code: 'invalid_submission', message: `The data does not fit the form of the step '${visit.slug}': ${problem}` };
}

function isOverride(event: DecisionEvent): event is DecisionEvent & { readonly reason: string } {
  return event.via === VIA_SIGNAL && event.override === true && (event.reason ?? '').trim() !== '';
}

function timedOut(visit: Open, rules: Rules): Outcome<ApprovalState> {
  const { state } = visit;
  if (rules.onTimeout === 'approved' || rules.onTimeout === 'rejected')
    return endWithVerdict(visit, rules.onTimeout, rules);
  if (rules.onTimeout === 'escalate' && state.escalated === undefined) return escalate(visit, rules);
  const ending: Ending = { port: 'timeout', data: outputOf(visit, 'timeout') };
  // A step that fails at its timeout sends no message about a decision.
  if (visit.wired('timeout')) return endAfterNotices(visit, ending, rules);
  return { do: 'end', ...ending, details: { message: state.message, votes: state.votes } };
}

function escalate(visit: Open, rules: Rules): Outcome<ApprovalState> {
  const { state } = visit;
  assert(state.timeoutMs !== undefined, 'Only an approval that can time out escalates.');
  const until = visit.now + state.timeoutMs;
  state.escalated = isoInstant(visit.now);
  state.audience = audienceOf(visit.render(rules.escalateTo), 'escalateTo');
  state.quorum = 'any';
  state.until = until;
  const notices = messages(visit, state, rules, 'escalated', 'escalated');
  return { ...waitForVotes(visit, state, rules), timers: [{ suffix: ESCALATION, at: until }], ...notices };
}

function endWithVerdict(visit: Open, verdict: Verdict, rules: Rules, event?: DecisionEvent): Outcome<ApprovalState> {
  const port = verdict === 'rejected' && rules.cancelsOnReject ? 'cancel' : verdict;
  const data = outputOf(visit, verdict, event);
  const { message, subject, votes } = visit.state;
  const { resourceType, resourceId } = subject;
  visit.recordDecision(visit.path, {
    status: verdict,
    by: data.decidedBy,
    at: data.reviewedAt,
    via: data.via,
    comments: data.comments,
    voters: [...new Set(votes.flatMap(({ by, holder }) => [by, holder]).filter((name) => typeof name === 'string'))],
    message,
    ...omitUndefined({ resourceType, resourceId }),
  });
  return endAfterNotices(visit, { port, data }, rules);
}

/** Ends the step once the messages about its end are sent. Cancels open messages and timers. */
function endAfterNotices(visit: Open, ending: Ending, rules: Rules): Outcome<ApprovalState> {
  const { state } = visit;
  const { decision, decidedBy, comments } = ending.data as { decision: NoticeFacts['decision'] } & {
    [name: string]: string | null;
  };
  const facts = { ...omitUndefined({ decision }), by: decidedBy ?? null, comments: comments ?? null };
  const { run } = messages(visit, state, rules, 'decided', 'decided', facts);
  if (run === undefined) return outcomeOf(state, ending);
  state.ending = ending;
  state.unsent = run.length;
  return { do: 'suspend', state, answered: true, run };
}

/** After the last message about the end the step ends, whether they could be sent or not. */
function afterMessage(state: ApprovalState, ending: Ending, event: Resume): Outcome<ApprovalState> {
  const isMessage = (event.on === 'completed' || event.on === 'failed') && event.suffix.startsWith(DECIDED);
  if (!isMessage) return { do: 'ignore' };
  state.unsent = (state.unsent ?? 1) - 1;
  return state.unsent > 0 ? { do: 'suspend', state } : outcomeOf(state, ending);
}

function outcomeOf(state: ApprovalState, { port, data }: Ending): Outcome<ApprovalState> {
  const output = { data, meta: metaOf(state) };
  return port === 'cancel' ? { do: 'cancel', reason: 'approval_denied', ...output } : { do: 'end', port, ...output };
}

function outputOf(visit: Open, decision: Verdict | 'timeout', event?: DecisionEvent) {
  return {
    decision,
    decidedBy: event?.by ?? null,
    comments: event?.comments ?? (event !== undefined && isOverride(event) ? event.reason : null),
    submittedData: event?.data ?? null,
    reviewedAt: isoInstant(visit.now),
    votes: visit.state.votes,
    via: event?.via ?? 'timeout',
  } satisfies JsonObject;
}

function metaOf({ subject: about, escalated, reminded }: ApprovalState): JsonObject {
  return { ...about, ...omitUndefined({ escalated, reminded }) };
}

function waitForVotes(
  visit: StepContext,
  state: ApprovalState,
  rules: Rules,
): Extract<Outcome<ApprovalState>, { do: 'suspend' }> {
  const { subject: about, audience, escalated, message, quorum, reminded, until } = state;
  const { execution } = visit;
  const notBy = excludedVoters({ state, execution });
  // Lists show the wait anew after each vote of a person, and after an escalation.
  const revision = state.votes.filter((vote) => vote.for !== undefined).length + (escalated === undefined ? 0 : 1);
  const votes = tallyOf(state.votes, quorum, electorsOf({ state, execution }));
  return {
    do: 'suspend',
    state,
    waiting: {
      kind: 'approval',
      message: reminded === undefined ? message : `${message} (reminder ${reminded})`,
      audience: [...audience, ...resourceIn(about)],
      ...omitUndefined({ until }),
      ...shownForm(rules.form.formatOf(visit, state)),
      ...(Object.keys(about).length === 0 ? {} : { about }),
      ...(notBy.length === 0 ? {} : { notBy }),
      ...omitUndefined({ votes }),
      ...(revision === 0 ? {} : { revision }),
    },
  };
}

/** The subject as lists search for it: `resource:order`, `resource:order:7`. */
function resourceIn({ resourceType, resourceId }: ApprovalSubject): string[] {
  if (resourceType === undefined) return [];
  return [`resource:${resourceType}`, ...(resourceId === undefined ? [] : [`resource:${resourceType}:${resourceId}`])];
}

function option<T extends string>(config: JsonObject, member: string, options: readonly T[]): T | undefined {
  const value = config[member];
  const found = options.find((one) => one === value);
  if (value !== undefined && found === undefined)
    throw new ConfigError(`/${member}`, `Expected one of ${options.map((one) => `'${one}'`).join(', ')}.`);
  return found;
}

function flag(config: JsonObject, member: string): boolean {
  const value = config[member] ?? false;
  if (typeof value !== 'boolean') throw new ConfigError(`/${member}`, 'Expected true or false.');
  return value;
}
