// Definitions and cases of other projects, which this one does not hold: the folder ../shared/cases beside it, whose
// README.md says what is from where. They are read as data.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe } from 'vitest';
import type { Json, JsonObject } from '../../src/json/json.ts';

const FOLDER = new URL('../../../shared/cases/', import.meta.url);

const hasCases = existsSync(FOLDER);

/** As `describe`; skipped, and said so, where the folder is not there. */
export const describeSharedCases: typeof describe | typeof describe.skip = hasCases ? describe : describe.skip;

if (!hasCases)
  console.warn(
    'There is no ../shared/cases, so the tests with cases of other projects are skipped. Others prove as much.',
  );

/** The cases of a file. None where the folder is not there. */
export function sharedCases<Case>(file: string): readonly Case[] {
  return hasCases ? (JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Case[]) : [];
}

/** The definitions that tale shipped, with their names. */
export const taleCases: readonly { readonly name: string; readonly document: JsonObject }[] = hasCases
  ? readdirSync(new URL('definitions-000/seed/', FOLDER)).map((file) => ({
      name: basename(file, '.json'),
      document: JSON.parse(readFileSync(new URL(`definitions-000/seed/${file}`, FOLDER), 'utf8')),
    }))
  : [];

/** The cases of agent-ops: what its compiler takes, and runs. */
export const agentOpsCases = sharedCases<{
  readonly kind: string;
  readonly name: string;
  readonly source: string;
  readonly definition: Json;
  readonly stated: { readonly ok?: boolean; readonly errorsInclude?: readonly string[] };
  readonly actual?: { readonly ok: boolean; readonly stepOrder?: readonly string[] };
  readonly sameHashGroup?: string;
}>('definitions-002.json').filter(({ kind }) => kind !== 'propose');

/** Patterns of schedules, with next times that four implementations give; `disputed` where good ones differ. */
export const sharedCron = sharedCases<{
  readonly cron: string;
  readonly test: string;
  readonly from: string;
  readonly tz?: string;
  readonly expectedNext?: readonly string[];
  readonly error?: boolean;
  readonly never?: boolean;
  readonly disputed?: boolean;
}>('cron.json');
