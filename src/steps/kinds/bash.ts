import { z } from 'zod';
import { isAbsent, wholeNumber } from '../config/read.ts';
import { configSchema, templated, textTemplate } from '../config/schema.ts';
import { ConfigError, type NoState, type StepKind } from '../kind.ts';
import { oneActivity, planMembers } from './one-activity.ts';

const DEFAULT_BASH_TIMEOUT_MS = 120_000;
const MAX_BASH_TIMEOUT_MS = 600_000;
/** For starting the sandbox and reading secrets. */
const MARGIN_MS = 15_000;
/** An activity learns that it was cancelled from its heartbeats. */
const HEARTBEAT_MS = 10_000;

export const bash: StepKind<NoState> = {
  type: 'bash',
  class: 'effect',
  summary: 'Runs a shell command, where the host allows it.',
  description: `Runs \`bash -c\` on the worker, in a sandbox (bubblewrap). The sandbox can read the system's programs
and has an empty working folder, which is deleted afterwards. It has no network, sees no other processes, and cannot
read the data folder or the program of Signalbox. The host must allow the kind with \`SIGNALBOX_BASH=1\`; otherwise the
step fails with \`bash_disabled\`. Without bubblewrap it fails with \`bash_unavailable\`, unless the host sets
\`SIGNALBOX_BASH=unsafe\`, which runs commands as the worker's own user.

Bash does not run as a login shell, so it reads no profile of the worker.

- **Data.** A template in \`command\` becomes part of the command, whatever its value is. Pass data through \`env\`,
  and write \`"$NAME"\`.
- **Secrets** are allowed in \`env\` only. They are removed from the output.
- **Folder.** \`cwd\` is a folder of the host inside a folder that \`SIGNALBOX_BASH_FOLDERS\` names. It is writable.
- **Output.** \`stdout\` and \`stderr\` are cut at 64,000 characters each, with a mark where they are cut.
- **Errors.** An exit code other than 0 is \`bash_exit_code:N\`, with the output in its details. A command that takes
  too long is \`bash_timeout:N\` (milliseconds). All of its processes are ended then, and when the step is cancelled.
  Both are retried only if the step has \`retry\`, since only the author knows whether the command may run again. In
  the sandbox, all processes of a command together are limited to 256 (\`bash_processes:N\`) and to 1 GiB of memory
  (\`bash_memory:N\`), not counting files in memory. They are counted a few times per second.
- **Environment.** \`SIGNALBOX_IDEMPOTENCY_KEY\`, \`SIGNALBOX_ATTEMPT\`, \`WORKFLOW_ID\` (the slug),
  \`WORKFLOW_EXECUTION_ID\` and \`IS_WORKFLOW_SESSION\` (\`true\`) are set. \`env\` adds to them and may replace them.`,
  example: {
    stepType: 'bash',
    config: {
      command: 'printf %s "$LINES" | sort | uniq -c',
      env: { LINES: "{{ input.lines|join('\\n') }}" },
      timeoutMs: 10_000,
    },
    nextSteps: { success: 'tell' },
  },
  output: '`{stdout, stderr, exitCode}`.',
  dataMembers: ['stdout', 'stderr', 'exitCode'],
  schema: () =>
    configSchema({
      command: textTemplate().describe('What bash runs.'),
      cwd: textTemplate().optional().describe('The folder to work in, as an absolute path. Default: an empty one.'),
      timeoutMs: templated(z.number().int().min(1).max(MAX_BASH_TIMEOUT_MS))
        .optional()
        .describe('Limit of its running time in milliseconds (120,000; at most 600,000).'),
      env: templated(z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])))
        .optional()
        .describe('Environment variables; null leaves one out.'),
    }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  needs: () => ({ bash: true }),
  plan(config, parse, step) {
    if (typeof config['command'] !== 'string' || config['command'].trim() === '')
      throw new ConfigError('/command', "Expected a command such as 'ls -l'.");
    const members = ['command', 'cwd', 'env'].filter((member) => !isAbsent(config[member]));
    const render = planMembers(config, members, '', (member) =>
      member === 'env' ? parse.secretTemplate : parse.template,
    );
    const timeout = parse.template(config['timeoutMs'], '/timeoutMs');
    const repeatability: { repeatable?: true } = step.retry === undefined ? {} : { repeatable: true };
    return oneActivity((visit) => {
      const renderedTimeout = visit.render(timeout);
      const timeoutMs = isAbsent(renderedTimeout)
        ? DEFAULT_BASH_TIMEOUT_MS
        : wholeNumber(renderedTimeout, 'timeoutMs', 1, MAX_BASH_TIMEOUT_MS);
      const { value, secrets } = render(visit);
      const rendered = { value: { ...(value as object), timeoutMs }, secrets };
      return {
        activity: 'bash',
        config: rendered,
        ...repeatability,
        timeoutMs: timeoutMs + MARGIN_MS,
        heartbeatMs: HEARTBEAT_MS,
      };
    });
  },
};
