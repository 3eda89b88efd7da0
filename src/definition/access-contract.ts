/**
 * Who may do what (design.md §5, Authentication): the roles of API keys, and what an organization's actor keeps of a key.
 * The contract between src/client, workflows/organization.ts and the gateway. JSON only.
 */
import type { JsonObject } from './types.ts';

/** Each role may do what those before it may. */
export const ROLES = ['viewer', 'runner', 'approver', 'editor', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Whether somebody of the role `held` may do what asks for `wanted`. */
export const includesRole = (held: Role, wanted: Role): boolean => ROLES.indexOf(held) >= ROLES.indexOf(wanted);

/** A role and all that it includes. */
export const rolesUpTo = (role: Role): readonly Role[] => ROLES.slice(0, ROLES.indexOf(role) + 1);

/** What an organization keeps of an API key under `keys/{id}`: nothing that the key could be made of again. */
export interface KeyRecord extends JsonObject {
  readonly name: string;
  readonly role: Role;
  /** The person who uses it. */
  readonly user: string;
  /** Names of the organization's own, for approvers. */
  readonly roles: string[];
  readonly groups: string[];
  /** The key's beginning, by which people tell keys apart. */
  readonly prefix: string;
  /** HMAC-SHA256 of the key, hexadecimal, under a secret of its own … */
  readonly mac: string;
  /** … which is sealed under the master key. */
  readonly sealed: string;
  /** ISO 8601. */
  readonly createdAt: string;
}
