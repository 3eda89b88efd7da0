import { z } from 'zod';
import { optionalText } from '../config/read.ts';
import { configSchema, textTemplate } from '../config/schema.ts';
import { ConfigError, type NoState, type StepKind } from '../kind.ts';

const DEFAULT_CODE = 'failed';

export const fail: StepKind<NoState> = {
  type: 'fail',
  class: 'end',
  summary: 'Fails the branch or the run with an error of its own.',
  description: `The error propagates like that of any failing step: it fails the iteration or branch, whose container
decides, and at the root it fails the run. With \`rollback: true\` it passes every container and fails the run, which
rolls back first. \`critical\` says that retrying is useless: \`error.retryable\` is then false. It is false with
\`rollback\` too.`,
  example: {
    stepType: 'fail',
    config: { code: 'out_of_stock', message: 'Nothing left of {{ input.sku }}', rollback: true },
  },
  output: 'None: nothing comes after it.',
  schema: () =>
    configSchema({
      code: textTemplate().optional().describe("A short name for programs. Default: 'failed'."),
      message: textTemplate().optional().describe('A sentence for people.'),
      critical: z.boolean().optional().describe('Trying again is no use.'),
      rollback: z.boolean().optional().describe('Fail the whole run, and roll back.'),
    }),
  ports: () => ({ normal: null, names: [] }),
  plan(config, parse) {
    const { critical = false, rollback = false } = config;
    for (const [member, value] of [
      ['critical', critical],
      ['rollback', rollback],
    ] as const) {
      if (typeof value !== 'boolean') throw new ConfigError(`/${member}`, 'Expected true or false.');
    }
    const code = parse.template(config['code'], '/code');
    const message = parse.template(config['message'], '/message');
    return {
      begin(visit) {
        const named = optionalText(visit.render(code), 'code') ?? DEFAULT_CODE;
        return {
          do: 'fail',
          error: {
            code: named,
            message:
              optionalText(visit.render(message), 'message') ?? `The step '${visit.slug}' failed the run (${named}).`,
            // A run that has rolled back cannot be retried, since its effects are undone.
            retryable: critical !== true && rollback !== true,
          },
          rollback: rollback === true,
        };
      },
    };
  },
};
