import type { Finding } from '../client/doctor/finding.ts';

const MARKS: Record<Finding['level'], string> = { ok: 'ok', note: 'note', warning: 'warning', blocks: 'BLOCKS' };
const WIDTH = Math.max(...Object.values(MARKS).map((mark) => mark.length));

/** A finding as text, with the lines to set below it. */
export function linesOf({ level, check, text, lines = [] }: Finding): string[] {
  const indent = ' '.repeat(WIDTH + 2);
  return [`${MARKS[level].padEnd(WIDTH)}  ${check}: ${text}`, ...lines.map((line) => `${indent}  ${line}`)];
}
