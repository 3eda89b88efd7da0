import { describe, expect, it } from 'vitest';
import { rollbackLines } from '../../src/cli/run-text.ts';
import { stepRows } from '../../src/cli/step-table.ts';
import type { Step } from '../../src/client/runs/trace.ts';

const at = '2026-01-15T10:30:00.000Z';
const visit = (path: string, more: Partial<Step> = {}): Step => ({
  path,
  stepSlug: path.replace(/^.*\//, '').replace(/#.*$/, ''),
  stepType: 'http',
  status: 'completed',
  port: 'success',
  attempts: 1,
  startedAt: at,
  completedAt: at,
  ...more,
});
const failed = (path: string, code = 'http_status'): Step => {
  const { port: _port, ...step } = visit(path, { status: 'failed', error: { code, message: 'No.', retryable: false } });
  return step;
};

describe('the steps of an execution', () => {
  it('are one line each while there are few', () => {
    const steps = Array.from({ length: 20 }, (_, n) => visit(`each[${n}]/call`));
    expect(stepRows(steps, false)).toEqual(stepRows(steps, true));
    expect(stepRows(steps, true).map(([path]) => path)).toEqual(steps.map(({ path }) => path));
  });

  it('summarizes ten thousand visits: failures first with counts and codes, then the rest with ranges', () => {
    const steps = [
      visit('each', { stepType: 'forEach' }),
      ...Array.from({ length: 10_000 }, (_, n) =>
        n % 25 === 3 ? failed(`each[${n}]/call`, n < 100 ? 'timeout' : 'http_status') : visit(`each[${n}]/call`),
      ),
      visit('report', { stepType: 'mapping' }),
    ];
    const rows = stepRows(steps, false);
    expect(rows.map(([path, , status, , , , about]) => [path, status, about])).toEqual([
      ['each', 'completed', ''],
      ['each[3]/call', 'failed', 'timeout: No.'],
      ['each[28]/call', 'failed', 'timeout: No.'],
      ['each[53]/call', 'failed', 'timeout: No.'],
      ['each[78]/call', 'failed', 'timeout: No.'],
      ['each[103]/call', 'failed', 'http_status: No.'],
      ['each[128,153,178,203…]/call', 'failed', '395 more of 10000: http_status 395'],
      ['each[0-2,4-27,29-52,54-77…]/call', 'completed', '9600 of 10000'],
      ['report', 'completed', ''],
    ]);
    expect(stepRows(steps, true)).toHaveLength(10_002);
  });

  it('are gathered by step: in loops, in loops of loops, and where a cycle leads to one again', () => {
    const ticks = Array.from({ length: 30 }, (_, n) => [visit(`l~${n}/a`), visit(`l~${n}/b[0]/c`)]).flat();
    const again = ['poll', ...Array.from({ length: 29 }, (_, n) => `poll#${n + 2}`)].map((path) => visit(path));
    expect(stepRows([...ticks, ...again], false).map(([path, , , , , , about]) => [path, about])).toEqual([
      ['l~0-29/a', '30 of 30'],
      ['l~0-29/b[*]/c', '30 of 30'],
      ['poll#*', '30 of 30'],
    ]);
  });

  it('that run or wait are shown', () => {
    const steps = Array.from({ length: 30 }, (_, n) => visit(`each[${n}]/ask`, n === 17 ? { status: 'waiting' } : {}));
    expect(stepRows(steps, false).map(([path, , status]) => [path, status])).toEqual([
      ['each[17]/ask', 'waiting'],
      ['each[0-16,18-29]/ask', 'completed'],
    ]);
  });
});

it('what was rolled back is listed in its order, and what could not be', () => {
  const undo = (path: string, more: Partial<Step> = {}) => visit(`${path}/rollback`, { stepType: 'rollback', ...more });
  expect(
    rollbackLines([
      visit('reserve'),
      failed('ship'),
      undo('pay'),
      undo('hold', {
        status: 'failed',
        error: { code: 'http_connect', message: 'Down.', attempts: 3, retryable: true },
      }),
      undo('reserve'),
    ]),
  ).toEqual(['rolled back: pay, reserve', 'not rolled back: hold: http_connect after 3 attempts: Down.']);
  expect(rollbackLines([visit('reserve'), failed('ship')])).toEqual([]);
});
