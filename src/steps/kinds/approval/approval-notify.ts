/**
 * Messages of an approval (`notify`, LANGUAGE.md §6): when it is asked, at reminders, when it is escalated, and when it
 * is decided. Each recipient who is one person gets a link to decide by. The activity makes the link; the run's history
 * holds a placeholder.
 */
import {
  MESSAGE_CHANNELS,
  MESSAGE_CREDENTIALS,
  MESSAGE_MEMBERS,
  type MessageChannel,
} from '../../../contract/run/activity-options.ts';
import { isObject, type Json, type JsonObject } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { escapeHtml } from '../../../template/escape-html.ts';
import { readableTime } from '../../../template/time.ts';
import type { Rendered, SecretString } from '../../../template/types.ts';
import { isoInstant } from '../../config/duration.ts';
import { invalid, optionalText } from '../../config/read.ts';
import { ConfigError, type Parse, type RunSpec, type StepContext } from '../../kind.ts';
import { planMembers } from '../one-activity.ts';

export const NOTICES = ['asked', 'reminder', 'escalated', 'decided'] as const;
export type Notice = (typeof NOTICES)[number];
/** Members of an entry that go to the channel as they are. */
const NOTICE_MEMBERS = ['to', 'subject', 'from', 'replyTo', 'headers', 'secret', 'smtp'] as const;

const MAX_MESSAGES = 50;
const MAX_SUBJECT_CHARACTERS = 150;
/** One attempt, and the time without a heartbeat after which it counts as failed. */
const TIMEOUT_MS = 45_000;
const HEARTBEAT_MS = 15_000;
/** Shown in place of a link. */
const LINK = '[link]';

/** The facts in the messages. Times are epoch milliseconds. */
export interface NoticeFacts {
  readonly message: string;
  readonly until?: number | undefined;
  /** When the approval was asked: the link is for this question only. */
  readonly since: number;
  /** Of `decided`. */
  readonly decision?: 'approved' | 'rejected' | 'timeout';
  readonly by?: string | null;
  readonly comments?: string | null;
}

/** The messages of one notice. `name` is a part of their paths: `asked`, `reminder[1]`. */
export type Notify = (visit: StepContext, notice: Notice, name: string, facts: NoticeFacts) => RunSpec[];

/** The path suffixes of the messages about the end begin with this. */
export const DECIDED = '/notify/decided';

/** @throws ConfigError `invalid_config`. */
export function planNotify(written: Json | undefined, parse: Parse): Notify {
  if (written === undefined || written === null) return () => [];
  if (!Array.isArray(written)) throw new ConfigError('/notify', 'Expected a list of {channel, to, on}.');
  const entries = written.map((entry, index) => planEntry(entry, `/notify/${index}`, parse));
  return (visit, notice, name, facts) => {
    const messages = entries
      .filter(({ on }) => on.includes(notice))
      .flatMap((entry) => messagesOf(entry, visit, notice, facts));
    if (messages.length > MAX_MESSAGES) throw invalid('notify', `at most ${MAX_MESSAGES} recipients`, messages.length);
    return messages.map((config, index) => ({
      activity: 'sendMessage',
      config,
      suffix: `/notify/${name}[${index}]`,
      inner: 'send_message',
      timeoutMs: TIMEOUT_MS,
      heartbeatMs: HEARTBEAT_MS,
    }));
  };
}

interface Entry {
  readonly channel: MessageChannel;
  readonly on: readonly Notice[];
  readonly render: (visit: StepContext) => Rendered;
  readonly as: (visit: StepContext) => string | undefined;
}

function planEntry(entry: Json, at: string, parse: Parse): Entry {
  if (!isObject(entry)) throw new ConfigError(at, 'Expected {channel, to, on}.');
  const channel = MESSAGE_CHANNELS.find((one) => one === entry['channel']);
  if (channel === undefined) throw new ConfigError(`${at}/channel`, `Expected one of ${MESSAGE_CHANNELS.join(', ')}.`);
  if (entry['to'] === undefined || entry['to'] === null)
    throw new ConfigError(`${at}/to`, 'Expected whom the message goes to.');
  const on = entry['on'] ?? [...NOTICES];
  if (!Array.isArray(on) || on.length === 0 || !on.every((one) => NOTICES.some((notice) => notice === one)))
    throw new ConfigError(`${at}/on`, `Expected a list of ${NOTICES.join(', ')}.`);
  const channelMembers = NOTICE_MEMBERS.filter((member) => MESSAGE_MEMBERS[channel].includes(member));
  const unsupported = NOTICE_MEMBERS.find((member) => !channelMembers.includes(member) && entry[member] !== undefined);
  if (unsupported !== undefined)
    throw new ConfigError(`${at}/${unsupported}`, `The channel '${channel}' takes no ${unsupported}.`);
  const render = planMembers(entry, channelMembers, at, (member) =>
    MESSAGE_CREDENTIALS[channel].includes(member) ? parse.secretTemplate : parse.template,
  );
  const as = entry['as'] === undefined ? undefined : parse.template(entry['as'], `${at}/as`);
  return {
    channel,
    on: on as readonly Notice[],
    render,
    as: (visit) => (as === undefined ? undefined : optionalText(visit.render(as), 'notify.as')),
  };
}

