import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import {
  lineAt,
  parseText,
  pointerAt,
  pointerOfStep,
  rangeAt,
  rangeOfProblem,
  stepAt,
  stepOfPointer,
} from '../../src/console/editor/text-ranges.ts';
import type { Json } from '../../src/json/json.ts';
import { pointer } from '../../src/json/pointer.ts';

const YAML = `# a comment
name: Refund
tags: [a, "b"]
steps:
  first:   # the first
    stepType: http
    config:
      url: 'https://example.com'
      headers: {accept: json, "x/y": z}
    nextSteps:
      success: last

  last:
    stepType: finish
triggers:
  - type: manual
    name: by hand
  - type: cron
`;
const JSON_TEXT = JSON.stringify({ steps: { first: { stepType: 'http', config: { list: [1, 'two'] } } } }, null, 2);

const shown = (text: string, place: string, what?: 'key' | 'value'): string => {
  const { from, to } = rangeAt(parseText(text), place, what);
  return text.slice(from, to);
};

describe('a JSON pointer in a text', () => {
  it.each([
    ['/name', 'Refund'],
    ['/tags/1', '"b"'],
    ['/steps/first/config/url', "'https://example.com'"],
    ['/steps/first/config/headers/x~1y', 'z'],
    ['/steps/first/nextSteps/success', 'last'],
    // Of objects and lists the name is shown.
    ['/steps/first/config', 'config'],
    ['/tags', 'tags'],
    ['/triggers/1', 'type: cron'],
    // A missing value has the range of its nearest ancestor.
    ['/steps/last/config/output', 'last'],
    ['/steps/none', 'steps'],
    ['/none', 'name: Refund'],
    ['', 'name: Refund'],
  ])('%s of YAML is at its value', (place, expected) => {
    expect(shown(YAML, place)).toBe(expected);
  });

  it('is found in JSON', () => {
    expect(shown(JSON_TEXT, '/steps/first/stepType')).toBe('"http"');
    expect(shown(JSON_TEXT, '/steps/first/config/list/1')).toBe('"two"');
    expect(shown(JSON_TEXT, '/steps/first')).toBe('"first"');
  });

  it('is found behind an alias and in a text with mistakes', () => {
    const text = 'a: &one {b: 1}\nc: *one\nsteps:\n  x:\n    stepType: [http\n';
    expect(shown(text, '/c/b')).toBe('1');
    expect(shown(text, '/steps/x')).toBe('x');
  });

  it('is found where a merge key takes it from', () => {
    const text = 'a: &one {b: 1, c: 2}\nd: &two {e: 3}\nf:\n  <<: [*one, *two]\n  c: 4\ng: &g\n  <<: *g\n';
    expect(['/f/b', '/f/c', '/f/e'].map((place) => shown(text, place))).toEqual(['1', '4', '3']);
    expect(shown(text, '/f/none')).toBe('f');
    expect(shown(text, '/g/none')).toBe('g');
  });

  it('stands at a name where the name is the mistake, and at a line where the problem has one', () => {
    const parsed = parseText(YAML);
    const of = (problem: Parameters<typeof rangeOfProblem>[1]): string => {
      const { from, to } = rangeOfProblem(parsed, problem);
      return YAML.slice(from, to);
    };
    expect(of({ pointer: '/steps/first/stepType', code: 'unknown_member' })).toBe('stepType');
    expect(of({ pointer: '/steps/first/stepType', code: 'unknown_step_type' })).toBe('http');
    expect(of({ pointer: '', code: 'malformed', line: 2, column: 7 })).toBe('Refund');
    expect(of({ pointer: '', code: 'malformed', line: 2, column: 99 })).toBe('d');
    expect(of({ pointer: '', code: 'malformed', line: 999, column: 1 })).toBe('');
  });
});

describe('a place in a text', () => {
  const at = (text: string, part: string): string => pointerAt(parseText(text), text.indexOf(part) + 1);
  it('is in the innermost value', () => {
    expect(at(YAML, 'example.com')).toBe('/steps/first/config/url');
    expect(at(YAML, '"x/y"')).toBe('/steps/first/config/headers/x~1y');
    expect(at(YAML, 'cron')).toBe('/triggers/1/type');
    expect(at(JSON_TEXT, 'two')).toBe('/steps/first/config/list/1');
    expect(pointerAt(parseText(''), 0)).toBe('');
  });

  it('is in a step, also on its empty lines', () => {
    const parsed = parseText(YAML);
    expect(stepAt(parsed, YAML.indexOf('example.com'))).toBe('first');
    expect(stepAt(parsed, YAML.indexOf('\n\n  last') + 1)).toBe('first');
    expect(stepAt(parsed, YAML.indexOf('last:') + 2)).toBe('last');
    expect(stepAt(parsed, 3)).toBeUndefined();
    expect(stepAt(parsed, YAML.indexOf('cron'))).toBeUndefined();
  });

  it('is found for a step, also in lists of steps', () => {
    expect(pointerOfStep(parseText(YAML), 'last')).toBe('/steps/last');
    expect(pointerOfStep(parseText(YAML), 'none')).toBeUndefined();
    const listed = parseText('nodes:\n  - {id: a}\n  - {id: b}\n');
    expect(pointerOfStep(listed, 'b')).toBe('/nodes/1');
    expect(stepOfPointer(listed, '/nodes/1/config')).toBe('b');
    expect(stepOfPointer(listed, '/nodes/7')).toBeUndefined();
  });

  it('has a line', () => {
    expect([lineAt('a\nb\nc', 0), lineAt('a\nb\nc', 1), lineAt('a\nb\nc', 2), lineAt('a\nb\nc', 5)]).toEqual([
      1, 1, 2, 3,
    ]);
  });
});

const name = fc.stringMatching(/^[a-z~/][a-z0-9~/ -]{0,6}[a-z]$/);
const value = fc.letrec<{ any: Json }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.integer(), fc.boolean(), fc.stringMatching(/^[\w:{}# -]{1,12}$/)),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(name, tie('any'), { maxKeys: 4 }),
  ),
})).any;

/** All leaves of a value with their pointers, without empty objects and lists. */
function leavesOf(given: Json, path: readonly (string | number)[] = []): { place: string; leaf: Json }[] {
  if (typeof given !== 'object' || given === null) return [{ place: pointer(path), leaf: given }];
  return Object.entries(given).flatMap(([key, inner]) => leavesOf(inner as Json, [...path, key]));
}

describe('any definition', () => {
  it('has each value where its pointer leads, in YAML and JSON, and the pointer where the value is', () => {
    fc.assert(
      fc.property(fc.dictionary(name, value, { minKeys: 1, maxKeys: 4 }), fc.boolean(), (given, isYaml) => {
        const text = isYaml ? stringify(given) : JSON.stringify(given, null, 2);
        const parsed = parseText(text);
        for (const { place, leaf } of leavesOf(given)) {
          const { from, to } = rangeAt(parsed, place);
          // As an entry of a list: at the start of a line, `---` would begin a document.
          expect(parseText(`- ${text.slice(from, to)}`).document.toJS()).toEqual([leaf]);
          expect(pointerAt(parsed, from)).toBe(place);
        }
      }),
      { numRuns: 150 },
    );
  });
});
