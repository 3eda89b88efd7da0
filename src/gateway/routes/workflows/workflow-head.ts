/** The head of a definition in answers, and what routes that read or store definitions have in common. */

import { putDefinition } from '../../../client/definitions/definitions.ts';
import type { Access } from '../../../client/temporal/access.ts';
import { readDefinition, readHead } from '../../../client/versions/definition-head.ts';
import { type DefinitionHead, etagOfHead } from '../../../contract/actors.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { storedWorkflow } from '../../answers/workflows.ts';
import { idempotentId } from '../../http/idempotency-key.ts';
import { type Call, createdOrOk } from '../../http/route.ts';
import { type Checked, demandValid, prepareSecretWrite } from '../../input/definition-input.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { DEFINITION_PROBLEMS, type ProblemCode, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';

/** `{slug, name, version, hash, enabled, tags, updatedAt}` and a little more. */
export function shownHead(
  head: DefinitionHead,
): Omit<DefinitionHead, 'hooks' | 'revision' | 'triggers' | 'triggerSecrets' | 'text'> & { textHash?: string } {
  const { hooks: _hooks, revision: _revision, triggers: _triggers, triggerSecrets: _secrets, text, ...shown } = head;
  return { ...shown, ...omitUndefined({ textHash: text?.hash }) };
}

/** The current definition. @throws HttpProblem `not_found`. */
export async function demandDefinition(access: Access, org: string, slug: string) {
  const found = await readDefinition(access, org, slug);
  if (found !== undefined) return found;
  throw new HttpProblem('not_found', `There is no workflow called ${slug}.`);
}

/** The header ETag of a definition. */
export const etagHeaderOf = (head: DefinitionHead): { etag: string } => ({ etag: `"${etagOfHead(head)}"` });

/** One tag of an If-Match, weak or not, with the comma after it. */
const LISTED_TAG = /\s*(W\/)?"([^"]*)"\s*(?:,|$)/gy;

/**
 * The tag that an `If-Match` asks for: of several the one that the definition has now, otherwise the first. `*` is
 * itself, and a tag may lack its quotes. A weak tag matches none (RFC 9110, strong comparison): an empty tag stands for
 * it.
 */
export async function ifMatchOf(
  { access, req, principal }: Pick<Call, 'access' | 'req' | 'principal'>,
  slug: string,
): Promise<{ readonly ifMatch?: string }> {
  const header = req.get('if-match')?.trim();
  if (header === undefined) return {};
  const listed = [...header.matchAll(LISTED_TAG)];
  if (listed.map(([text]) => text).join('') !== header) return { ifMatch: header };
  const tags = listed.flatMap(([, weak, tag = '']) => (weak === undefined ? [tag] : []));
  if (tags.length < 2) return { ifMatch: tags[0] ?? '' };
  const head = await readHead(access, principal.organizationId, slug);
  const current = head && etagOfHead(head);
  return { ifMatch: tags.find((tag) => tag === current) ?? tags[0] ?? '' };
}

/** The headers that routes of definitions document. */
export const ETAG = {
  ETag: 'The tag of the definition: its hash, with a part of the hash of its text where one is kept.',
};
export const IF_MATCH = {
  'If-Match':
    'The tag that the stored definition must have, or several tags, of which it must have one. Weak tags never match.',
};

export const STORE_CONDITIONS = { ...IF_MATCH, 'If-None-Match': '`*`: nothing may be stored there yet.' };

/** The codes of a route that changes a stored definition. */
export const PUT_PROBLEMS: readonly ProblemCode[] = [
  ...WRITE_PROBLEMS,
  'not_found',
  'entry_changed',
  ...DEFINITION_PROBLEMS,
  'version_missing',
  'too_many',
  'too_large',
];

/** The answers of a route that stores a definition: see storedAnswer. */
export const STORE_ANSWERS = {
  201: { text: 'Stored; it is new.', schema: storedWorkflow, headers: ETAG },
  200: { text: 'Stored.', schema: storedWorkflow, headers: ETAG },
};

/**
 * Stores the definition with its secrets, if the conditions of the request are met.
 * @throws HttpProblem `invalid_definition`; the errors of putDefinition.
 */
export async function storeChecked(
  { access, principal, req }: Pick<Call, 'access' | 'principal' | 'req'>,
  checked: Checked,
  notes: string | undefined,
) {
  const { organizationId, id: by } = principal;
  const { definition, hash, secrets } = demandValid(checked);
  const { slug } = definition;
  const { created, head } = await putDefinition(access, organizationId, {
    definition,
    hash,
    source: 'update',
    afterWrite: await prepareSecretWrite(access, organizationId, slug, secrets),
    ...(await ifMatchOf({ access, principal, req }, slug)),
    ...omitUndefined({ by, notes, key: idempotentId(req), text: checked.text }),
    ...(req.get('if-none-match')?.trim() === '*' ? { ifNew: true } : {}),
  });
  return { definition, hash, created, head };
}

/** The head of a definition that was stored, with `more` members. */
export const storedAnswer = <More extends object>(created: boolean, head: DefinitionHead, more: More) =>
  createdOrOk(
    created,
    { ...shownHead(head), ...more },
    { ...etagHeaderOf(head), ...(created ? { location: `/api/workflows/${head.slug}` } : {}) },
  );
