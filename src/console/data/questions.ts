/** Questions that runs ask people: texts and links that the inbox and the question screen share. Pure. */
import { isObject } from '../../json/json.ts';
import type { Approval, ApprovalPage } from './types.ts';

export type Question = ApprovalPage['items'][number];

const URGENT_MS = 60 * 60 * 1_000;

/** The text of the question. */
export const messageOf = ({ message, stepSlug, kind }: Pick<Question, 'message' | 'stepSlug' | 'kind'>): string =>
  message !== undefined && message.trim() !== '' ? message : kind === 'input' ? `Input for ${stepSlug}` : stepSlug;

export const workflowNameOf = ({ workflowName, workflowId }: Pick<Question, 'workflowName' | 'workflowId'>): string =>
  workflowName ?? workflowId;

/** What is decided on, such as `order A-17`. Empty where the question does not say. */
export const subjectOf = ({ resourceType, resourceId }: Pick<Question, 'resourceType' | 'resourceId'>): string =>
  [resourceType, resourceId].filter((one) => one !== undefined).join(' ');

/** Whether less than an hour is left. `until` is ISO 8601, `now` in milliseconds. */
export const isUrgent = (until: string | undefined, now: number): boolean =>
  until !== undefined && Date.parse(until) - now < URGENT_MS;

/** `user:ann` → `ann`, `role:finance` → `everyone with the role finance`. */
function personText(name: string): string {
  const [kind, ...rest] = name.split(':');
  const who = rest.join(':');
  if (kind === 'user') return who;
  if (kind === 'role') return `the role ${who}`;
  return kind === 'group' ? `the group ${who}` : name;
}

/** Who is asked; undefined where everyone with the right may answer. */
export const audienceText = (audience: readonly string[] | undefined): string | undefined =>
  audience === undefined || audience.length === 0 ? undefined : audience.map(personText).join(', ');

/** How a question ended. */
export interface QuestionOutcome {
  readonly status: string;
  readonly at: string;
  readonly by?: string | null | undefined;
  readonly via?: string | undefined;
  readonly comments?: string | null | undefined;
}

const OUTCOME_VERBS: { readonly [status: string]: string } = {
  approved: 'approved this',
  rejected: 'rejected this',
  submitted: 'answered this',
};

/** `Ann approved this`, `Nobody answered in time.` */
export function outcomeText({ status, by, via }: QuestionOutcome): string {
  if (status === 'timeout' || via === 'timeout')
    return status === 'timeout' ? 'Nobody answered in time.' : `Nobody answered in time, so it was ${status}.`;
  const word = OUTCOME_VERBS[status];
  if (word === undefined) return status === 'cancelled' ? 'The run ended before an answer.' : 'The step failed.';
  const who = by ?? (via === 'temporal' ? 'A signal from Temporal' : 'Somebody');
  const how = via === 'temporal' && by ? ' by a signal' : via?.startsWith('link to ') ? ` by a ${via}` : '';
  return `${who} ${word}${how}.`;
}

/** The earlier answer in a conflict response (409), if it has one. */
export function conflictingAnswer(extensions: { readonly [member: string]: unknown }): QuestionOutcome | undefined {
  const answer = extensions['answer'];
  const { status, at } = isObject(answer) ? answer : {};
  return typeof status === 'string' && typeof at === 'string' ? (answer as QuestionOutcome) : undefined;
}

/** The questions before and after this one in the list. */
export function adjacentQuestions(
  items: readonly Question[],
  executionId: string,
  path: string,
): { readonly before: Question | undefined; readonly after: Question | undefined } {
  const at = items.findIndex((one) => one.executionId === executionId && one.path === path);
  return { before: items[at - 1], after: at < 0 ? items[0] : items[at + 1] };
}

/** The format of the form: as listed, or where it is too long for lists, as the step was given it. */
export function formatOfQuestion({ form, stepInput }: Pick<Approval, 'form' | 'stepInput'>): object | undefined {
  const given = isObject(stepInput) ? stepInput['form'] : undefined;
  return form ?? (isObject(given) ? given : undefined);
}

/** The text if it is a web address (http or https). Nothing else becomes a link. */
export function safeWebUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    const { protocol } = new URL(text, location.origin);
    return protocol === 'http:' || protocol === 'https:' ? text : undefined;
  } catch {
    return undefined;
  }
}
