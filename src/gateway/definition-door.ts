/** Documents that come in as definitions: read, checked, their secrets taken out, ready to be stored or run. */
import type { Request } from 'express';
import { z } from 'zod';
import { check } from '../check/check.ts';
import type { KnownTools } from '../check/tools.ts';
import { hookProblems } from '../client/hook-config.ts';
import { hmacHex } from '../client/keys.ts';
import { demandLength, putTakenSecrets } from '../client/secrets.ts';
import { definitionHash } from '../definition/canonical.ts';
import { DIALECTS } from '../definition/dialects.ts';
import { isObject } from '../definition/json.ts';
import { parseDocument } from '../definition/parse.ts';
import type { ClearSecret } from '../definition/secrets-out.ts';
import type { Definition, Problem } from '../definition/types.ts';
import { hasLoneSurrogate } from '../definition/vet.ts';
import type { Json } from '../template/types.ts';
import { mediaOf, rawBody } from './body.ts';
import type { Gateway } from './context.ts';
import { decodeText, parseJson } from './json-guard.ts';
import { HttpProblem } from './problem.ts';

export const dialectName = z.enum(DIALECTS);

/** What src/check says of a document, and our own checks of its webhooks. */
export interface Checked {
  readonly valid: boolean;
  readonly dialect: string;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly hash?: string;
  /** Present where the document could be read; to be stored or run only if it is valid. */
  readonly definition?: Definition;
  /** To be stored with the definition. */
  readonly secrets: readonly ClearSecret[];
}

/** Problems of a text that make it no document at all; others are problems of the definition. */
const UNREADABLE: ReadonlySet<string> = new Set([
  'malformed',
  'duplicate_key',
  'unknown_tag',
  'several_documents',
  'empty_document',
  'too_many_aliases',
  'not_json',
  'too_deep',
  'forbidden_key',
  'invalid_name',
]);

/** The document in a body: JSON or YAML. @throws HttpProblem 400 and 415. */
export function documentOf(req: Request): Json {
  const bytes = rawBody(req);
  const media = mediaOf(req);
  if (media !== 'json' && media !== 'yaml') {
    throw new HttpProblem('unsupported_media_type', 'Send the definition as application/json or application/yaml.');
  }
  if (media === 'json') parseJson(bytes);
  const parsed = parseDocument(decodeText(bytes));
  if ('document' in parsed) return parsed.document;
  const { problems } = parsed;
  const first = problems[0];
  const detail = `The document cannot be read: ${first?.message ?? 'unknown'}`;
  if (first === undefined || !UNREADABLE.has(first.code))
    throw new HttpProblem('invalid_definition', detail, { problems });
  const code =
    first.code === 'too_deep' || first.code === 'forbidden_key' || first.code === 'invalid_name'
      ? first.code
      : media === 'json'
        ? 'invalid_json'
        : 'invalid_yaml';
  throw new HttpProblem(code, detail, { problems });
}

/** Names go into ids, lists and logs, some of which cannot hold every character. @throws HttpProblem `invalid_name`. */
function demandNames(document: Json): void {
  if (!isObject(document)) return;
  const { name, slug, tags, triggers } = document;
  const listed = [
    ...(Array.isArray(tags) ? tags : []),
    ...(Array.isArray(triggers) ? triggers.map((one) => (isObject(one) ? (one['name'] ?? '') : '')) : []),
  ];
  for (const text of [name, slug, ...listed]) {
    if (typeof text === 'string' && (text.includes('\0') || hasLoneSurrogate(text))) {
      throw new HttpProblem(
        'invalid_name',
        'A name, slug or tag of the definition holds NUL or half of a surrogate pair.',
      );
    }
  }
}

export interface CheckOptions {
  readonly dialect?: string;
  /** The slug of the address; the document may leave it out, and may not have another. */
  readonly slug?: string;
  /** A run of its own, which needs no name. */
  readonly inline?: boolean;
  /** As known-tools.ts finds them. */
  readonly tools?: KnownTools;
  /** False: the organization has no API keys. */
  readonly persons?: boolean;
}

