/**
 * Approvals that are well formed and cannot work: unreachable quorums, unknown priorities, due dates that are no dates.
 */

import { mayDecide, type Person, personNamed } from '../contract/organization/people.ts';
import { didYouMean } from '../definition/document/names.ts';
import { isObject, type JsonObject } from '../json/json.ts';
import type { Notice } from '../steps/kinds/approval/approval-notify.ts';
import { PRIORITIES } from '../steps/kinds/approval/approval-schema.ts';
import { quorumLimit } from '../steps/kinds/approval/approval-votes.ts';
import { epochMs } from '../template/time.ts';
import type { Analysis, Findings } from './analysis.ts';
import { checkLinks } from './approval-links.ts';
import { constantAudience, isConstant } from './constant-approvers.ts';
import type { Host } from './host.ts';

export function checkApprovals(
  { definition, steps }: Analysis,
  { persons: hasApiKeys, people }: Host,
  findings: Findings,
): void {
  let approvalName: string | undefined;
  for (const { at, kind, written } of steps.values()) {
    const approval = kind?.needs?.(written.config ?? {}).approval;
    if (approval === undefined) continue;
    const place = `${at}/config${approval.at}`;
    checkRules(approval.rules, place, hasApiKeys, findings);
    checkLinks(approval.rules, place, people, findings);
    checkApproversKnown(approval.rules, place, people, findings);
    if (approval.rules['requesterMayApprove'] !== true) approvalName ??= written.name ?? at.split('/').at(-1)!;
  }
  if (approvalName === undefined) return;
  for (const { at, start } of unauthenticatedStarts(definition))
    findings.warnings.add(
      at,
      'approval_of_anyone',
      `${start} starts runs without an initiator, so its sender may also decide "${approvalName.slice(0, 80)}".`,
      'Have its deliveries signed, or name approvers who cannot send any.',
    );
}

/** The starts that record a person only where the request also has an API key. */
function unauthenticatedStarts({ triggers = [], config }: Analysis['definition']): { at: string; start: string }[] {
  const unauthenticated = triggers.flatMap(({ type, enabled, name, config: { scheme, secret } = {} }, index) => {
    const isUnsigned = type === 'webhook' && (scheme === 'none' || (scheme === undefined && secret === undefined));
    return isUnsigned && enabled !== false
      ? [{ at: `/triggers/${index}/config`, start: `The webhook "${name.slice(0, 80)}"` }]
      : [];
  });
  return config?.publicStart === true
    ? [...unauthenticated, { at: '/config/publicStart', start: 'The public trigger' }]
    : unauthenticated;
}

/** `hasApiKeys`: false if the organization has no API keys, so that all callers count as one person. */
function checkRules(config: JsonObject, at: string, hasApiKeys: boolean | undefined, findings: Findings): void {
  const { problems, warnings } = findings;
  const { dueDate, priority, reminders } = config;
  if (isConstant(dueDate) && epochMs(dueDate) === undefined)
    problems.add(
      `${at}/dueDate`,
      'invalid_config',
      `"dueDate" must be a point in time, got ${JSON.stringify(dueDate)}.`,
      "Write it as '2026-01-31T09:00:00Z', or as {{ now|addDuration('1d') }} for a time from now on.",
    );
  if (typeof priority === 'string' && isConstant(priority) && !PRIORITIES.includes(priority))
    warnings.add(
      `${at}/priority`,
      'unknown_priority',
      `Lists do not know the priority "${priority.slice(0, 80)}": expected ${PRIORITIES.join(', ')}.`,
      didYouMean(priority, PRIORITIES),
    );
  if (Array.isArray(reminders) && reminders.length > 0 && !notifiesOn(config, 'reminder'))
    warnings.add(
      `${at}/reminders`,
      'reminders_without_notice',
      'Reminders notify nobody: each only adds "(reminder n)" to the message that lists show.',
      'To send messages, add notify: [{channel: email, to: …, on: [reminder]}].',
    );
  if (config['onTimeout'] === 'escalate' && !notifiesOn(config, 'escalated'))
    warnings.add(
      `${at}/escalateTo`,
      'escalation_without_notice',
      'The escalation notifies nobody: those in "escalateTo" only see the approval in their lists.',
      'To send messages, add notify: [{channel: email, to: …, on: [escalated]}].',
    );
  checkQuorum(config, at, hasApiKeys, findings);
}

/** Whether an entry of `notify` sends on that occasion. */
function notifiesOn({ notify }: JsonObject, notice: Notice): boolean {
  return (
    Array.isArray(notify) &&
    notify.some((entry) => {
      const on = isObject(entry) ? entry['on'] : undefined;
      return on === undefined || (Array.isArray(on) && on.includes(notice));
    })
  );
}

const HOW_TO_CREATE_KEYS = '(in the settings of the console, by signalbox keys create, or POST /api/keys)';

function checkQuorum(config: JsonObject, at: string, hasApiKeys: boolean | undefined, findings: Findings): void {
  const { quorum } = config;
  const audience = constantAudience(config['approvers']);
  const maxQuorum = audience === undefined ? undefined : quorumLimit(audience);
  if (typeof quorum === 'number' && maxQuorum !== undefined && quorum > maxQuorum)
    findings.problems.add(
      `${at}/quorum`,
      'quorum_unreachable',
      `A quorum of ${quorum} can never be met: "approvers" names ` +
        `${maxQuorum === 1 ? 'one person' : `${maxQuorum} persons`}.`,
      `Name more approvers, or set the quorum to ${maxQuorum} at most.`,
    );
  const needed = quorum === 'all' ? (audience?.length ?? 0) : quorum;
  if (hasApiKeys !== false || typeof needed !== 'number' || needed < 2) return;
  findings.warnings.add(
    `${at}/quorum`,
    'quorum_without_keys',
    `Without API keys all callers of this organization count as one person with one vote; ${needed} are needed.`,
    `Create a key for each approver ${HOW_TO_CREATE_KEYS}, or set the quorum to any.`,
  );
}

/** Approvers whom no key of the organization stands for, where its keys are known. */
function checkApproversKnown(
  config: JsonObject,
  at: string,
  people: readonly Person[] | undefined,
  findings: Findings,
): void {
  if (people === undefined || people.length === 0 || config['outsiders'] === true) return;
  for (const member of ['approvers', 'escalateTo'] as const)
    for (const name of constantAudience(config[member]) ?? []) {
      const message = unknownApprover(name, people);
      if (message !== undefined)
        findings.warnings.add(
          `${at}/${member}`,
          'approver_unknown',
          message,
          `Create a key for them ${HOW_TO_CREATE_KEYS}.`,
        );
    }
}

/** `name`: as an audience has it, such as `user:ann` or `role:finance`. */
function unknownApprover(name: string, people: readonly Person[]): string | undefined {
  const [kind = '', ...rest] = name.split(':');
  const given = rest.join(':');
  const shown = given.slice(0, 80);
  if (kind === 'user') {
    const person = personNamed(people, given);
    if (person === undefined) return `"${shown}" is asked here, and has no API key of the organization.`;
    return mayDecide(person) ? undefined : `"${shown}" is asked here, and may not decide with the role ${person.role}.`;
  }
  if (people.some(({ roles, groups }) => (kind === 'role' ? roles : groups).includes(given))) return undefined;
  return `The ${kind} "${shown}" is asked here, and no API key that may decide has it.`;
}
