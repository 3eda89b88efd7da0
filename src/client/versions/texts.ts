/**
 * The texts of definitions as their authors wrote them. Each is stored once, under its own hash, in a workflow that
 * stays open as those of versions do. Changes and heads refer to them.
 */
import { stringify } from 'yaml';
import type { TextStart } from '../../contract/actors.ts';
import type { TextReference } from '../../contract/definitions/text-reference.ts';
import type { TextMedia } from '../../definition/document/source-text.ts';
import type { Definition } from '../../definition/document/types.ts';
import { ClientError, onCode } from '../errors.ts';
import { readArgument } from '../history/start-and-close-events.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { sha256Hex, textId } from '../temporal/ids.ts';
import { readHead } from './definition-head.ts';
import { readDefinitionHistory } from './definition-history.ts';
import { startVersion } from './start-version.ts';
import { versionReader } from './version-history.ts';

export interface WrittenText {
  readonly text: string;
  readonly media: TextMedia;
}

export const textReferenceOf = (text: WrittenText | TextReference): TextReference =>
  'text' in text
    ? { hash: `sha256:${sha256Hex(text.text)}`, media: text.media }
    : { hash: text.hash, media: text.media };

/** Stores a text of the workflow. The same text is stored once. */
export async function storeText(access: WriteAccess, org: string, slug: string, written: WrittenText): Promise<void> {
  const reference = textReferenceOf(written);
  const workflowId = textId(org, slug, reference.hash);
  const start: TextStart = { organizationId: org, slug, ...reference, text: written.text };
  await startVersion(access, workflowId, start);
}

/** The stored text. Undefined where the workflow never had it. */
export async function readText(
  access: Access,
  org: string,
  slug: string,
  hash: string,
): Promise<WrittenText | undefined> {
  const argument = readArgument<TextStart>(access, textId(org, slug, hash));
  const start = await argument.catch(onCode('not_found', () => undefined));
  return start && { text: start.text, media: start.media };
}

/** The text of a version: as it was written, or else its canonical form. */
interface VersionText extends WrittenText {
  /** The hash of the version. */
  readonly hash: string;
  /** The hash of the text. Absent where the text is made from the canonical form. */
  readonly textHash?: string;
}

interface WantedText {
  /** The hash of a version. Default: the current one. */
  readonly hash?: string;
  /** The hash of a text, as changes name it. Default: the latest text of the version. */
  readonly text?: string;
}

/**
 * The text of a version.
 * @throws ClientError `not_found` where the workflow does not exist and no version is named, `version_not_found`.
 */
export async function readVersionText(
  access: Access,
  org: string,
  slug: string,
  wanted: WantedText,
): Promise<VersionText> {
  const head = await readHead(access, org, slug);
  const hash = wanted.hash ?? head?.hash;
  if (hash === undefined) throw new ClientError('not_found', `There is no workflow called ${slug}.`);
  const definition = await (await versionReader(access, org, slug))(hash);
  const ofHead = head?.hash === hash ? head.text?.hash : undefined;
  const textHash = wanted.text ?? ofHead ?? (await latestText(access, org, slug, hash));
  const written = textHash === undefined ? undefined : await readText(access, org, slug, textHash);
  if (wanted.text !== undefined && written === undefined)
    throw new ClientError('version_not_found', `Workflow ${slug} has no text ${wanted.text}. Its history names all.`);
  if (written === undefined || textHash === undefined) return { hash, ...canonicalTextOf(definition) };
  return { hash, textHash, ...written };
}

async function latestText(access: Access, org: string, slug: string, hash: string): Promise<string | undefined> {
  const history = await readDefinitionHistory(access, org, slug);
  return history?.changes.findLast((one) => one.hash === hash && one.text !== undefined)?.text?.hash;
}

/** Larger definitions are written as JSON: writing YAML takes ten times as long. */
const MAX_YAML_LENGTH = 64 * 1024;

function canonicalTextOf(definition: Definition): WrittenText {
  const json = JSON.stringify(definition, null, 2);
  if (json.length > MAX_YAML_LENGTH) return { media: 'json', text: `${json}\n` };
  return { media: 'yaml', text: stringify(definition, { lineWidth: 0 }) };
}
