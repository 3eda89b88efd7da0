/** `signalbox run FILE`: runs a definition without storing it; `--dry` simulates it locally, without a gateway. */

import { z } from 'zod';
import { type Checked, dryRunnable } from '../../check/check.ts';
import { presetMemberProblems, unknownPresets } from '../../definition/document/presets.ts';
import type { Definition } from '../../definition/document/types.ts';
import { validatePayload, withDefaults } from '../../definition/payload/format.ts';
import { dryRun } from '../../history/dry-run.ts';
import { type DryAnswers, dryAnswersSchema } from '../../history/dry-run-answers.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { dryRunLines } from '../dry-run-text.ts';
import { exitCodeOf } from '../executions.ts';
import { CliError, EXIT, type ExitCode } from '../exit.ts';
import { gatewayOf } from '../gateway-client.ts';
import { dialectOption, jsonFlag, jsonOption, type OutputOptions, objectOption, secondsOption } from '../options.ts';
import { problemLine } from '../problem-lines.ts';
import { checkWritten, findingLines, readDocument, type WrittenDocument } from '../read-document.ts';
import { DEFAULT_WAIT_SECONDS, showOutcome } from '../show-outcome.ts';
import type { Terminal } from '../terminal.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface RunOptions extends OutputOptions {
  readonly input?: Json;
  readonly presets?: JsonObject;
  readonly answers?: JsonObject;
  readonly dry?: boolean;
  readonly wait: number;
  readonly dialect?: string;
}

export const addRun: AddCommand = (program, { terminal, exitWith }) => {
  program
    .command('run')
    .description('run a definition and wait until it ends or waits for somebody')
    .argument('<file>', 'the definition in YAML or JSON, in any dialect; - is standard input')
    .option('--input <json>', "the run's input", jsonOption)
    .option('--presets <json>', 'results of steps that are then not executed: {step: result}', objectOption)
    .option('--answers <json>', 'with --dry: what comes for each wait: {path: answer}', objectOption)
    .option('--dry', 'simulate locally: no gateway, no side effects, no waiting')
    .option('--wait <seconds>', 'how long to wait for the end', secondsOption, DEFAULT_WAIT_SECONDS)
    .addOption(dialectOption())
    .addOption(jsonFlag())
    .action(async (file: string, options: RunOptions) => {
      const written = await readDocument(terminal, file);
      if (options.answers !== undefined && options.dry !== true)
        throw new CliError(EXIT.usage, 'Only a dry run takes --answers. Add --dry.');
      const run = options.dry === true ? runDry : runOnGateway;
      exitWith(await run(terminal, written, options));
    });
};

async function runOnGateway(terminal: Terminal, written: WrittenDocument, options: RunOptions): Promise<ExitCode> {
  const gateway = gatewayOf(terminal);
  const { body } = await gateway.call('POST', '/api/executions', {
    json: {
      definition: written.document.json,
      ...omitUndefined({ dialect: options.dialect, input: options.input, presets: options.presets }),
    },
  });
  // Only a dry run has no id.
  if (!('executionId' in body))
    throw new CliError(EXIT.internal, 'The gateway has not said which execution it started.');
  return showOutcome(terminal, gateway, body.executionId, options);
}

async function runDry(terminal: Terminal, written: WrittenDocument, options: RunOptions): Promise<ExitCode> {
  const checked = await checkWritten(terminal, written, {
    inline: true,
    ...omitUndefined({ dialect: options.dialect }),
  });
  const definition = demandWalkable(written, checked);
  const { presets = {} } = options;
  const unknown = unknownPresets(definition, presets);
  if (unknown.length > 0)
    throw new CliError(
      EXIT.input,
      'There are presets for unknown steps.',
      unknown.map(({ message, hint = '' }) => `${message} ${hint}`.trim()),
    );
  const lost = presetMemberProblems(presets);
  if (lost.length > 0)
    throw new CliError(
      EXIT.input,
      'Presets have members that would be lost.',
      lost.map(({ pointer, message, hint = '' }) => `${pointer}: ${message} ${hint}`.trim()),
    );
  const run = dryRun(definition, {
    now: Date.now(),
    input: acceptedInput(definition, options.input === undefined ? {} : options.input),
    ...omitUndefined({ presets: options.presets, answers: parseAnswers(options.answers) }),
  });
  const problems = [...checked.problems, ...run.problems];
  if (options.json === true) terminal.out(formatJson({ ...run, problems, warnings: checked.warnings }));
  else {
    for (const line of findingLines(written, { problems, warnings: checked.warnings })) terminal.err(line);
    for (const line of dryRunLines(definition, run)) terminal.out(line);
  }
  return exitCodeOf(run);
}

function parseAnswers(written: JsonObject | undefined): DryAnswers | undefined {
  if (written === undefined) return undefined;
  const read = dryAnswersSchema(z.custom<Json>(), z.string()).safeParse(written);
  if (read.success) return read.data;
  const places = read.error.issues.map(({ path }) => path.join('.'));
  throw new CliError(EXIT.usage, 'The answers are not as expected.', [
    `At ${[...new Set(places)].join(', ')}: expected {decision}, {form}, {message}, {timeout: true}, or a list.`,
  ]);
}

function demandWalkable(written: WrittenDocument, checked: Checked): NonNullable<Checked['definition']> {
  const definition = dryRunnable(checked);
  if (definition !== undefined) return definition;
  throw new CliError(EXIT.input, `${written.file} has problems.`, findingLines(written, checked));
}

/** The input with the defaults of its format. @throws CliError if it does not match the format */
function acceptedInput(definition: Definition, given: Json): Json {
  if (definition.input === undefined) return given;
  const input = withDefaults(definition.input, given);
  const problems = validatePayload(definition.input, input);
  if (problems.length === 0) return input;
  throw new CliError(
    EXIT.input,
    `The input does not match the input format of ${definition.slug}. Pass it with --input.`,
    problems.map((problem) => problemLine('error', problem)),
  );
}
