/** Templates, conditions and transforms as the product of document 000 had them. */
import { describe, expect, test } from 'vitest';
import { type Case, type Decision, loadCases, meets, outcomeOf } from './cases.ts';

const OWN_ONLY =
  'own properties only, and they are read like any other name: undefined, not an error, and never a function';
const SYNTAX: Decision['outcome'] = { error: 'expression_syntax' };
const MUSTACHE =
  'sections, partials, comments and delimiters of Mustache are not in the language; they are refused, not dropped';
const INSTRUCTIONS = 'agent instructions are a mechanism of its own there; a template says what is missing';
const AS_TEXT = 'values are never put into expressions as text; a path is written without braces';
const NOTHING: Decision['outcome'] = { value: undefined };

const DECIDED_OTHERWISE: { readonly [name: string]: Decision } = {
  "items|filter('status', 'active')|map('price')|sum() > 1000": {
    reason: 'documented there as supported, and supported here',
    outcome: { value: true },
  },
  'known but missing org': { reason: INSTRUCTIONS, outcome: { error: 'unresolved_reference' } },
  'known but missing user': { reason: INSTRUCTIONS, outcome: { error: 'unresolved_reference' } },
  'unknown stays': { reason: INSTRUCTIONS, outcome: { error: 'unresolved_reference' } },
  'removed variables stay': { reason: INSTRUCTIONS, outcome: { error: 'unresolved_reference' } },
  'value containing braces': { reason: 'data is never evaluated, nor refused', outcome: { value: 'say {{evil}}' } },
  'mustache comment': { reason: '"!" is negation, also at the beginning', outcome: { value: 'atrueb' } },
  'mustache section': { reason: MUSTACHE, outcome: SYNTAX },
  'inverted section': { reason: MUSTACHE, outcome: SYNTAX },
  partial: { reason: MUSTACHE, outcome: SYNTAX },
  'delimiter change': { reason: MUSTACHE, outcome: SYNTAX },
  'less than at the start': { reason: MUSTACHE, outcome: SYNTAX },
  negation: { reason: '"!" is negation', outcome: { value: true } },
  'spaced negation': { reason: '"!" is negation', outcome: { value: true } },
  'braces inside a string literal': { reason: 'a template ends where its expression ends', outcome: { value: ['}}'] } },
  'object literal in a template': { reason: 'a template ends where its expression ends', outcome: { value: { k: 1 } } },
  'object literal tight': { reason: 'a template ends where its expression ends', outcome: { value: { k: 1 } } },
  'length property is element 0': {
    reason: 'the length of an array is its length (LANGUAGE.md §4)',
    outcome: { value: true },
  },
  'unique stringifies': { reason: 'values keep their type; 1 and "1" are two values', outcome: { value: [1, '1', 2] } },
  'unique objects': { reason: 'objects are compared by content', outcome: { value: [{ x: 1 }, { x: 2 }] } },
  'filter >= is broken': { reason: 'a defect there', outcome: { value: [{ n: 2 }, { n: 3 }] } },
  'filter <= is broken': { reason: 'a defect there', outcome: { value: [{ n: 1 }, { n: 2 }] } },
  'filter == string never': { reason: 'a defect there', outcome: { value: [{ s: 'open' }] } },
  'prototype: constructor': { reason: OWN_ONLY, outcome: NOTHING },
  'prototype: __proto__': { reason: OWN_ONLY, outcome: NOTHING },
  'prototype: context constructor': { reason: OWN_ONLY, outcome: NOTHING },
  'prototype: ["constructor"]': { reason: OWN_ONLY, outcome: NOTHING },
  'prototype: ["constructor"]["name"]': { reason: OWN_ONLY, outcome: NOTHING },
  'string method as property': { reason: OWN_ONLY, outcome: NOTHING },
  'rendered: quoted string': { reason: AS_TEXT, outcome: { value: false } },
  'rendered: number': { reason: AS_TEXT, outcome: SYNTAX },
  'rendered: injection': { reason: AS_TEXT, outcome: { value: false } },
  'rendered: array': { reason: AS_TEXT, outcome: SYNTAX },
  'double rendering, bad expression in data': {
    reason: 'data is never evaluated, so it cannot be a bad expression',
    outcome: { value: ['{{ a + }}'] },
  },
};

const cases = loadCases('tale.json');

function agrees(given: Case): boolean {
  return meets(outcomeOf(given), given);
}

describe('cases of the product of document 000', () => {
  test.each(cases.map((given, i) => ({ title: `${i} ${given.kind}: ${given.name}`, given })))('$title', ({ given }) => {
    const decision = DECIDED_OTHERWISE[given.name];
    if (decision === undefined) expect(agrees(given), JSON.stringify({ given, outcome: outcomeOf(given) })).toBe(true);
    else expect(outcomeOf(given)).toEqual(decision.outcome);
  });

  test('every decision is about a case, and differs from it', () => {
    for (const [name, { outcome }] of Object.entries(DECIDED_OTHERWISE)) {
      const given = cases.find((candidate) => candidate.name === name);
      expect(given && !meets(outcome, given), name).toBe(true);
    }
  });
});
