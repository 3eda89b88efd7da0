/** Takes a stored definition, with its text, to another gateway or organization. */

import { check } from '../check/check.ts';
import { secretNames } from '../client/triggers/hook-config.ts';
import { definitionDifference } from '../definition/document/diff.ts';
import { parseDocument } from '../definition/document/parse.ts';
import { textDiff } from '../definition/document/text-diff.ts';
import type { Definition, Problem } from '../definition/document/types.ts';
import { asJson, isObject, type Json, type JsonObject } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { CliError, EXIT } from './exit.ts';
import type { StoredWorkflow } from './gateway-answers.ts';
import type { Gateway, GatewayCall } from './gateway-client.ts';
import { problemLine } from './problem-lines.ts';
import { allItems } from './show-list.ts';
import { definitionIn, findVersion, historyOf, versionDefinition } from './workflows.ts';

/** One version of a definition, as a gateway keeps it. */
interface PromotedVersion {
  readonly hash: string;
  readonly version?: string;
  readonly definition: Definition;
  readonly text: string;
  readonly media: 'json' | 'yaml';
  /** Absent where the author's text was not kept. */
  readonly textHash?: string;
}

export interface Promotion {
  readonly slug: string;
  readonly hash: string;
  /** The version at the source. */
  readonly version?: string;
  /** Whether the target does not have the workflow. */
  readonly isNew: boolean;
  /** Whether the target has the same version with the same text. */
  readonly isUpToDate: boolean;
  readonly diffText: string;
  /** Secrets that the definition uses and the target does not have. */
  readonly missingSecrets: readonly string[];
  /** What else it needs at the target, in sentences that follow its slug. */
  readonly needs: readonly string[];
  readonly warnings: readonly Problem[];
  /** Stores it at the target, if the target has not changed since it was compared. */
  store(): Promise<StoredWorkflow>;
}

/**
 * Compares a version at the source with the current one at the target, and checks it there. Stores nothing.
 * @throws CliError if the target does not accept the definition
 */
export async function comparePromotion(
  source: Gateway,
  target: Gateway,
  slug: string,
  version: string | undefined,
): Promise<Promotion> {
  const from = await readVersion(source, slug, version);
  const present = await currentVersionAt(target, slug);
  const document = documentOf(slug, from);
  const missingSecrets = await findMissingSecrets(target, from.definition);
  const needs = await requirementsOf(target, from.definition);
  const warnings = await checkAt(target, slug, document);
  return {
    slug,
    hash: from.hash,
    ...omitUndefined({ version: from.version }),
    isNew: present === undefined,
    isUpToDate: present?.hash === from.hash && (from.textHash === undefined || present.textHash === from.textHash),
    diffText: differenceOf(slug, from, present, { source: source.url, target: target.url }),
    missingSecrets,
    needs,
    warnings,
    store: async () => {
      const notes = `Promoted from ${source.url}, ${from.hash}`;
      const condition = present?.etag === undefined ? { 'if-none-match': '*' } : { 'if-match': present.etag };
      const call = { ...document, params: { slug }, query: { notes }, headers: condition };
      return (await target.call('PUT', '/api/workflows/:slug', call)).body;
    },
  };
}

async function readVersion(gateway: Gateway, slug: string, version: string | undefined): Promise<PromotedVersion> {
  const params = { slug };
  const { body: current } = await gateway.call('GET', '/api/workflows/:slug', { params });
  const change = version === undefined ? current : findVersion(slug, await historyOf(gateway, slug), version);
  const { hash } = change;
  const { body } = await gateway.call('GET', '/api/workflows/:slug/text', { params, query: { hash } });
  const definition = hash === current.hash ? definitionIn(current) : await versionDefinition(gateway, slug, hash);
  const { text, media, textHash } = body;
  return { hash, definition, text, media, ...omitUndefined({ textHash, version: change.version }) };
}

/** The current version at the target. Undefined if it has none. */
async function currentVersionAt(
  target: Gateway,
  slug: string,
): Promise<(PromotedVersion & { etag?: string }) | undefined> {
  try {
    // The tag is read first: a change after that is refused when the definition is stored.
    const { etag } = await target.call('GET', '/api/workflows/:slug', { params: { slug } });
    return { ...(await readVersion(target, slug, undefined)), ...omitUndefined({ etag }) };
  } catch (error) {
    if (error instanceof CliError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** The text of the author, if it says the same as the version; otherwise the canonical form. */
function documentOf(slug: string, { text, media, textHash, hash, definition }: PromotedVersion): GatewayCall {
  const parsed = textHash === undefined ? undefined : parseDocument(text);
  const isSame = parsed !== undefined && 'document' in parsed && check(parsed.document, { slug }).hash === hash;
  return isSame ? { document: text, media } : { document: JSON.stringify(definition), media: 'json' };
}

/** The warnings of the target. @throws CliError with the problems that it finds */
async function checkAt(target: Gateway, slug: string, document: GatewayCall): Promise<readonly Problem[]> {
  const { body } = await target.call('POST', '/api/workflows/validate', document);
  if (body.valid) return body.warnings;
  throw new CliError(
    EXIT.input,
    `The gateway at ${target.url} does not accept ${slug}.`,
    body.problems.map((problem) => problemLine('error', problem)),
  );
}

async function findMissingSecrets(target: Gateway, { config, triggers = [] }: Definition): Promise<string[]> {
  const used = [
    ...Object.values(config?.secrets ?? {}),
    ...triggers.flatMap((trigger) => (trigger.config === undefined ? [] : secretNames(trigger.config))),
  ];
  if (used.length === 0) return [];
  const present = new Set(
    (await allItems((query) => target.call('GET', '/api/secrets', { query }))).map(({ name }) => name),
  );
  return [...new Set(used)].filter((name) => !present.has(name)).sort();
}

/** The approvers that the target lacks are warnings of its checker, which knows the keys. */
async function requirementsOf(target: Gateway, definition: Definition): Promise<string[]> {
  const parts = objectsIn(asJson(definition));
  const needs: string[] = [];
  if (parts.some(({ approvers, assignees }) => approvers !== undefined || assignees !== undefined)) {
    const { hasKeys } = (await target.call('GET', '/api/me')).body;
    if (!hasKeys) needs.push('names persons, and there are no API keys there: all callers count as one person');
  }
  if (parts.some(({ channel, smtp }) => channel === 'email' && smtp === undefined))
    needs.push("sends e-mails over the host's SMTP server: SIGNALBOX_SMTP_URL has to be set for the workers there");
  return needs;
}

const objectsIn = (value: Json): JsonObject[] =>
  Array.isArray(value)
    ? value.flatMap(objectsIn)
    : isObject(value)
      ? [value, ...Object.values(value).flatMap(objectsIn)]
      : [];

/** What would change at the target: in the definition, or else in its text. */
function differenceOf(
  slug: string,
  from: PromotedVersion,
  present: PromotedVersion | undefined,
  urls: { readonly source: string; readonly target: string },
): string {
  const names = { before: `${slug} at ${urls.target}`, after: `${slug} at ${urls.source}` };
  if (present === undefined) return textDiff('', from.text.trimEnd(), names);
  if (present.hash !== from.hash) return definitionDifference(present.definition, from.definition, names).diffText;
  return from.textHash === undefined ? '' : textDiff(present.text.trimEnd(), from.text.trimEnd(), names);
}
