// A field of run lists is in several files, which ARCHITECTURE.md ("How to add") names. None may be forgotten.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { execution } from '../../src/gateway/answers/executions.ts';

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

const WRITERS = ['workflows/run/visibility.ts', 'src/client/starts/start-prepared-run.ts'];
const READERS = ['runs/run-view', 'runs/inbox-limit', 'starts/active-runs'].map((file) => `src/client/${file}.ts`);

/** The members of an interface that the file declares. */
function membersOf(file: string, name: string): string[] {
  const [, body = ''] = new RegExp(`^export interface ${name} \\{$(.*?)^\\}$`, 'ms').exec(read(file)) ?? [];
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, member = '']) => member);
}

describe('a field of run lists', () => {
  it.each(membersOf('src/contract/run/run.ts', 'RunMemo'))('that the memo has is written and read: %s', (member) => {
    const naming = (files: readonly string[]): string[] =>
      files.filter((file) => new RegExp(`\\b${member}\\b`).test(read(file)));
    expect(naming(WRITERS), `written by one of ${WRITERS.join(', ')}`).not.toEqual([]);
    expect(naming(READERS), `read by one of ${READERS.join(', ')}`).not.toEqual([]);
  });

  it('is declared in the answer', () => {
    const shown = membersOf('src/client/runs/run-view.ts', 'ExecutionView');
    expect(Object.keys(execution.shape).toSorted()).toEqual(shown.toSorted());
  });
});
