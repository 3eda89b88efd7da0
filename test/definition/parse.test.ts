import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/definition/document/parse.ts';
import type { JsonObject } from '../../src/json/json.ts';

function problem(text: string): { code: string; pointer: string; line?: number; column?: number; message: string } {
  const parsed = parseDocument(text);
  if ('document' in parsed) throw new Error(`was read as ${JSON.stringify(parsed.document).slice(0, 100)}`);
  const [first] = parsed.problems;
  if (first === undefined) throw new Error('no problem');
  return first;
}

describe('reading a document', () => {
  it('takes JSON and YAML', () => {
    expect(parseDocument('{"a": [1, true, null]}')).toEqual({ document: { json: { a: [1, true, null] } } });
    expect(parseDocument('\uFEFFa:\n  - 1\n  - yes\n  - ~\n')).toEqual({ document: { json: { a: [1, 'yes', null] } } });
  });

  it('reads ports called true and false, durations and dates as texts', () => {
    expect(parseDocument('nextSteps: {true: a, false: b}\ntimeout: 2d\nday: 2026-01-01\n')).toEqual({
      document: { json: { nextSteps: { true: 'a', false: 'b' }, timeout: '2d', day: '2026-01-01' } },
    });
  });

  it('writes out what an alias stands for', () => {
    expect(parseDocument('a: &x {b: 1}\nc: *x\n')).toEqual({ document: { json: { a: { b: 1 }, c: { b: 1 } } } });
  });

  it.each([
    ['one object', 'a: &x {b: 1, c: 2}\nd:\n  <<: *x\n', { b: 1, c: 2 }],
    ['own members, before it', 'a: &x {b: 1, c: 2}\nd:\n  c: 3\n  <<: *x\n', { c: 3, b: 1 }],
    ['own members, behind it', 'a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n', { b: 1, c: 3 }],
    ['several, the first one winning', 'a: [&x {b: 1}, &y {b: 2, c: 3}]\nd:\n  <<: [*x, *y]\n', { b: 1, c: 3 }],
    ['a list behind an alias', 'a: &x [{b: 1}, {c: 2}]\nd: {<<: *x}\n', { b: 1, c: 2 }],
    ['an object written there', 'd: {<<: {b: 1}, c: 2}\n', { b: 1, c: 2 }],
    ['merged objects', 'a: &x {b: 1}\ne: &y {<<: *x, c: 2}\nd: {<<: *y}\n', { b: 1, c: 2 }],
    ['objects whole, not member by member', 'a: &x {b: {c: 1}}\nd: {<<: *x, b: {e: 2}}\n', { b: { e: 2 } }],
    ['the latest anchor of a name', 'a: &x {b: 1}\nc: &x {b: 2}\nd: {<<: *x}\n', { b: 2 }],
    ['nothing where the key is quoted', 'd: {"<<": {b: 1}}\n', { '<<': { b: 1 } }],
  ])('merges %s', (_, text, expected) => {
    const parsed = parseDocument(text);
    expect('document' in parsed && (parsed.document.json as JsonObject)['d']).toEqual(expected);
    expect(Object.keys(expected)).toEqual(
      Object.keys('document' in parsed ? ((parsed.document.json as JsonObject)['d'] as JsonObject) : {}),
    );
  });

  it('leaves a merged object as it is where another one overrides its members', () => {
    expect(parseDocument('a: &x {b: 1}\nc: {<<: *x, b: 2}\nd: *x\n')).toEqual({
      document: { json: { a: { b: 1 }, c: { b: 2 }, d: { b: 1 } } },
    });
  });

  it('refuses the names of prototypes that a merge brings in', () => {
    expect(problem('a: &x {__proto__: {polluted: true}}\nb: {<<: *x}\n').code).toBe('forbidden_key');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('takes thousands of uses of one anchor', () => {
    const uses = Array.from({ length: 5_000 }, (_, index) => `s${index}: {<<: *x, n: ${index}}`);
    const parsed = parseDocument(`x: &x {a: 1, b: 2}\n${uses.join('\n')}\n`);
    expect('document' in parsed && (parsed.document.json as JsonObject)['s4999']).toEqual({ a: 1, b: 2, n: 4999 });
  });

  it('refuses merges that stand for too much, at the one that is too many', () => {
    const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
    const doubling = names.map((name, index) =>
      index === 0
        ? `${name}: &${name} {a: 1}`
        : `${name}: &${name} {<<: {l${index}: *${names[index - 1]}}, r: *${names[index - 1]}}`,
    );
    expect(problem(doubling.join('\n'))).toMatchObject({ code: 'too_many_aliases', line: 14 });
    const wide = Array.from({ length: 2_000 }, (_, index) => `k${index}: 1`).join(', ');
    const merges = Array.from({ length: 2_000 }, (_, index) => `m${index}: {<<: *x}`).join('\n');
    expect(problem(`x: &x {${wide}}\n${merges}\n`).code).toBe('too_many_aliases');
  });

  it.each([
    ['{"a":1,\n "b" 2}', 'malformed', 2],
    ['a: [1\nb: 2\n', 'malformed', 2],
    ['{"a":{"b":1,"b":2}}', 'duplicate_key', 1],
    ['a:\n  b: 1\n  b: 2\n', 'duplicate_key', 3],
    ['a: !js/function 1\n', 'unknown_tag', 1],
    ['a: !!binary aGk=\n', 'unknown_tag', 1],
    ['a: &x [1]\nc:\n  <<: *x\n', 'malformed', 3],
    ['a: {b: 1}\nc:\n  <<: [*x]\n', 'malformed', 3],
    ['c:\n  <<: &x {b: *x}\n', 'too_deep', 2],
    ['? [a, b]\n: 1\n', 'malformed', 1],
  ])('says where %j is wrong', (text, code, line) => {
    expect(problem(text)).toMatchObject({ code, line });
  });

  it('names the place of a key that stands twice', () => {
    expect(problem('{"steps":[{"x":1},{"a":{"b":1,"b":2}}]}').pointer).toBe('/steps/1/a/b');
  });

  it('refuses several documents and none', () => {
    expect(problem('a: 1\n---\nb: 2\n').code).toBe('several_documents');
    expect(problem(' \n').code).toBe('empty_document');
    expect(problem('# nothing\n').code).toBe('empty_document');
  });

  it.each(['__proto__', 'constructor', 'prototype'])('refuses the key %s', (key) => {
    expect(problem(`{"a":{"${key}":{"polluted":true}}}`)).toMatchObject({
      code: 'forbidden_key',
      pointer: `/a/${key}`,
    });
    expect(problem(`a:\n  ${key}:\n    polluted: true\n`)).toMatchObject({ code: 'forbidden_key' });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('refuses NUL and half of a surrogate pair in names, and not in texts', () => {
    expect(problem('{"a\\u0000": 1}').code).toBe('invalid_name');
    expect(problem('{"a\\ud800": 1}').code).toBe('invalid_name');
    expect(problem('{"\\udc00\\ud800": 1}').code).toBe('invalid_name');
    expect(parseDocument('{"😀": "\\u0000"}')).toEqual({ document: { json: { '😀': '\u0000' } } });
  });

  it.each([
    ['JSON', '{"a": [1, 7615917337495251231], "b": "7615917337495251231", "c": 1152921504606847000}'],
    ['YAML', 'a:\n- 1\n- &n 7615917337495251231\nb: "7615917337495251231"\nc: 1152921504606847000\nd: *n\n'],
  ])('warns of numbers that are rounded, in %s', (_, text) => {
    const parsed = parseDocument(text);
    expect('document' in parsed && parsed.document.warnings).toEqual([
      {
        pointer: '/a/1',
        code: 'rounded_number',
        message: 'This number is rounded to 7615917337495251000, as all numbers beyond 2^53 may be.',
        hint: 'Write it in quotes to keep its digits.',
      },
    ]);
  });

  it('refuses numbers that JSON does not have', () => {
    expect(problem('a: .inf').code).toBe('not_json');
    expect(problem('a: .nan').code).toBe('not_json');
    expect(problem('a: 1e400').code).toBe('not_json');
    expect(problem('{"a": 1e400}').code).toBe('not_json');
  });

  it('takes a nesting of 200 and refuses one of 201', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(parseDocument(nested(200))).toHaveProperty('document');
    expect(problem(nested(201)).code).toBe('too_deep');
    expect(problem(nested(100_000)).code).toBe('too_deep');
    expect(problem(`${'- '.repeat(5000)}x`).code).toBe('too_deep');
    expect(problem('a: &a [*a]\n').code).toBe('too_deep');
  });

  it.each([
    ['a quoted first key', '"a": 1\nb: [\n', 3],
    ['a quoted first key', '"a": 1\nb: 2\n  c: 3\n', 2],
    ['braces without quotes', '{a: 1,\n b: [2}\n', 2],
  ])('says in the words of YAML, at its line, what is wrong below %s', (_, text, line) => {
    const { code, message, ...place } = problem(text);
    expect({ code, message, line: place.line }).toMatchObject({
      code: 'malformed',
      message: expect.stringMatching(/^This YAML cannot be read: /),
      line,
    });
  });

  it('says in the words of JSON what is wrong in a document that begins as JSON', () => {
    expect(problem('{"a": 1\n"b": 2}')).toMatchObject({ code: 'malformed', message: expect.stringMatching(/neither/) });
  });

  it('refuses aliases that stand for too much', () => {
    const levels = ['a', 'b', 'c', 'd', 'e'].map(
      (name, i, all) =>
        `${name}: &${name} [${Array(9)
          .fill(i === 0 ? 'x' : `*${all[i - 1]}`)
          .join(',')}]`,
    );
    expect(problem(levels.join('\n')).code).toBe('too_many_aliases');
    expect(problem(`a: &a "${'x'.repeat(100_000)}"\nb: [${Array(90).fill('*a').join(',')}]\n`).code).toBe(
      'definition_too_large',
    );
  });

  it('measures in bytes', () => {
    expect(parseDocument(`{"a":"${'x'.repeat(1_000_000)}"}`)).toHaveProperty('document');
    expect(problem(`{"a":"${'x'.repeat(1_100_000)}"}`).code).toBe('definition_too_large');
    expect(problem(`{"a":"${'é'.repeat(600_000)}"}`).code).toBe('definition_too_large');
    expect(problem('x'.repeat(3_000_000)).code).toBe('text_too_large');
  });
});
