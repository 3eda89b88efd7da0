/**
 * The visits of a run as a table. If a step has many visits, in loops and iterations, the table shows a few that failed
 * or are open, and summarizes the others in one line per status.
 */
import type { Step } from './gateway-answers.ts';
import { durationText, truncateText } from './text-layout.ts';

/** Up to this number, each visit of a step has a row. */
const MAX_ROWS_PER_STEP = 20;
/** Above it, the number of rows per notable status. */
const ROWS_PER_NOTABLE_STATUS = 5;
const MAX_RANGES = 4;
const PATH_WIDTH = 70;
const ABOUT_WIDTH = 100;
/** Statuses that readers look for first. */
const NOTABLE_STATUSES: readonly Step['status'][] = ['failed', 'running', 'waiting', 'cancelled'];

export const STEP_HEAD = ['PATH', 'KIND', 'STATUS', 'PORT', 'TRIES', 'TOOK', 'ABOUT'];

/** The rows below STEP_HEAD. With `all`, each visit has a row. */
export function stepRows(steps: readonly Step[], all: boolean): string[][] {
  if (all) return steps.map(stepCells);
  const groups = new Map<string, Step[]>();
  for (const step of steps) {
    const pattern = patternOf(step.path);
    const group = groups.get(pattern);
    if (group === undefined) groups.set(pattern, [step]);
    else group.push(step);
  }
  const summarized = new Set<string>();
  return steps.flatMap((step) => {
    const pattern = patternOf(step.path);
    const group = groups.get(pattern) ?? [];
    if (group.length <= MAX_ROWS_PER_STEP) return [stepCells(step)];
    if (summarized.has(pattern)) return [];
    summarized.add(pattern);
    return summarizeGroup(group);
  });
}

function summarizeGroup(group: readonly Step[]): string[][] {
  const statuses = [...new Set([...NOTABLE_STATUSES, ...group.map(({ status }) => status)])];
  return statuses.flatMap((status) => {
    const visits = group.filter((step) => step.status === status);
    const shown = NOTABLE_STATUSES.includes(status) ? visits.slice(0, ROWS_PER_NOTABLE_STATUS) : [];
    const rest = visits.slice(shown.length);
    return [...shown.map(stepCells), ...(rest.length === 0 ? [] : [summaryCells(rest, shown.length, group.length)])];
  });
}

/** `each[3-99,101…]/call  http  completed  …  97 of 10000` */
function summaryCells(rest: readonly Step[], before: number, among: number): string[] {
  const [first] = rest;
  const ports = [...new Set(rest.map(({ port = '' }) => port))];
  const count = before === 0 ? `${rest.length} of ${among}` : `${rest.length} more of ${among}`;
  const about = [count, ...errorCounts(rest)].join(': ');
  const { stepType = '', status = '' } = first ?? {};
  return [
    truncateText(rangedPath(rest), PATH_WIDTH),
    stepType,
    status,
    ports.length === 1 ? (ports[0] ?? '') : '',
    '',
    '',
    about,
  ];
}

/** Error codes with their counts, the most frequent first: `http_status 390, timeout 5`. */
function errorCounts(steps: readonly Step[]): string[] {
  const counts = new Map<string, number>();
  for (const { error } of steps) if (error !== undefined) counts.set(error.code, (counts.get(error.code) ?? 0) + 1);
  if (counts.size === 0) return [];
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return [truncateText(sorted.map(([code, n]) => `${code} ${n}`).join(', '), ABOUT_WIDTH)];
}

const PATH_NUMBER = /\[(\d+)\]|~(\d+)/;

/** The path with placeholders for the numbers of iterations, ticks and visits. */
function patternOf(path: string): string {
  return path
    .replaceAll(/\[\d+\]/g, '[*]')
    .replaceAll(/~\d+/g, '~*')
    .replaceAll(/#\d+/g, '');
}

/** The common path with the ranges of its first number and placeholders for the others. */
function rangedPath(steps: readonly Step[]): string {
  const paths = steps.map(({ path }) => path);
  const [first = ''] = paths;
  const pattern = patternOf(first);
  const numbers = paths.map((path) =>
    Number(
      PATH_NUMBER.exec(path)
        ?.slice(1)
        .find((part) => part !== undefined),
    ),
  );
  if (numbers.some(Number.isNaN)) return `${pattern}#*`;
  return pattern.replace('*', ranges([...new Set(numbers)].sort((a, b) => a - b)));
}

/** `0-16,18-41,43` */
function ranges(sorted: readonly number[]): string {
  const found: [number, number][] = [];
  for (const number of sorted) {
    const last = found.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  const text = found.slice(0, MAX_RANGES).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  return `${text.join(',')}${found.length > MAX_RANGES ? '…' : ''}`;
}

/** One row; a failed visit shows its error. */
function stepCells(step: Step): string[] {
  const { path, stepType, status, port, attempts, startedAt, completedAt } = step;
  return [
    truncateText(path, PATH_WIDTH),
    stepType,
    status,
    port ?? '',
    attempts > 1 ? String(attempts) : '',
    completedAt === undefined ? '' : durationText(startedAt, completedAt),
    aboutText(step),
  ];
}

/** The error, or how its attempts go, and who ended it by hand. */
function aboutText(step: Step): string {
  const { error, endedBy } = step;
  const what = error === undefined ? retryingText(step) : `${error.code}: ${truncateText(error.message, ABOUT_WIDTH)}`;
  return [...(endedBy === undefined ? [] : [`by hand, ${endedBy}`]), ...(what === '' ? [] : [what])].join('; ');
}

/**
 * `next attempt 2026-01-16T10:30:00.000Z, after http_status: The server answered 500.`, or `paused`. Of a step that has
 * ended, `after http_status: …`.
 */
function retryingText({ lastError, nextAttemptAt, activityPaused, completedAt }: Step): string {
  const when = nextAttemptAt === undefined ? 'attempt running' : `next attempt ${nextAttemptAt}`;
  const isOpen = completedAt === undefined && lastError !== undefined;
  const current = activityPaused === true ? ['paused'] : isOpen ? [when] : [];
  const why =
    lastError === undefined ? [] : [`after ${lastError.code}: ${truncateText(lastError.message, ABOUT_WIDTH)}`];
  return [...current, ...why].join(', ');
}
