/** Definitions given to the API: parsed, checked, with their secrets taken out, ready to be stored or run. */

import type { Request } from 'express';
import { z } from 'zod';
import type { KnownTools } from '../../check/mcp-tools.ts';
import { demandRoomForSecrets, INLINE_SECRET_PREFIX, putExtractedSecrets } from '../../client/organization/secrets.ts';
import { hmacHex } from '../../client/payloads/keys.ts';
import type { WriteAccess } from '../../client/temporal/access.ts';
import { hookProblems } from '../../client/triggers/hook-config.ts';
import type { WrittenText } from '../../client/versions/texts.ts';
import { DIALECT_NAMES } from '../../compat/dialect-names.ts';
import { DIALECTS } from '../../compat/dialects.ts';
import type { Person } from '../../contract/organization/people.ts';
import { definitionHash } from '../../definition/document/canonical.ts';
import type { ClearSecret } from '../../definition/document/extract-secrets.ts';
import { dataLimitOf, valueLimitOf } from '../../definition/document/limits.ts';
import type { Definition, Problem } from '../../definition/document/types.ts';
import { assert } from '../../json/assert.ts';
import { asJson, isObject, type Json } from '../../json/json.ts';
import { mediaOf, rawBody } from '../http/body.ts';
import type { Gateway } from '../http/context.ts';
import { principalOf } from '../http/principal.ts';
import { type CheckResult, type DraftDrawing, type Media, mediaOfText } from '../threads/tasks.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { offloadByteCheck, offloadChecks, offloadDraft } from './offload.ts';
import { factsForDocuments, factsForText } from './organization-facts.ts';

const SYSTEMS = Object.entries(DIALECT_NAMES).map(([number, name]) => `${name} is ${number}`);

export const dialectName = z
  .enum(DIALECTS)
  .optional()
  .describe(`The dialect of the definition, by number or system: ${SYSTEMS.join(', ')}. Default: detected.`);

/** The result of src/check for a document, and of the gateway's checks of its webhooks. */
export interface Checked {
  readonly valid: boolean;
  readonly dialect: string;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly hash?: string;
  /** Present if the document could be parsed. Store or run it only if it is valid. */
  readonly definition?: Definition;
  /** To be stored with the definition. */
  readonly secrets: readonly ClearSecret[];
  /** The text to store with it (CheckOptions.keepsText). */
  readonly text?: WrittenText;
}

interface CheckOptions {
  readonly dialect?: string;
  /** The slug in the address. The document may omit it, but must not have a different one. */
  readonly slug?: string;
  /** True for an inline run, which needs no name. */
  readonly inline?: boolean;
  /** As organization-facts.ts finds them. */
  readonly tools?: KnownTools;
  readonly people?: readonly Person[];
  /** False: the organization has no API keys. */
  readonly persons?: boolean;
  /** Answer the text of the body, to store it. */
  readonly keepsText?: boolean;
}

/**
 * Checks the document in a body, JSON or YAML, against the organization's tools.
 * @throws HttpProblem 400, 415 and 422 if the body is not a document, and those of the pool. Other problems are in the
 * result.
 */
export async function checkBody(gateway: Gateway, req: Request, options: CheckOptions = {}): Promise<Checked> {
  return checkBytes(gateway, principalOf(req).organizationId, documentIn(req), options);
}

/** Checks a document that is given as text, YAML or JSON, and answers its text. @throws HttpProblem as checkBody. */
export async function checkText(
  gateway: Gateway,
  organizationId: string,
  text: string,
  options: CheckOptions = {},
): Promise<Checked> {
  const written = { bytes: Buffer.from(text), media: mediaOfText(text) };
  return checkBytes(gateway, organizationId, written, { ...options, keepsText: true });
}

/** Checks a document that a body holds: an object, or a text as checkText. @throws HttpProblem as checkBody. */
export async function checkGiven(
  gateway: Gateway,
  organizationId: string,
  document: Json,
  options: CheckOptions = {},
): Promise<Checked> {
  if (typeof document === 'string') return checkText(gateway, organizationId, document, options);
  const facts = await factsForDocuments(gateway, organizationId, document);
  const [checked] = await checkDocuments(gateway, organizationId, [document], { ...options, ...facts });
  assert(checked !== undefined, 'A document was checked, and nothing came of it.');
  return checked;
}

async function checkBytes(
  gateway: Gateway,
  organizationId: string,
  { bytes, media }: { readonly bytes: Buffer; readonly media: Media },
  options: CheckOptions,
): Promise<Checked> {
  const checkOptions = { ...options, ...(await factsForText(gateway, organizationId, bytes)) };
  const found = await offloadByteCheck(gateway, organizationId, bytes, media, checkerOptions(gateway, checkOptions));
  const { text } = found;
  return {
    ...withGatewayChecks(gateway, found, checkOptions),
    ...(text === undefined ? {} : { text: { text, media } }),
  };
}

function documentIn(req: Request): { bytes: Buffer; media: Media } {
  const media = mediaOf(req);
  if (media !== 'json' && media !== 'yaml') {
    throw new HttpProblem('unsupported_media_type', 'Send the definition as application/json or application/yaml.');
  }
  return { bytes: rawBody(req), media };
}

/** Draws the document in a body, JSON or YAML, also one with problems. @throws HttpProblem as checkBody. */
export async function drawBody(gateway: Gateway, req: Request, options: CheckOptions = {}): Promise<DraftDrawing> {
  const { bytes, media } = documentIn(req);
  return offloadDraft(gateway, principalOf(req).organizationId, bytes, media, checkerOptions(gateway, options));
}

