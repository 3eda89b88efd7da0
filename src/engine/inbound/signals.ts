/**
 * Decodes signals and updates (ARCHITECTURE.md §3) into events. The shell and the fold both use this, so they accept
 * and ignore the same ones (E6).
 *
 * Signals may also be sent by hand. A payload of the wrong shape gives no event, and nothing here throws.
 */

import type { Decision, LinkHolder, RoleClaims, RunError } from '../../contract/run/run.ts';
import { isTooDeep, MAX_VALUE_DEPTH } from '../../json/depth.ts';
import { isPlainObject, type JsonObject } from '../../json/json.ts';
import type { Addressed, Event } from '../state/protocol.ts';
import { SIGNAL_TEXTS } from './signal-texts.ts';

/** Signals of a run, in the order in which it begins to listen. Other names are ignored. */
export const SIGNALS = Object.keys(SIGNAL_TEXTS) as (keyof typeof SIGNAL_TEXTS)[];

/** Updates. Messages, ends of children, `abort` and `granted` are signals only. */
export const UPDATES = [
  'approve',
  'reject',
  'decide',
  'submit',
  'cancelStep',
  'retryStep',
  'skipTimer',
  'pause',
  'resume',
] as const;

/**
 * The members of an address, a submission and a decision besides `data` and `decision`, each with the test of its
 * type.
 */
const ADDRESS = { step: isString, key: isString, by: isString };
const SUBMISSION = { via: isString, as: isRolesAndGroups };
const DECISION = { ...SUBMISSION, holder: isHolder, comments: isString, override: isBoolean, reason: isString };
const ADDRESS_MEMBERS = Object.keys(ADDRESS);
const DECISION_MEMBERS = [...ADDRESS_MEMBERS, ...Object.keys(DECISION), 'data'];
/**
 * Members of signals that people send. Signals between runs and limiters are not listed: newer senders may add
 * members.
 */
const MEMBERS: { readonly [name: string]: readonly string[] | undefined } = {
  approve: DECISION_MEMBERS,
  reject: DECISION_MEMBERS,
  decide: [...DECISION_MEMBERS, 'decision'],
  submit: [...ADDRESS_MEMBERS, ...Object.keys(SUBMISSION), 'data'],
  message: ['name', 'payload', 'id', 'event'],
  cancelStep: ADDRESS_MEMBERS,
  retryStep: ADDRESS_MEMBERS,
  skipTimer: ADDRESS_MEMBERS,
  pause: ['key'],
  resume: ['key'],
  abort: ['reason'],
};
const MAX_QUOTED_CHARACTERS = 80;

/**
 * Names an unknown member of a signal or update in a sentence, so a misspelled member is not taken for an absent one.
 */
export function unknownMemberMessage(name: string, payload: unknown): string | undefined {
  const members = Object.hasOwn(MEMBERS, name) ? MEMBERS[name] : undefined;
  if (members === undefined || !isPlainObject(payload)) return undefined;
  const unknown = Object.keys(payload).find((member) => !members.includes(member));
  return unknown === undefined ? undefined : `'${name}' has no member '${unknown.slice(0, MAX_QUOTED_CHARACTERS)}'.`;
}

/** Names a member that no run can store, since it is nested too deeply, in a sentence. */
export function deepMemberMessage(payload: unknown): string | undefined {
  if (!isPlainObject(payload)) return undefined;
  const deep = Object.keys(payload).find((member) => isTooDeep(payload[member], MAX_VALUE_DEPTH));
  if (deep === undefined) return undefined;
  return `'${deep.slice(0, MAX_QUOTED_CHARACTERS)}' is nested deeper than ${MAX_VALUE_DEPTH} levels.`;
}

/** The update of that name as an event; undefined where no update has that name, or the payload does not fit. */
export function updateToEvent(name: string, payload: unknown, at: number): Event | undefined {
  return (UPDATES as readonly string[]).includes(name) ? toEvent(name, payload, at) : undefined;
}

/**
 * The signal of that name as an event. `payload` is the first argument (absent counts as `{}`), `at` is the run's clock
 * in epoch milliseconds. Undefined for an unknown name, a member of the wrong type, an unknown member, or one that is
 * nested too deeply to be stored.
 */
