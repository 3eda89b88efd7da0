/**
 * Inputs, updates and answers of an organization's actors (ARCHITECTURE.md §4): the contract between src/client and
 * workflows/actors. JSON only.
 *
 * A write is an update with one argument that carries a `key`. The same key gets the same answer again, also after the
 * actor continued as new. A refusal is an ApplicationFailure whose type is the code. Members that are read often are in
 * the memo, which `describe()` answers without a worker.
 */

import type { TriggerSecrets } from '../definition/document/trigger-secrets.ts';
import type { Definition } from '../definition/document/types.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { Proposal } from './definitions/proposal.ts';
import type { TextReference } from './definitions/text-reference.ts';

export const DEFINITION_WORKFLOW = 'definition';
export const VERSION_WORKFLOW = 'version';
export const HOOK_WORKFLOW = 'hook';
export const ORGANIZATION_WORKFLOW = 'organization';

/** Answers by request key, oldest first; the state of every actor that takes writes holds one. */
export type RememberedAnswers = readonly { readonly key: string; readonly answer: Json }[];

/** The argument of a write. Writes with one key are one write. */
export interface Keyed {
  readonly key: string;
}

/** Members that every actor's argument has. */
export interface ActorStart {
  readonly organizationId: string;
  /** Events after which the actor continues as new. */
  readonly historyLimit: number;
}

/** One webhook trigger of a definition, as the definition's head lists it so that the next write can free it. */
export interface HookPath {
  readonly path: string;
  readonly trigger: string;
}

/** `def.{org}.{workflow}`: its memo has this under `head`. */
export interface DefinitionHead {
  readonly slug: string;
  readonly name: string;
  readonly description?: string;
  readonly version: string;
  readonly hash: string;
  readonly enabled: boolean;
  readonly tags: readonly string[];
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Increases with every write: hooks keep the config of the latest revision. */
  readonly revision: number;
  readonly hooks: readonly HookPath[];
  /** Names of all its triggers, so that the next write can delete the triggers that it no longer has. */
  readonly triggers?: readonly string[];
  /** References, as of the last write. The version has the references of its first write. */
  readonly triggerSecrets?: TriggerSecrets;
  /** The set of definitions that it belongs to, if a sync wrote it. */
  readonly origin?: string;
  /** The text of the current version. Absent where none was kept. */
  readonly text?: TextReference;
}

/** The entity tag of a definition: its hash, and the hash of its text where one is kept. */
export const etagOfHead = ({ hash, text }: Pick<DefinitionHead, 'hash' | 'text'>): string =>
  text === undefined ? hash : `${hash}.${text.hash.slice('sha256:'.length, 'sha256:'.length + 16)}`;

type ChangeSource = 'update' | 'sync' | 'proposal_apply' | 'rollback' | 'system';

export interface DefinitionChange {
  readonly hash: string;
  readonly version: string;
  readonly source: ChangeSource;
  /** ISO 8601. */
  readonly at: string;
  readonly by?: string;
  readonly notes?: string;
  /** The proposal that was applied. */
  readonly proposalId?: string;
  readonly text?: TextReference;
}

export interface DefinitionState {
  readonly head: DefinitionHead | null;
  /** Newest last. The oldest are removed when there are too many. */
  readonly changes: readonly DefinitionChange[];
  /**
   * Digests (versionDigest) of versions that runs may name besides those of `changes`: those of removed changes, and
   * those of `recordVersions`. Absent in the state of an actor of a version before 0.4.
   */
  readonly older?: readonly string[];
  /** An actor of a version before 0.4 has removed changes without keeping their versions. */
  readonly lacksOlder?: boolean;
  readonly deletedAt: string | null;
  readonly removed?: RemovedDefinition | null;
  /** The revision of the last write. It never decreases, even across a deletion. */
  readonly revision: number;
  /** Newest last. */
  readonly proposals?: readonly Proposal[];
  readonly answers: RememberedAnswers;
}