/**
 * Checks each document, and texts as checkText does. Results have the order of the documents. A text that cannot be
 * read has problems. @throws HttpProblem `invalid_name`, and those of the pool.
 */
export async function checkDocuments(
  gateway: Gateway,
  organizationId: string,
  documents: readonly Json[],
  options: CheckOptions = {},
): Promise<readonly Checked[]> {
  const results = await offloadChecks(gateway, organizationId, documents, checkerOptions(gateway, options));
  return results.map((result, index) => {
    const { text } = result;
    const source = text === undefined ? {} : { text: { text, media: mediaOfText(String(documents[index])) } };
    return { ...withGatewayChecks(gateway, result, options), ...source };
  });
}

const checkerOptions = (gateway: Gateway, options: CheckOptions) => ({
  ...options,
  bash: gateway.config.bash !== 'off',
  valueBytes: valueLimitOf(dataLimitOf(gateway.config.blobs.isOn)),
});

/** The checker's findings, with those that need the gateway's own knowledge. */
function withGatewayChecks(
  gateway: Gateway,
  { checked: result, writtenSlug }: CheckResult,
  options: CheckOptions,
): Checked {
  const base = { dialect: result.dialect, warnings: result.warnings };
  const refused = (problems: readonly Problem[]): Checked => ({ ...base, valid: false, problems, secrets: [] });
  if (result.definition === undefined) return refused(result.problems);
  if (!result.valid) return { ...refused(result.problems), definition: result.definition };
  const { slug } = result.definition;
  if (options.slug !== undefined && slug !== options.slug && writtenSlug !== undefined) {
    const message = `The document's slug is ${slug}, and the address says ${options.slug}. Make them the same.`;
    return refused([{ pointer: '/slug', code: 'slug_mismatch', message }]);
  }
  const { definition, secrets } = withAddressSlug(gateway, result.definition, result.secrets, options);
  const problems = hookProblems(definition);
  if (problems.length > 0) return refused(problems);
  const isAsChecked = definition === result.definition && result.hash !== undefined;
  const hash = isAsChecked ? result.hash : definitionHash(definition);
  return { ...base, valid: true, problems: [], definition, hash, secrets };
}

/**
 * The definition with the address's slug, which other dialects do not have, and its secrets with names of that slug.
 * The secrets of an inline run get names that no stored workflow has.
 */
function withAddressSlug(
  gateway: Gateway,
  definition: Definition,
  secrets: readonly ClearSecret[],
  { slug = definition.slug, inline }: CheckOptions,
): { definition: Definition; secrets: readonly ClearSecret[] } {
  const content = JSON.stringify(secrets);
  const before = `workflows/${definition.slug}/`;
  const after =
    inline === true
      ? `${INLINE_SECRET_PREFIX}${hmacHex(gateway.access.keys.secrets, content).slice(0, 16)}/`
      : `workflows/${slug}/`;
  if (before === after || secrets.length === 0)
    return { definition: slug === definition.slug ? definition : { ...definition, slug }, secrets };
  const names = new Map(
    secrets.map(({ name }) => [name, name.startsWith(before) ? after + name.slice(before.length) : name]),
  );
  return {
    definition: { ...(renameSecrets(asJson(definition), names) as unknown as Definition), slug },
    secrets: secrets.map(({ name, value }) => ({ name: names.get(name) ?? name, value })),
  };
}

/** Renames secret references, in `config.secrets` and as `{secretRef}` in triggers. */
function renameSecrets(definition: Json, names: ReadonlyMap<string, string>): Json {
  if (!isObject(definition)) return definition;
  const rename = (value: Json): Json => {
    if (typeof value === 'string') return names.get(value) ?? value;
    if (Array.isArray(value)) return value.map(rename);
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, rename(member)]))
      : value;
  };
  const { triggers, config } = definition;
  return {
    ...definition,
    ...(Array.isArray(triggers)
      ? {
          triggers: triggers.map((trigger) =>
            isObject(trigger) ? { ...trigger, config: rename(trigger['config'] ?? {}) } : trigger,
          ),
        }
      : {}),
    ...(isObject(config) && config['secrets'] !== undefined
      ? { config: { ...config, secrets: rename(config['secrets']) } }
      : {}),
  };
}

/** @throws HttpProblem `invalid_definition` with the problems. */
export function demandValid(
  checked: Checked,
): Pick<Checked, 'secrets'> & { readonly definition: Definition; readonly hash: string } {
  const { definition, hash, secrets, problems, valid } = checked;
  if (valid && definition !== undefined && hash !== undefined) return { definition, hash, secrets };
  const [first] = problems;
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : '';
  const where = first === undefined ? 'it cannot be read' : `${first.message} (${first.pointer || '/'})`;
  throw new HttpProblem('invalid_definition', `The definition has problems: ${where}${more}.`, { problems });
}

/**
 * Returns a function that stores the secrets that extractSecrets took out. Secrets that cannot be stored are refused
 * now.
 * @throws ClientError `secret_too_short`, `payload_too_large`, `too_many`, `too_large`.
 */
export async function prepareSecretWrite(
  access: WriteAccess,
  org: string,
  owner: string,
  secrets: readonly ClearSecret[],
): Promise<() => Promise<void>> {
  await demandRoomForSecrets(
    access,
    org,
    secrets.map((secret) => ({ ...secret, owner })),
  );
  return () => putExtractedSecrets(access, org, owner, secrets);
}
