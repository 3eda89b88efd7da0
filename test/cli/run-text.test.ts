import { describe, expect, it } from 'vitest';
import { summaryLines } from '../../src/cli/run-text.ts';
import type { WaitingFor } from '../../src/contract/run/run.ts';

const asks = (path: string, more: Partial<WaitingFor> = {}): WaitingFor => ({
  path,
  stepSlug: 'review',
  kind: 'approval',
  since: '2026-01-15T10:30:00.000Z',
  ...more,
});
const hints = (waitingFor: readonly WaitingFor[]) =>
  summaryLines('run.1', { status: 'waiting', waitingFor }).filter((line) => line.startsWith('decide:'));

describe('what to do about an execution', () => {
  it('is a complete command, with the required comment, and with the step if several are open', () => {
    const command = 'decide:   npx signalbox resume run.1 --decision approve|deny';
    expect(hints([asks('review')])).toEqual([command]);
    expect(hints([asks('review', { commentRequired: true })])).toEqual([`${command} --comments 'why'`]);
    expect(hints([asks('each~0/review'), asks('each~1/review')])).toEqual([
      `${command} --step 'each~0/review'`,
      `${command} --step 'each~1/review'`,
    ]);
  });

  it('is a signal where it is paused', () => {
    expect(summaryLines('run.1', { status: 'waiting', paused: true, pausedSince: '2026-01-15T10:30:00.000Z' })).toEqual(
      [
        'paused since 2026-01-15T10:30:00.000Z: no new step starts',
        "resume:   npm run -s temporal -- workflow signal --workflow-id 'run.1' --name resume",
      ],
    );
  });
});
