import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import { DIALECTS, detectDialect, toCanonical } from '../../src/compat/dialects.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { CASES } from './dialects/load.ts';

describe('which dialect a document is in', () => {
  it.each<[string, Json]>([
    ['000', { workflowConfig: { name: 'x' }, stepsConfig: [] }],
    ['000', { name: 'x', config: {}, steps: [{ stepSlug: 'a', name: 'A', stepType: 'start' }] }],
    ['000', { steps: [{ name: 'A' }, { stepSlug: 'b', type: 'x' }] }],
    ['000', { steps: JSON.stringify([{ stepSlug: 'a' }]), workflowConfig: {} }],
    ['001', { steps: [{ name: 'a', action: { toolName: 'X' } }] }],
    ['002', { steps: [{ id: 'a', type: 'tool', tool: 'x' }] }],
    ['002', { steps: [] }],
    ['004', { flow: { a: { type: 'starting_step' } }, starting_step_id: 'a' }],
    ['canonical', { flow: 'dag', steps: { a: { stepType: 'tool' } } }],
    ['canonical', { steps: {} }],
    ['canonical', null],
    ['canonical', []],
  ])('%s: %j', (dialect, document) => {
    expect(detectDialect(document)).toBe(dialect);
  });

  it('can be named, and a name that is none is a problem', () => {
    expect(toCanonical({ steps: [] }, '001').dialect).toBe('001');
    expect(toCanonical({ steps: {} }, 'cannonical').problems).toMatchObject([
      { code: 'unknown_dialect', hint: 'Did you mean "canonical"?' },
    ]);
  });

  it.each([
    ['tale', '000'],
    ['mesh', '001'],
    ['agent-ops', '002'],
    ['alloy', '004'],
  ])('can be named by its system: %s is %s', (name, number) => {
    // Each of these documents would be taken for another dialect.
    const document = number === '001' ? { steps: [] } : { steps: [{ name: 'a', action: { return: true } }] };
    const [byName, byNumber] = [check(document, { dialect: name }), check(document, { dialect: number })];
    expect(byName).toEqual(byNumber);
    expect(byName.dialect).toBe(number);
  });

  it('has one spelling in a definition, whose hash it is part of', () => {
    const document = { name: 'x', steps: { a: { stepType: 'finish' } } };
    expect(toCanonical({ ...document, dialect: 'tale' }).problems).toEqual([
      {
        pointer: '/dialect',
        code: 'invalid_value',
        message: 'Expected 000, 001, 002 or 004, got "tale".',
        hint: 'Write its number: "000".',
      },
    ]);
    expect(toCanonical({ ...document, dialect: 'talle' }).problems).toMatchObject([
      { hint: 'Known here: 000, 001, 002, 004.' },
    ]);
  });

  it('is refused by a name that none has, also that of rivet, which is code', () => {
    const [problem] = toCanonical({ steps: [] }, 'rivet').problems;
    expect(problem).toMatchObject({
      code: 'unknown_dialect',
      message: `Unknown dialect "rivet": expected ${DIALECTS.join(', ')}.`,
    });
  });
});

describe('the canonical dialect', () => {
  const steps = { a: { stepType: 'trigger' } };

  it('gets its slug from its name, and its start written out', () => {
    expect(toCanonical({ name: 'Größe & Maß', steps }).definition).toEqual({
      name: 'Größe & Maß',
      slug: 'gro-e-ma',
      start: 'a',
      steps,
    });
    expect(toCanonical({ slug: 'x', steps }).definition?.name).toBe('x');
  });

  it('does not read outermost members x-…, which leave no trace in the form and its hash', () => {
    const document = { name: 'Noted', steps };
    const noted = check({ ...document, 'x-anchors': { a: 1 }, 'x-': null });
    expect(noted).toMatchObject({ valid: true, warnings: [] });
    expect(noted).toEqual(check(document));
    expect(check({ ...document, steps: { a: { stepType: 'trigger', 'x-note': 1 } } }).valid).toBe(false);
    expect(check({ ...document, x: 1 }).valid).toBe(false);
  });

  it('does not read them in other dialects either', () => {
    const document = { name: 'n', steps: [{ name: 'a', action: { toolName: 'X' } }] };
    expect(toCanonical({ ...document, 'x-anchors': 1 })).toEqual({
      ...toCanonical(document),
      origin: expect.any(Function),
    });
  });

  it('needs a name, but for a run of its own', () => {
    expect(toCanonical({ steps }).problems.map(({ pointer }) => pointer)).toEqual(['/name']);
    expect(toCanonical({ steps }, undefined, { inline: true }).problems).toEqual([]);
  });

  it('is refused where it is no definition', () => {
    for (const document of [null, 1, 'x', []])
      expect(toCanonical(document).problems).toMatchObject([{ pointer: '', code: 'wrong_type' }]);
  });

  it('is refused with more than 10,000 steps', () => {
    const many = (count: number): JsonObject => ({
      name: 'x',
      steps: Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, { stepType: 'set' }])),
    });
    expect(toCanonical(many(10_000)).problems).toEqual([]);
    expect(toCanonical(many(10_001)).problems).toMatchObject([{ code: 'too_many_steps', pointer: '/steps' }]);
  });
});

for (const [dialect, cases] of Object.entries(CASES)) {
  describe(`document ${dialect}`, () => {
    it.each(cases)('$name', (one) => {
      const converted = toCanonical(one.document, one.dialect);
      expect(converted.dialect).toBe(dialect);
      const said = converted.problems.map(({ pointer, message }) => `${pointer} ${message}`);
      expect(said).toEqual(one.problems.map((begin) => expect.stringMatching(new RegExp(`^${escaped(begin)}`))));
      expect(converted.warnings.map(({ pointer }) => pointer)).toEqual(one.warnings);
      if (one.definition !== undefined) expect(converted.definition).toMatchObject(one.definition);
    });
  });
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