export function toEvent(name: string, payload: unknown, at: number): Event | undefined {
  const body = payload === undefined || payload === null ? {} : payload;
  if (!isPlainObject(body)) return undefined;
  if (unknownMemberMessage(name, body) !== undefined || deepMemberMessage(body) !== undefined) return undefined;
  switch (name) {
    case 'approve':
      return decide(body, 'approved', at);
    case 'reject':
      return decide(body, 'rejected', at);
    case 'decide': {
      const decision = body['decision'];
      return decision === 'approved' || decision === 'rejected' ? decide(body, decision, at) : undefined;
    }
    case 'submit': {
      const address = addressOf(body);
      const submission = membersOf(body, SUBMISSION);
      return (
        address &&
        submission && { type: 'submit', at, ...address, data: body['data'] ?? null, via: 'temporal', ...submission }
      );
    }
    case 'message': {
      const messageName = body['name'];
      const id = optional(body, 'id', isString);
      const event = optional(body, 'event', isPublished);
      if (!isString(messageName) || messageName === '' || id === undefined || event === undefined) return undefined;
      return { type: 'message', at, name: messageName, payload: body['payload'] ?? null, ...id, ...event };
    }
    case 'childDone':
      return childDone(body, at);
    case 'cancelStep':
    case 'retryStep':
    case 'skipTimer': {
      const address = addressOf(body);
      return address === undefined ? undefined : { type: name, at, ...address };
    }
    case 'pause':
    case 'resume': {
      const key = optional(body, 'key', isString);
      return key === undefined ? undefined : { type: name, at, ...key };
    }
    case 'abort': {
      const reason = optional(body, 'reason', isString);
      return reason === undefined ? undefined : { type: 'abort', at, ...reason };
    }
    case 'granted':
      return isString(body['gate']) ? { type: 'granted', at, gate: body['gate'] } : undefined;
    default:
      return undefined;
  }
}

function decide(body: JsonObject, decision: Decision['decision'], at: number): Event | undefined {
  const address = addressOf(body);
  const decisionMembers = membersOf(body, DECISION);
  if (!address || !decisionMembers) return undefined;
  const data = body['data'] === undefined ? {} : { data: body['data'] };
  return { type: 'decide', at, ...address, decision, ...data, via: 'temporal', ...decisionMembers };
}

/** `{path, output?}` of a completed child, `{path, error}` of a failed one. */
function childDone(body: JsonObject, at: number): Event | undefined {
  const path = body['path'];
  if (!isString(path)) return undefined;
  const written = body['error'];
  if (written === undefined || written === null) {
    return { type: 'childDone', at, id: path, output: body['output'] ?? null };
  }
  if (!isPlainObject(written)) return undefined;
  const { code, message, retryable } = written;
  if (!isString(code) || !isString(message)) return undefined;
  const details = written['details'] === undefined ? {} : { details: written['details'] };
  const error: RunError = { code, message, retryable: retryable === true, ...details };
  return { type: 'childDone', at, id: path, error };
}

const addressOf = (body: JsonObject): Addressed | undefined => membersOf(body, ADDRESS);

/** The member alone, `{}` where it is absent or null, undefined where it has the wrong type. */
function optional<K extends string, T>(
  body: JsonObject,
  key: K,
  is: (value: unknown) => value is T,
): { [key in K]?: T } | undefined {
  const value = body[key];
  if (value === undefined || value === null) return {};
  return is(value) ? ({ [key]: value } as { [key in K]?: T }) : undefined;
}

type Tests = { readonly [member: string]: (value: unknown) => boolean };
type Tested<T extends Tests> = { [K in keyof T]?: T[K] extends (value: unknown) => value is infer V ? V : never };

/** The members that are there, or undefined where one of them has the wrong type; null counts as absent. */
function membersOf<T extends Tests>(body: JsonObject, tests: T): Tested<T> | undefined {
  const present = Object.keys(tests).filter((name) => body[name] !== undefined && body[name] !== null);
  if (!present.every((name) => tests[name]!(body[name]))) return undefined;
  return Object.fromEntries(present.map((name) => [name, body[name]])) as Tested<T>;
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isPublished(value: unknown): value is { readonly key?: string } {
  return isPlainObject(value) && Object.keys(value).every((member) => member === 'key' && isString(value[member]));
}

const isList = (names: unknown): names is string[] => Array.isArray(names) && names.every(isString);

function isHolder(value: unknown): value is LinkHolder {
  return isPlainObject(value) && isString(value['id']) && isList(value['names']);
}

function isRolesAndGroups(value: unknown): value is RoleClaims {
  if (!isPlainObject(value) || !isList(value['roles']) || !isList(value['groups'])) return false;
  return value['names'] === undefined || isList(value['names']);
}