export interface DefinitionStart extends ActorStart {
  readonly slug: string;
  /** How long proposals can be reviewed and applied; default: PROPOSAL_TTL_MS. */
  readonly proposalMs?: number;
  readonly carried?: DefinitionState;
}

/**
 * Update `put`. Refused with `hash_mismatch`, `already_exists` or `entry_changed`. An update that applies a proposal is
 * also refused with the codes of ReviewProposal and `proposal_stale`.
 */
export interface PutDefinition extends Keyed {
  readonly hash: string;
  readonly name: string;
  readonly description?: string;
  /** As the author wrote it, if the author wrote one. */
  readonly version?: string;
  readonly enabled: boolean;
  readonly tags: readonly string[];
  readonly hooks: readonly HookPath[];
  readonly triggers?: readonly string[];
  readonly triggerSecrets?: TriggerSecrets;
  readonly source: ChangeSource;
  readonly by?: string;
  readonly notes?: string;
  /** The text of the definition. Absent: the text stays where the definition does. */
  readonly text?: TextReference;
  /** The tag that the head must have (etagOfHead); `*`: any. */
  readonly ifMatch?: string;
  /** The head must not exist. */
  readonly ifNew?: boolean;
  /** The revision that the head must have. */
  readonly ifRevision?: number;
  /** The set that the definition belongs to after the write. Absent: as before. */
  readonly origin?: string;
  /** The proposal that this write applies. */
  readonly proposalId?: string;
}

export interface PutDefinitionAnswer {
  readonly created: boolean;
  /** Whether the body differs from the previous body. */
  readonly changed: boolean;
  readonly head: DefinitionHead;
  /** Paths that the previous head had and this one does not have. */
  readonly freed: readonly HookPath[];
  /** Names of triggers that the previous head had and this one does not have. */
  readonly dropped?: readonly string[];
  /** The change in the history. Absent where the write made no recorded change. */
  readonly change?: DefinitionChange;
  readonly proposal?: Proposal;
  /** The actor lacks versions of earlier changes: `recordVersions` gives them to it. */
  readonly lacksOlder?: true;
}

/** Update `recordVersions`: versions that runs may name, besides those that were written. */
export interface RecordVersions extends Keyed {
  readonly hashes: readonly string[];
}

export interface RecordVersionsAnswer {
  /** Digests of all versions of the request. */
  readonly recorded: readonly string[];
}

/** Update `remove`; answers a RemovedDefinition. Refused with `not_found` or `hash_mismatch`. */
export interface RemoveDefinition extends Keyed {
  readonly ifMatch?: string;
  readonly by?: string;
}

/**
 * What a deletion removes besides the definition. The memo keeps it under `removed` until the definition is written
 * again, so that a later request completes an interrupted deletion.
 */
export interface RemovedDefinition {
  readonly hooks: readonly HookPath[];
  readonly triggers: readonly string[];
  /** The number of proposals that the deletion closed. Absent where it closed none. */
  readonly proposals?: number;
  readonly revision: number;
  /** ISO 8601. */
  readonly at: string;
}

/** `ver.{org}.{workflow}.{hash}`: one immutable definition, read from the workflow's first event. */
export interface VersionStart {
  readonly organizationId: string;
  readonly slug: string;
  readonly hash: string;
  readonly definition: Definition;
}

/** `text.{org}.{workflow}.{hash}`: one text of a definition, held by a workflow of the type VERSION_WORKFLOW. */
export interface TextStart extends TextReference {
  readonly organizationId: string;
  readonly slug: string;
  readonly text: string;
}