/** Checks a document. @throws HttpProblem `invalid_name`; what else is wrong with it stands in the answer. */
export function checkDocument(gateway: Gateway, document: Json, options: CheckOptions = {}): Checked {
  demandNames(document);
  const { dialect, inline, tools, persons } = options;
  const result = check(withSlug(document, options.slug), {
    ...(dialect === undefined ? {} : { dialect }),
    ...(inline === undefined ? {} : { inline }),
    ...(tools === undefined ? {} : { tools }),
    ...(persons === undefined ? {} : { persons }),
    bash: gateway.config.bash !== 'off',
    actions: gateway.actions,
  });
  const base = { dialect: result.dialect, warnings: result.warnings };
  const refused = (problems: readonly Problem[]): Checked => ({ ...base, valid: false, problems, secrets: [] });
  if (result.definition === undefined) return refused(result.problems);
  if (!result.valid) return { ...refused(result.problems), definition: result.definition };
  const { slug } = result.definition;
  if (options.slug !== undefined && slug !== options.slug && writtenSlug(document) !== undefined) {
    const message = `The document's slug is ${slug}, and the address says ${options.slug}. Make them the same.`;
    return refused([{ pointer: '/slug', code: 'slug_mismatch', message }]);
  }
  const { definition, secrets } = placed(gateway, result.definition, result.secrets, options);
  const problems = hookProblems(definition);
  if (problems.length > 0) return refused(problems);
  return { ...base, valid: true, problems: [], definition, hash: definitionHash(definition), secrets };
}

/**
 * The definition under the address's slug, which other dialects do not have, and its secrets under names of that slug;
 * those of an inline run under names that no stored workflow has.
 */
function placed(
  gateway: Gateway,
  definition: Definition,
  secrets: readonly ClearSecret[],
  { slug = definition.slug, inline }: CheckOptions,
): { definition: Definition; secrets: readonly ClearSecret[] } {
  const content = JSON.stringify(secrets);
  const before = `workflows/${definition.slug}/`;
  const after =
    inline === true ? `inline/${hmacHex(gateway.access.keys.secrets, content).slice(0, 16)}/` : `workflows/${slug}/`;
  if (before === after || secrets.length === 0)
    return { definition: slug === definition.slug ? definition : { ...definition, slug }, secrets };
  const names = new Map(
    secrets.map(({ name }) => [name, name.startsWith(before) ? after + name.slice(before.length) : name]),
  );
  return {
    definition: { ...(renamed(definition as unknown as Json, names) as unknown as Definition), slug },
    secrets: secrets.map(({ name, value }) => ({ name: names.get(name) ?? name, value })),
  };
}

/** References by their new names: they stand in `config.secrets`, and as `{secretRef}` in triggers. */
function renamed(definition: Json, names: ReadonlyMap<string, string>): Json {
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

const writtenSlug = (document: Json): Json | undefined => (isObject(document) ? document['slug'] : undefined);

/** @throws HttpProblem `invalid_definition` with the problems. */
export function demandValid(checked: Checked): { definition: Definition; hash: string } {
  const { definition, hash, problems, valid } = checked;
  if (valid && definition !== undefined && hash !== undefined) return { definition, hash };
  const [first] = problems;
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : '';
  const where = first === undefined ? 'it cannot be read' : `${first.message} (${first.pointer || '/'})`;
  throw new HttpProblem('invalid_definition', `The definition has problems: ${where}${more}.`, { problems });
}

/** Stores what takeSecrets took out, when it is called; those that could not be stored are refused now. @throws ClientError `secret_too_short`, `payload_too_large`. */
export function storing(
  gateway: Gateway,
  org: string,
  owner: string,
  secrets: readonly ClearSecret[],
): () => Promise<void> {
  for (const { name, value } of secrets) demandLength(name, value);
  return () => putTakenSecrets(gateway.access, org, owner, secrets);
}

function withSlug(document: Json, slug: string | undefined): Json {
  if (slug === undefined || !isObject(document) || document['slug'] !== undefined) return document;
  return isObject(document['steps']) ? { ...document, slug } : document;
}
