import type { Finding } from '../client/doctor/finding.ts';

const LEVEL_LABELS: Record<Finding['level'], string> = { ok: 'ok', note: 'note', warning: 'warning', blocks: 'BLOCKS' };
const LABEL_WIDTH = Math.max(...Object.values(LEVEL_LABELS).map((mark) => mark.length));

/** A finding as text, with the lines to set below it. */
export function doctorLines({ level, check, text, lines = [] }: Finding): string[] {
  const indent = ' '.repeat(LABEL_WIDTH + 2);
  return [
    `${LEVEL_LABELS[level].padEnd(LABEL_WIDTH)}  ${check}: ${text}`,
    ...lines.map((line) => `${indent}  ${line}`),
  ];
}