/** A message for each recipient of an e-mail or an inbox; one for a webhook or a channel of Slack. */
function messagesOf(entry: Entry, visit: StepContext, notice: Notice, facts: NoticeFacts): Rendered[] {
  const { channel } = entry;
  const { value, secrets } = entry.render(visit);
  const config = value as JsonObject;
  const as = entry.as(visit);
  const isShared = channel === 'webhook' || channel === 'slack';
  const recipients = isShared ? [config['to'] ?? null] : [config['to'] ?? null].flat();
  return recipients.map((to) => {
    const address = isShared ? undefined : personIn(to);
    const person = as ?? address;
    // People read an inbox with a key of their own, and decide with it.
    const hasLink = person !== undefined && channel !== 'inbox' && notice !== 'decided';
    const { before, after } = noticeText(notice, facts, hasLink ? person : undefined);
    const link = {
      approval: visit.path,
      person: person ?? '',
      since: isoInstant(facts.since),
      // The address of a webhook may be a secret.
      ...(as === undefined ? {} : { to: address ?? channel }),
    };
    const subject = config['subject'] ?? subjectOf(notice, facts);
    const forms = {
      text: hasLink ? [before, link, after] : [before],
      ...(channel !== 'email' ? {} : { html: hasLink ? htmlWithLink(before, link, after) : [htmlOf(before)] }),
    };
    const shown = Object.entries(forms).map(([member, parts]) => [
      member,
      parts.map((part) => (typeof part === 'string' ? part : LINK)).join(''),
    ]);
    const placed = Object.entries(forms).map(([member, parts]): SecretString => ({ path: [member], parts }));
    const structuredData = channel === 'webhook' || channel === 'inbox' ? { data: dataOf(visit, notice, facts) } : {};
    return {
      value: { ...config, channel, to, subject, ...Object.fromEntries(shown), ...structuredData },
      secrets: hasLink ? [...secrets, ...placed] : secrets,
    };
  });
}

/** The person of a recipient: `ann`, `Ann <ann@example.com>`. Roles and groups are no single person. */
export function personIn(to: Json): string | undefined {
  if (typeof to !== 'string') return undefined;
  const address = (/<([^<>]+)>\s*$/.exec(to)?.[1] ?? to).trim().replace(/^user:/, '');
  return address === '' || /^(role|group):/.test(address) ? undefined : address;
}

const TITLES: { readonly [notice in Notice]: string } = {
  asked: 'Please decide',
  reminder: 'Reminder: please decide',
  escalated: 'Nobody has decided in time, please do',
  decided: 'Decided',
};

const DECISIONS = { approved: 'Approved', rejected: 'Rejected', timeout: 'Nobody decided in time' } as const;

function subjectOf(notice: Notice, { message, decision }: NoticeFacts): string {
  const title = decision === undefined ? TITLES[notice] : DECISIONS[decision];
  const line = `${title}: ${message.replace(/\s+/g, ' ').trim()}`;
  return line.length <= MAX_SUBJECT_CHARACTERS ? line : `${line.slice(0, MAX_SUBJECT_CHARACTERS - 1)}…`;
}

/** The text before and after the link. */
function noticeText(notice: Notice, facts: NoticeFacts, person: string | undefined): { before: string; after: string } {
  const { message, until, decision, by, comments } = facts;
  if (notice === 'decided') {
    const who = by === undefined || by === null ? '' : ` by ${by}`;
    const comment = comments === undefined || comments === null || comments === '' ? '' : `\n\n${comments}`;
    return { before: `${message}\n\n${DECISIONS[decision ?? 'timeout']}${who}.${comment}`, after: '' };
  }
  const end = until === undefined ? '' : `\n\nUntil ${readableTime(until)}.`;
  const before = `${message}${end}`;
  if (person === undefined) return { before, after: '' };
  return {
    before: `${before}\n\n${DECIDE_HERE}`,
    after: `\n\nThe link decides as ${person}, once. Do not forward it.`,
  };
}

const DECIDE_HERE = 'Decide here:\n';
const BUTTON = 'display:inline-block;padding:10px 24px;border-radius:6px;background:#1f5fbf;color:#fff';

const htmlWithLink = <Link>(before: string, link: Link, after: string): (string | Link)[] => [
  `${htmlOf(before.slice(0, -DECIDE_HERE.length))}\n<p><a style="${BUTTON}" href="`,
  link,
  `">Decide</a></p>\n${htmlOf(after)}`,
];

/** The paragraphs of a text. */
const htmlOf = (text: string): string =>
  text
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${escapeHtml(paragraph).replaceAll('\n', '<br>')}</p>`)
    .join('\n');

const dataOf = (
  visit: StepContext,
  notice: Notice,
  { message, until, decision, by, comments }: NoticeFacts,
): JsonObject => ({
  notice,
  executionId: visit.execution.id,
  path: visit.path,
  message,
  ...(until === undefined ? {} : { until: isoInstant(until) }),
  ...omitUndefined({ decision, by, comments }),
});