/** The config of a webhook path, without secrets in clear text. */
export interface HookConfig {
  readonly enabled: boolean;
  readonly method: string;
  readonly scheme: string;
  /** Names in the organization's secret store. Two during a rotation. */
  readonly secrets: readonly string[];
  /** Headers that a delivery must have: name → value. `*` or an empty value accepts any. */
  readonly headers: { readonly [name: string]: string };
  readonly respond: 'accepted' | 'result';
  /** Further settings of a scheme: header names, encoding, prefix. */
  readonly options: JsonObject;
  readonly mapping?: { readonly [key: string]: string };
  readonly targetState?: JsonObject;
  /** The person to whom the runs count. */
  readonly owner?: string;
}

/** `hook.{org}.{path}`: its memo has this under `hook`. */
export interface HookState {
  readonly path: string;
  readonly owner: (HookOwner & { readonly trigger: string /** Epoch milliseconds. */; readonly at: number }) | null;
  readonly revision: number;
  /** Null between the claim of a path and the write of the definition that claims it. */
  readonly config: HookConfig | null;
  readonly freed: (HookOwner & { /** Epoch milliseconds. */ readonly at: number }) | null;
}

/** The owner of a path: the definition of a workflow, or one of its triggers that was made through the API. */
export interface HookOwner {
  readonly workflow: string;
  /** The trigger's id, where it was made through the API. */
  readonly api?: string;
}

export interface HookStart extends ActorStart {
  readonly path: string;
  readonly carried?: { readonly hook: HookState; readonly answers: RememberedAnswers };
}

/** Update `claim`. Refused with `path_taken` or `path_resting`. */
export interface ClaimHook extends HookOwner, Keyed {
  readonly trigger: string;
}

/** Update `configure`, by the owner of the path. A revision older than the last one changes nothing. */
export interface ConfigureHook extends ClaimHook {
  readonly revision: number;
  readonly config: HookConfig;
}

/** Update `free`. It has no effect unless the owner asks and the revision is not older. */
export interface FreeHook extends HookOwner, Keyed {
  readonly revision: number;
}

/** How long a claim lasts that no definition follows up, since its writer may have died in between. */
export const HOOK_CLAIM_MS = 10 * 60 * 1000;

/** How long a freed path is kept from other workflows. */
export const HOOK_RESERVATION_MS = 24 * 60 * 60 * 1000;

/**
 * `org.{org}`: named entries in a few collections. The memo has one field for each entry, `{collection}/{name}`, so a
 * write costs the size of one entry. Secrets are sealed before they reach the actor.
 */
export const ORGANIZATION_COLLECTIONS = [
  'secrets',
  'models',
  'mcp-servers',
  'mcp-tools',
  'keys',
  'organizations',
  'limits',
  'public-key',
] as const;
export type OrganizationCollection = (typeof ORGANIZATION_COLLECTIONS)[number];

interface OrganizationState {
  readonly entries: { readonly [place: string]: JsonObject };
  readonly answers: RememberedAnswers;
}

export interface OrganizationStart extends ActorStart {
  readonly carried?: OrganizationState;
}

/** Update `delete`. Refused with `not_found`. */
export interface DeleteEntry extends Keyed {
  readonly collection: OrganizationCollection;
  readonly name: string;
}

/** Update `put`. Refused with `too_large` or `too_many`. */
export interface PutEntry extends DeleteEntry {
  readonly value: JsonObject;
}

/** Update `amend`: members of an existing entry. Refused with `not_found`, `entry_changed`. */
export interface AmendEntry extends DeleteEntry {
  readonly members: JsonObject;
  /** The members that the entry must still have. */
  readonly expect?: JsonObject;
}

/** The limit of all entries of an organization together. They share one memo, which must stay below Temporal's 2 MB. */
export const MAX_ORGANIZATION_BYTES = 1_000_000;
export const MAX_ORGANIZATION_ENTRIES = 2_000;

/** The entry of a secret: `sealed` is ciphertext bound to the organization, the name and the lists beside it. */
export interface SealedSecret {
  readonly sealed: string;
  readonly allowedHosts?: readonly string[];
  readonly allowedWorkflows?: readonly string[];
  readonly updatedAt: string;
}
