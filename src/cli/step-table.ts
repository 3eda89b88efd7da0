/**
 * The visits of a run as a table for people: of many visits of one step, in loops and iterations, those that failed or go
 * on are shown each, up to a few, and the others as one line with how many there are.
 */
import type { Step } from '../client/runs/trace.ts';
import { cut, durationText } from './text-layout.ts';

/** Visits of one step that are still shown each. */
const FEW = 20;
/** Of more: so many of each status that somebody may have to look at. */
const SHOWN_EACH = 5;
const RANGES = 4;
const PATH_WIDTH = 70;
const ABOUT_WIDTH = 100;
/** Statuses that are looked at first. */
const NOTABLE: readonly Step['status'][] = ['failed', 'running', 'waiting', 'cancelled'];

export const STEP_HEAD = ['PATH', 'KIND', 'STATUS', 'PORT', 'TRIES', 'TOOK', 'ABOUT'];

/** Rows under STEP_HEAD. With `all`, one of each visit. */
export function stepRows(steps: readonly Step[], all: boolean): string[][] {
  if (all) return steps.map(stepCells);
  const groups = new Map<string, Step[]>();
  for (const step of steps) {
    const pattern = patternOf(step.path);
    const group = groups.get(pattern);
    if (group === undefined) groups.set(pattern, [step]);
    else group.push(step);
  }
  const told = new Set<string>();
  return steps.flatMap((step) => {
    const pattern = patternOf(step.path);
    const group = groups.get(pattern) ?? [];
    if (group.length <= FEW) return [stepCells(step)];
    if (told.has(pattern)) return [];
    told.add(pattern);
    return collapsed(group);
  });
}

function collapsed(group: readonly Step[]): string[][] {
  const statuses = [...new Set([...NOTABLE, ...group.map(({ status }) => status)])];
  return statuses.flatMap((status) => {
    const visits = group.filter((step) => step.status === status);
    const shown = NOTABLE.includes(status) ? visits.slice(0, SHOWN_EACH) : [];
    const rest = visits.slice(shown.length);
    return [...shown.map(stepCells), ...(rest.length === 0 ? [] : [restCells(rest, shown.length, group.length)])];
  });
}

/** `each[3-99,101…]/call  http  completed  …  97 of 10000` */
function restCells(rest: readonly Step[], before: number, among: number): string[] {
  const [first] = rest;
  const ports = [...new Set(rest.map(({ port = '' }) => port))];
  const count = before === 0 ? `${rest.length} of ${among}` : `${rest.length} more of ${among}`;
  const about = [count, ...errorCounts(rest)].join(': ');
  const { stepType = '', status = '' } = first ?? {};
  return [
    cut(rangedPath(rest), PATH_WIDTH),
    stepType,
    status,
    ports.length === 1 ? (ports[0] ?? '') : '',
    '',
    '',
    about,
  ];
}

/** `http_status 390, timeout 5`, the most frequent first. */
function errorCounts(steps: readonly Step[]): string[] {
  const counts = new Map<string, number>();
  for (const { error } of steps) if (error !== undefined) counts.set(error.code, (counts.get(error.code) ?? 0) + 1);
  if (counts.size === 0) return [];
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return [cut(sorted.map(([code, n]) => `${code} ${n}`).join(', '), ABOUT_WIDTH)];
}

const NUMBER = /\[(\d+)\]|~(\d+)/;

/** The path with every number of an iteration, a tick or a visit left open. */
function patternOf(path: string): string {
  return path
    .replaceAll(/\[\d+\]/g, '[*]')
    .replaceAll(/~\d+/g, '~*')
    .replaceAll(/#\d+/g, '');
}

/** The common path, with the ranges of the first number that differs; the numbers after it are left open. */
function rangedPath(steps: readonly Step[]): string {
  const paths = steps.map(({ path }) => path);
  const [first = ''] = paths;
  const pattern = patternOf(first);
  const numbers = paths.map((path) =>
    Number(
      NUMBER.exec(path)
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
  const text = found.slice(0, RANGES).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  return `${text.join(',')}${found.length > RANGES ? '…' : ''}`;
}

/** One line of a table of steps; what failed says why. */
function stepCells(step: Step): string[] {
  const { path, stepType, status, port, attempts, startedAt, completedAt, error } = step;
  return [
    cut(path, PATH_WIDTH),
    stepType,
    status,
    port ?? '',
    attempts > 1 ? String(attempts) : '',
    completedAt === undefined ? '' : durationText(startedAt, completedAt),
    error === undefined ? retryingText(step) : `${error.code}: ${cut(error.message, ABOUT_WIDTH)}`,
  ];
}

/** `next attempt 2026-01-16T10:30:00.000Z after http_status: The server answered 500.`, or that it is paused. */
function retryingText({ lastError, nextAttemptAt, activityPaused }: Step): string {
  const when = nextAttemptAt === undefined ? 'attempt under way' : `next attempt ${nextAttemptAt}`;
  const standing = activityPaused === true ? 'paused' : lastError === undefined ? '' : when;
  if (lastError === undefined) return standing;
  return `${standing}, after ${lastError.code}: ${cut(lastError.message, ABOUT_WIDTH)}`;
}
