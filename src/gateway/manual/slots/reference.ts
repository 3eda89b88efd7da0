/** Tables of signals, queries, problem codes and settings. */
import { CODES } from '../../../check/codes.ts';
import { SETTINGS } from '../../../config/settings.ts';
import { QUERY_TEXTS, SIGNAL_TEXTS } from '../../../engine/inbound/signal-texts.ts';
import { UPDATES } from '../../../engine/inbound/signals.ts';
import { PROBLEM_CODES } from '../../validation/problem-codes.ts';
import { code, table } from '../page.ts';

export function signals(): string {
  const updates: ReadonlySet<string> = new Set(UPDATES);
  const rows = Object.entries(SIGNAL_TEXTS).map(([name, meaning]) => [
    code(name),
    updates.has(name) ? 'signal, update' : 'signal',
    shapeAsCode(meaning),
  ]);
  return table(['Name', 'Sent as', 'Effect and argument'], rows);
}

/** `Approves: {step?, …}` with its shape as code. */
function shapeAsCode(text: string): string {
  const at = text.indexOf('{');
  return at < 0 ? `${text}.` : `${text.slice(0, at)}${code(text.slice(at))}`;
}

export function queries(): string {
  const rows = Object.entries(QUERY_TEXTS).map(([name, meaning]) => [code(name), `${meaning}.`]);
  return table(['Name', 'Answer'], rows);
}

/** The codes of problems in a definition. */
export function definitionProblems(): string {
  const rows = Object.entries(CODES).map(([name, meaning]) => [code(name), meaning]);
  return table(['Code', 'Meaning'], rows);
}

/** The codes of problems with a request. */
export function requestProblems(): string {
  const rows = Object.entries(PROBLEM_CODES).map(([name, { status, title }]) => [code(name), String(status), title]);
  return table(['Code', 'Status', 'Meaning'], rows);
}

export function settings(): string {
  const rows = Object.entries(SETTINGS.shape).map(([name, schema]) => {
    const preset = schema.safeParse(undefined);
    const shown = preset.success ? shownDefault(preset.data) : '';
    return [code(name), shown === '' ? '' : code(shown), schema.description ?? ''];
  });
  return table(['Variable', 'Default', 'Meaning'], rows);
}

/** A list is shown with commas. */
function shownDefault(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : value === undefined ? '' : String(value);
}
