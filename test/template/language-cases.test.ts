import { describe, expect, test } from 'vitest';
import { errorOf, rendered, value } from './evaluate.ts';
import { EXPRESSIONS, SCOPE, TEMPLATES, WRONG_EXPRESSIONS, WRONG_TEMPLATES } from './language-cases.ts';

const begin = (text: string) => new RegExp(`^${text.replaceAll(/[()|]/g, '\\$&')}`);

describe('an expression', () => {
  for (const [source, expected] of EXPRESSIONS)
    test(JSON.stringify(source), () => {
      expect(value(source, SCOPE)).toEqual(expected);
    });

  for (const [source, code, expected = ''] of WRONG_EXPRESSIONS)
    test(`${JSON.stringify(source)} is refused: ${code}`, () => {
      const error = errorOf(() => value(source, SCOPE));
      expect([error.code, error.expected ?? '']).toEqual([code, expect.stringMatching(begin(expected))]);
    });
});

describe('a template', () => {
  for (const [template, expected] of TEMPLATES)
    test(JSON.stringify(template), () => {
      expect(rendered(template, SCOPE)).toEqual({ value: expected, secrets: [] });
    });

  for (const [template, code, expected = ''] of WRONG_TEMPLATES)
    test(`${JSON.stringify(template)} is refused: ${code}`, () => {
      const error = errorOf(() => rendered(template, SCOPE));
      expect([error.code, error.expected ?? '']).toEqual([code, expect.stringMatching(begin(expected))]);
    });
});
