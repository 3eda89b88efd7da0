import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { partsOf } from '../../src/console/data/parts-changed.ts';
import { sidesOf } from '../../src/console/data/sides.ts';

const lines = (...texts: string[]) => texts.join('\n');

describe('two texts side by side', () => {
  it('put what was removed beside what was added, and leave out what is equal', () => {
    const many = Array.from({ length: 20 }, (_, n) => `line ${n}`);
    const rows = sidesOf(lines(...many, 'old', 'end'), lines(...many, 'new', 'more', 'end'));
    expect(rows[0]).toEqual({ kind: 'gap', count: 17 });
    expect(rows.filter(({ kind }) => kind === 'changed')).toEqual([
      { kind: 'changed', before: { number: 21, text: 'old' }, after: { number: 21, text: 'new' } },
      { kind: 'changed', before: undefined, after: { number: 22, text: 'more' } },
    ]);
    expect(rows.at(-1)).toEqual({
      kind: 'same',
      before: { number: 22, text: 'end' },
      after: { number: 23, text: 'end' },
    });
    expect(sidesOf('a', 'a')).toEqual([]);
  });

  it('show every line that differs, with its number, whatever the texts are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '-c', '+d', '@@ e', ''), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const rows = sidesOf(lines(...before), lines(...after));
        for (const row of rows) {
          if (row.kind === 'gap') continue;
          if (row.before !== undefined) expect(before[row.before.number - 1]).toBe(row.before.text);
          if (row.after !== undefined) expect(after[row.after.number - 1]).toBe(row.after.text);
          if (row.kind === 'same') expect(row.before?.text).toBe(row.after?.text);
        }
      }),
    );
  });
});

describe('the parts that differ', () => {
  it('are steps with their members, and other members of the definition', () => {
    expect(
      partsOf([
        { op: 'added', pointer: '/steps/tell' },
        { op: 'changed', pointer: '/steps/pay/config/url' },
        { op: 'removed', pointer: '/steps/pay/retry' },
        { op: 'removed', pointer: '/steps/a~1b' },
        { op: 'changed', pointer: '/config/timeout' },
        { op: 'added', pointer: '/tags' },
      ]),
    ).toEqual([
      { name: 'tell', isStep: true, kind: 'added', members: [] },
      { name: 'pay', isStep: true, kind: 'changed', members: ['config', 'retry'] },
      { name: 'a/b', isStep: true, kind: 'removed', members: [] },
      { name: 'config', isStep: false, kind: 'changed', members: [] },
      { name: 'tags', isStep: false, kind: 'added', members: [] },
    ]);
  });
});
