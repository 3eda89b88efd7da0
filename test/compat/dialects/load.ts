/** The documents of this folder: definitions in each dialect, with what becomes of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { DIALECT_NAMES } from '../../../src/compat/dialect-names.ts';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { answer } from '../../programs/load.ts';

const json = z.json();
const object = z.record(z.string(), json);
const read = (file: string): unknown => parse(readFileSync(new URL(file, import.meta.url), 'utf8'));

/** A document, what its canonical form holds at least, and where problems and warnings stand. */
export interface Case {
  readonly name: string;
  readonly document: Json;
  readonly dialect?: string | undefined;
  readonly definition?: JsonObject | undefined;
  /** Pointers, with the begin of the message where it follows after a blank. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

const cases = z.array(
  z.strictObject({
    name: z.string(),
    document: json,
    dialect: z.string().optional(),
    definition: object.optional(),
    problems: z.array(z.string()).default([]),
    warnings: z.array(z.string()).default([]),
  }),
);

export const CASES: { readonly [dialect: string]: readonly Case[] } = Object.fromEntries(
  (['001', '002', '004'] as const).map((number) => [number, cases.parse(read(`${DIALECT_NAMES[number]}.yaml`))]),
);

const taleDefinition = z.strictObject({
  about: z.string(),
  document: object,
  /** The actions that its host has to register. */
  actions: z.array(z.string()),
  /** `pointer code`; of a definition that is sound there are none. */
  problems: z.array(z.string()).default([]),
  walks: z
    .array(
      z.strictObject({
        effects: z.record(z.string(), z.array(answer)),
        /** Members that the configs of effects must have, by path of the visit. */
        sent: object.default({}),
        trace: z.array(z.string()),
      }),
    )
    .default([]),
});

/** Whole definitions of tale, with their walks. */
export const TALE_DEFINITIONS = readdirSync(new URL('tale/', import.meta.url)).map((file) => ({
  name: basename(file, '.yaml'),
  ...taleDefinition.parse(read(`tale/${file}`)),
}));
