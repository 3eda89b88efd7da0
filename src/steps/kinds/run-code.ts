import { z } from 'zod';
import { CODE_LANGUAGES } from '../../contract/run/activity-options.ts';
import { isAbsent, wholeNumber } from '../config/read.ts';
import { anyValue, configSchema, templated } from '../config/schema.ts';
import { ConfigError, type NoState, type StepKind } from '../kind.ts';
import { oneActivity } from './one-activity.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 600_000;
const DEFAULT_MEMORY_MB = 64;
const MAX_MEMORY_MB = 512;
/** Beyond the code's own time, since it may wait for other scripts. */
const MARGIN_MS = 300_000;
/** An activity learns that it was cancelled from its heartbeats. */
const HEARTBEAT_MS = 15_000;

export const runCode: StepKind<NoState> = {
  type: 'run_code',
  class: 'effect',
  summary: 'Runs JavaScript, TypeScript or Python on data.',
  description: `JavaScript and TypeScript are a module with \`export default function (input) { … }\`; Python is
\`def main(input): …\`. Each may be \`async\`. The function gets \`input\`, and its return value is the step's data;
both are JSON. Templates in \`code\` are not evaluated: pass the run's data through \`input\`.

- **Isolation.** The code has no network, no files, no environment, no secrets and no access to other runs. JavaScript
  has no modules to import, Python has its standard library. For side effects, use other steps.
- **Time zones and languages.** JavaScript has \`Intl\` and \`toLocaleString\` with their options, as in
  \`new Date(at).toLocaleString('de-DE', {timeZone: 'Europe/Berlin'})\`. Local time is UTC, and the default language is
  en-US, on every machine. Python has no time zone data: \`ZoneInfo('Europe/Berlin')\` fails with a message that says
  so. Fixed offsets work, as in \`timezone(timedelta(hours=1))\`.
- **Limits.** \`timeoutMs\` limits the code's own time and \`memoryMb\` its memory (in Python, in addition to its own
  30 MiB). The errors are \`script_timeout\` and \`script_out_of_memory\`. The result has at most 16 MB (1.9 MB on a
  host without a blob store) and 200 levels.
- **Errors.** What the code throws is \`script_error\`, with name, message, stack and, in JavaScript, its \`code\` in
  the details. Code that cannot be parsed is \`script_invalid\`. Neither is retried, since the same code fails again.
- **Console.** \`meta.console\` has the printed lines: at most 200 lines and 32,000 characters.
- **Speed.** JavaScript and TypeScript are light: while nothing else of the run is at work they run within the workflow
  task, for up to 2 seconds, and start again as a regular activity if they take longer. Python starts a process each
  time.`,
  example: {
    stepType: 'run_code',
    config: {
      language: 'javascript',
      code: `export default function ({ lines }) {
  return { cents: lines.reduce((sum, line) => sum + line.cents, 0) };
}`,
      input: { lines: '{{ input.lines }}' },
    },
    nextSteps: { success: 'pay' },
  },
  output:
    'What the function returned; null for nothing. `meta` is `{console: [{level, text}], consoleIsCut?, durationMs}`.',
  schema: () =>
    configSchema({
      language: z.enum(CODE_LANGUAGES).optional().describe('Default: javascript.'),
      code: z.string().min(1).describe('The module. No template.'),
      input: anyValue().optional().describe('The input of the function. Default: {}.'),
      timeoutMs: templated(z.number().int().min(1).max(MAX_TIMEOUT_MS))
        .optional()
        .describe('Limit of its running time in milliseconds (10,000; at most 600,000).'),
      memoryMb: templated(z.number().int().min(1).max(MAX_MEMORY_MB))
        .optional()
        .describe('Limit of its memory in MiB (64; at most 512, and 16 are always there).'),
    }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  plan(config, parse) {
    const { language = 'javascript', code } = config;
    if (!CODE_LANGUAGES.some((one) => one === language))
      throw new ConfigError('/language', `Expected one of ${CODE_LANGUAGES.join(', ')}.`);
    if (typeof code !== 'string' || code.trim() === '')
      throw new ConfigError('/code', 'Expected a module such as: export default function (input) { … }');
    const input = parse.template(config['input'] ?? {}, '/input');
    const timeout = parse.template(config['timeoutMs'], '/timeoutMs');
    const memory = parse.template(config['memoryMb'], '/memoryMb');
    return oneActivity((visit) => {
      const renderedTimeout = visit.render(timeout);
      const timeoutMs = isAbsent(renderedTimeout)
        ? DEFAULT_TIMEOUT_MS
        : wholeNumber(renderedTimeout, 'timeoutMs', 1, MAX_TIMEOUT_MS);
      const wanted = visit.render(memory);
      const memoryMb = isAbsent(wanted) ? DEFAULT_MEMORY_MB : wholeNumber(wanted, 'memoryMb', 1, MAX_MEMORY_MB);
      return {
        activity: 'runCode',
        config: { value: { language, code, input: visit.render(input), timeoutMs, memoryMb }, secrets: [] },
        timeoutMs: timeoutMs + MARGIN_MS,
        heartbeatMs: HEARTBEAT_MS,
        ...(language === 'python' ? {} : { light: true, repeatable: true }),
      };
    });
  },
};
