/** Colors a unified diff. */
import type { Terminal } from './terminal.ts';

const RESET = '\u001b[0m';
const COLORS: readonly (readonly [start: string, color: string])[] = [
  ['---', '\u001b[1m'],
  ['+++', '\u001b[1m'],
  ['-', '\u001b[31m'],
  ['+', '\u001b[32m'],
  ['@@', '\u001b[36m'],
];

/** Prints a diff; colored where the terminal shows colors. */
export function showDiff({ out, hasColors }: Pick<Terminal, 'out' | 'hasColors'>, diffText: string): void {
  for (const line of diffText.split('\n')) {
    const color = hasColors ? COLORS.find(([start]) => line.startsWith(start))?.[1] : undefined;
    out(color === undefined ? line : `${color}${line}${RESET}`);
  }
}
