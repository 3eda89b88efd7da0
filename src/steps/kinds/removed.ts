import { z } from 'zod';
import type { NoState, StepKind } from '../kind.ts';

export const removed: StepKind<NoState> = {
  type: 'removed',
  class: 'pure',
  summary: 'Takes the place of a removed step.',
  description: `Does nothing and goes on. It keeps a step's slug in place, so that edges to it and forks of older runs
still find it.`,
  example: { stepType: 'removed', config: { replaces: 'http' }, nextSteps: { success: 'next' } },
  output: 'null. `meta` is `{removed: true, replaces}`.',
  schema: () => z.strictObject({ replaces: z.string().optional().describe('The kind of the step that stood here.') }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  plan(config) {
    const meta = { removed: true, replaces: config['replaces'] ?? null };
    return { begin: () => ({ do: 'end', port: 'success', data: null, meta }) };
  },
};
