/**
 * The programs of this folder: whole definitions with the trace that LANGUAGE.md promises. They say nothing of how they
 * are run, so that the simulated clock and the real server can both be held to them.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { DIALECTS, toCanonical } from '../../src/compat/dialects.ts';
import { normalizeDocument } from '../../src/definition/document/normalize.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';

const json = z.json();

export const answer = z.strictObject({
  data: json.optional(),
  meta: z.record(z.string(), json).optional(),
  error: z
    .strictObject({
      code: z.string(),
      message: z.string().default('The other side says no.'),
      retryable: z.boolean().default(false),
      details: json.optional(),
    })
    .optional(),
  /** Simulated milliseconds from the attempt's start to its answer. */
  afterMs: z.number().default(0),
});

const expectation = z.strictObject({
  status: z.enum(['completed', 'failed', 'cancelled', 'waiting', 'running']),
  output: json.optional(),
  /** Members that are named must be equal; others may be there. */
  error: z
    .strictObject({
      code: z.string(),
      path: z.string().optional(),
      stepSlug: z.string().optional(),
      attempts: z.number().optional(),
      retryable: z.boolean().optional(),
      message: z.string().optional(),
      details: json.optional(),
    })
    .optional(),
  /** Why a run was cancelled. */
  reason: z.string().optional(),
  /** `path kind` of what is waited for, oldest first. */
  waits: z.array(z.string()).optional(),
  /** `path status port` of every visit, in order of start; the port is left out where there is none. */
  trace: z.array(z.string()).optional(),
  /** As trace, where only some rows matter; they must occur in this order. */
  traceIncludes: z.array(z.string()).optional(),
  /** Milliseconds from the start to the end. */
  tookMs: z.number().optional(),
  /** The evaluated config of effects, by path. */
  sent: z.record(z.string(), json).optional(),
});

const problem = z.strictObject({ pointer: z.string(), code: z.string() });

const program = z
  .strictObject({
    /** The sentence of LANGUAGE.md that it proves; or what was decided where LANGUAGE.md leaves room. */
    about: z.string().min(10),
    definition: z.record(z.string(), json),
    /** In which the definition is written, where that is not the canonical form. */
    dialect: z.enum(DIALECTS).optional(),
    input: json.optional(),
    presets: z.record(z.string(), json).optional(),
    /** By path of a visit, `path/rollback`, or slug: one answer an attempt, the last repeats. */
    effects: z.record(z.string(), z.array(answer).min(1)).default({}),
    signals: z
      .array(
        z.strictObject({
          /** Sent when this step (slug or path) waits. */
          when: z.string().optional(),
          afterMs: z.number().optional(),
          signal: z.string(),
          payload: json.optional(),
        }),
      )
      .default([]),
    /** Whether time passes for waits on people and messages, so that their timeouts come. */
    timeouts: z.boolean().default(true),
    expect: expectation.optional(),
    /** Instead of expect: the definition is refused. */
    problems: z.array(problem).min(1).optional(),
  })
  .refine((one) => (one.expect === undefined) !== (one.problems === undefined), {
    error: 'a program has either expect or problems',
  });

export type ProgramAnswer = z.infer<typeof answer>;
export type Expectation = z.infer<typeof expectation>;
export interface ProgramFile extends Omit<z.infer<typeof program>, 'definition' | 'input'> {
  readonly name: string;
  readonly definition: Definition;
  readonly input: Json;
}

/** Every program, by the name of its file. Throws where a file has not the shape above. */
export function loadPrograms(): ProgramFile[] {
  const folder = import.meta.dirname;
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => loadProgram(join(folder, file)));
}

function loadProgram(file: string): ProgramFile {
  const name = basename(file, '.yaml');
  const read = program.safeParse(parse(readFileSync(file, 'utf8')));
  if (!read.success) throw new Error(`${name}.yaml is no program: ${z.prettifyError(read.error)}`);
  // A program is named after its file, unless its names matter.
  const written = { name, slug: name, ...(read.data.definition as JsonObject) };
  const document = read.data.dialect === undefined ? normalizeDocument(written) : imported(written, read.data.dialect);
  const definition = document as unknown as Definition;
  return { ...read.data, name, definition, input: read.data.input ?? {} };
}

function imported(written: JsonObject, dialect: string): JsonObject {
  const { definition, problems } = toCanonical(written, dialect);
  if (definition === undefined)
    throw new Error(`The program is not of dialect ${dialect}: ${JSON.stringify(problems)}`);
  return definition as unknown as JsonObject;
}
