/**
 * Links of an approval's messages that decide nothing, or that others get than those who are asked (LANGUAGE.md §6).
 * The definition says who is asked. Whose address it is, the organization's keys say, where the caller knows them.
 */
import { addressKey, mayDecide, type Person, personNamed, roleClaimsOf } from '../contract/organization/people.ts';
import { isObject, type Json, type JsonObject } from '../json/json.ts';
import { personIn } from '../steps/kinds/approval/approval-notify.ts';
import { matchingAudience, USER } from '../steps/kinds/approval/approval-persons.ts';
import type { Findings } from './analysis.ts';
import { constantAudience, isConstant } from './constant-approvers.ts';

/** The notices of an entry of `notify` that send a link. */
const NOTICES_WITH_LINK = ['asked', 'reminder', 'escalated'];

/** `people`: the persons of the organization's keys; undefined where they are unknown. */
export function checkLinks(
  config: JsonObject,
  at: string,
  people: readonly Person[] | undefined,
  { warnings }: Findings,
): void {
  const { notify, outsiders } = config;
  if (outsiders === true)
    warnings.add(
      `${at}/outsiders`,
      'outsiders_decide',
      'Links decide here for every address that "approvers" and "notify" let in, also without an API key.',
      'Leave "outsiders" out where each approver can have a key with their address.',
    );
  if (!Array.isArray(notify)) return;
  for (const [index, entry] of notify.entries()) {
    if (!isObject(entry)) continue;
    if (
      sendsLinks(entry) &&
      entry['as'] !== undefined &&
      /\{\{[^}]*\binput\b/.test(JSON.stringify(entry['to'] ?? null))
    )
      warnings.add(
        `${at}/notify/${index}/to`,
        'link_by_input',
        'Whoever starts the run says where this link goes, and it decides as the person in "as".',
        'Leave "as" out, so that the link decides as the person of its address, or write the address here.',
      );
    for (const { name, place, isAs } of linkRecipients(entry)) {
      const message = ineffectiveLinkReason(name, linkAudience(config, entry), people, outsiders === true);
      if (message === undefined) continue;
      const hint = isAs
        ? 'Name a person whom the approval asks.'
        : 'Set "as" to the approver who reads this mailbox, or add the address to a key of theirs.';
      warnings.add(`${at}/notify/${index}${place}`, 'link_of_nobody', message, hint);
    }
  }
}

interface LinkRecipient {
  readonly name: string;
  readonly place: string;
  readonly isAs: boolean;
}

/** The persons as whom the links of an entry decide, as far as they are written there. */
function linkRecipients(entry: JsonObject): LinkRecipient[] {
  const { channel, to, as } = entry;
  if (!sendsLinks(entry)) return [];
  if (as !== undefined) return isText(as) ? [{ name: as, place: '/as', isAs: true }] : [];
  if (channel !== 'email') return [];
  const isList = Array.isArray(to);
  return [to ?? null].flat().flatMap((one, index) => {
    const name = isText(one) ? personIn(one) : undefined;
    return name === undefined ? [] : [{ name, place: isList ? `/to/${index}` : '/to', isAs: false }];
  });
}

const sendsLinks = ({ on, channel }: JsonObject): boolean =>
  channel !== 'inbox' && (!Array.isArray(on) || on.some((notice) => NOTICES_WITH_LINK.includes(String(notice))));

const isText = (value: Json | undefined): value is string => typeof value === 'string' && isConstant(value);

/** Who is asked when the entry sends its links; undefined where a template says it. */
function linkAudience({ approvers, escalateTo, onTimeout }: JsonObject, { on }: JsonObject): string[] | undefined {
  const notices = Array.isArray(on) ? on : NOTICES_WITH_LINK;
  const isEscalated = onTimeout === 'escalate' && notices.some((notice) => notice !== 'asked');
  const isFirst = notices.some((notice) => notice === 'asked' || notice === 'reminder');
  const audiences = [
    ...(isFirst ? [approvers === undefined ? [] : constantAudience(approvers)] : []),
    ...(isEscalated ? [constantAudience(escalateTo)] : []),
  ];
  if (audiences.length === 0 || audiences.some((one) => one === undefined)) return undefined;
  // Without approvers everybody is asked who may decide.
  return audiences.some((one) => one?.length === 0) ? [] : audiences.flatMap((one) => one ?? []);
}

/** Why a link for that name decides nothing; undefined where it may decide. */
function ineffectiveLinkReason(
  name: string,
  audience: readonly string[] | undefined,
  people: readonly Person[] | undefined,
  outsiders: boolean,
): string | undefined {
  const shown = name.slice(0, 80);
  if (people === undefined || people.length === 0) {
    const isOnlyPersons = audience?.every((one) => one.startsWith(USER)) === true && audience.length > 0;
    const isAsked = audience?.some((one) => addressKey(one.slice(USER.length)) === addressKey(name));
    if (!isOnlyPersons || isAsked) return undefined;
    return `The approval asks nobody named "${shown}": the link decides only if a key of an approver has this address.`;
  }
  const person = personNamed(people, name);
  if (person === undefined && !outsiders)
    return `No API key has the name or address "${shown}": this link decides nothing.`;
  if (person !== undefined && !mayDecide(person))
    return `"${shown}" is ${person.user} with the role ${person.role}, who may not decide: this link decides nothing.`;
  if (audience === undefined || audience.length === 0) return undefined;
  const as = person === undefined ? { roles: [], groups: [], names: [addressKey(name)] } : roleClaimsOf(person);
  return matchingAudience(audience, { by: person?.user ?? name, as }).length > 0
    ? undefined
    : `The approval does not ask ${person?.user ?? `"${shown}"`}: the link to "${shown}" decides nothing.`;
}
