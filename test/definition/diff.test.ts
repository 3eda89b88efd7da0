import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { definitionDifferences, definitionDiffText } from '../../src/definition/document/diff.ts';
import { textDiff } from '../../src/definition/document/text-diff.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { countCalls } from '../support/work-counters.ts';

const NAMES = { before: 'a', after: 'b' };

const pay = (config: object, more: object = {}): Definition =>
  ({ name: 'Pay', slug: 'pay', steps: { pay: { stepType: 'http', config } }, ...more }) as unknown as Definition;

/** Applies a unified diff, as `patch` would. */
function patched(before: string, diff: string): string {
  const lines = before.split('\n');
  const result: string[] = [];
  let at = 0;
  for (const line of diff.split('\n').slice(2)) {
    const hunk = /^@@ -(\d+),\d+ \+(\d+),\d+ @@$/.exec(line);
    if (hunk) {
      while (at < Number(hunk[1]) - 1) result.push(lines[at++]!);
      expect(result.length).toBe(Number(hunk[2]) - 1);
    } else if (line.startsWith('+')) result.push(line.slice(1));
    else {
      expect(lines[at]).toBe(line.slice(1));
      if (line.startsWith(' ')) result.push(lines[at]!);
      at++;
    }
  }
  return [...result, ...lines.slice(at)].join('\n');
}

describe('the differences of two versions', () => {
  it('name each place once, with what stood and stands there', () => {
    const before = pay({ url: 'https://a.example', expect: [200, 201], method: 'POST' }, { tags: ['x', 'y', 'z'] });
    const after = pay(
      { url: 'https://b.example', expect: [200, 201], body: {} },
      { tags: ['x', 'z'], version: '9.0.0' },
    );
    expect(definitionDifferences(before, after)).toEqual([
      { op: 'added', pointer: '/steps/pay/config/body', after: {} },
      { op: 'removed', pointer: '/steps/pay/config/method', before: 'POST' },
      { op: 'changed', pointer: '/steps/pay/config/url', before: 'https://a.example', after: 'https://b.example' },
      { op: 'removed', pointer: '/tags/1', before: 'y' },
    ]);
  });

  it('are none where only the order of keys, the number or `enabled` differs', () => {
    const before = pay({ url: 'https://a.example', method: 'GET' });
    const after = pay({ method: 'GET', url: 'https://a.example' }, { version: '2.0.0', enabled: false });
    expect(definitionDifferences(before, after)).toEqual([]);
    expect(definitionDiffText(before, after, NAMES)).toBe('');
  });

  it('can be read as text', () => {
    expect(definitionDiffText(pay({ url: 'https://a.example' }), pay({ url: 'https://b.example' }), NAMES)).toBe(
      [
        '--- a',
        '+++ b',
        '@@ -4,7 +4,7 @@',
        '   "steps": {',
        '     "pay": {',
        '       "config": {',
        '-        "url": "https://a.example"',
        '+        "url": "https://b.example"',
        '       },',
        '       "stepType": "http"',
        '     }',
      ].join('\n'),
    );
  });
});

describe('a unified diff', () => {
  it('leads from one text to the other', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c\r', '-d', ''), { maxLength: 40 })
      .map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(patched(before, textDiff(before, after, NAMES))).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  it('of texts that differ in very many lines replaces what is between their first and last lines', () => {
    const lines = (mark: string) => Array.from({ length: 300 }, (_, n) => `${mark}${n}`);
    const text = (mark: string) => [...'abcde', ...lines(mark), ...'fghij'].join('\n');
    const diff = textDiff(text('x'), text('y'), NAMES);
    const shown = [...' c d e'.match(/ ./g)!, ...lines('-x'), ...lines('+y'), ...' f g h'.match(/ ./g)!];
    expect(diff.split('\n')).toEqual(['--- a', '+++ b', '@@ -3,306 +3,306 @@', ...shown]);
    expect(patched(text('x'), diff)).toBe(text('y'));
    const longer = textDiff('a', text('x') + text('y'), NAMES);
    expect(patched('a', longer)).toBe(text('x') + text('y'));
  });

  it('takes no more than it may for texts that share nothing', async () => {
    const lines = (mark: string) => Array.from({ length: 20_000 }, (_, n) => `${mark}${n}`).join('\n');
    const [before, after] = [lines('a'), lines('b')];
    // The search for the fewest lines would take hundreds of millions.
    expect(await countCalls(() => textDiff(before, after, NAMES))).toBeLessThan(1_000_000);
  });

  it('of very many lines says how many it leaves out', () => {
    const lines = (mark: string) => Array.from({ length: 200_000 }, () => mark).join('\n');
    expect(textDiff(lines('a'), lines('b'), NAMES).split('\n').at(-1)).toBe('… and 390001 lines more');
  });
});
