// References, suggestions and definitions of recordings (mesh), without an actor.
import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import type { RecordedStep } from '../../src/contract/definitions/recording.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { confirmReferences } from '../../src/recording/confirm.ts';
import { documentOf } from '../../src/recording/document.ts';
import { resolve, unknownReferences, unknownReferencesInText } from '../../src/recording/references.ts';
import { suggestionsFor } from '../../src/recording/suggestions.ts';

const AT = '2026-01-01T00:00:0';

/** A completed call that took one second, after `n` seconds. */
const step = (name: string, n: number, input: JsonObject, output: Json, more: Partial<RecordedStep> = {}) => ({
  name,
  status: 'completed' as const,
  step: { action: { toolName: name.toUpperCase(), server: 'shop' }, input },
  output,
  startedAt: `${AT}${n}.000Z`,
  completedAt: `${AT}${n + 1}.000Z`,
  ...more,
});

const user = step('get_user_1', 1, { email: 'ann@example.org' }, { id: 42, name: 'Ann', tags: ['vip', 'eu'] });
const broken = step('broken_1', 2, {}, null, { status: 'failed' });
const SOURCES = { input: { user_id: 7, greeting: 'Hello' }, steps: [user, broken] };

describe('a reference', () => {
  it.each<[string, Json, Json]>([
    ['keeps its type as a whole text', { id: '@get_user_1.id', all: '@get_user_1' }, { id: 42, all: user.output }],
    ['is put into a text', '@input.greeting @get_user_1.name, no. @get_user_1.id.', 'Hello Ann, no. 42.'],
    ['reaches into lists and nested values', [{ tag: '@get_user_1.tags[1]' }], [{ tag: 'eu' }]],
    [
      'is not seen in addresses and before unknown names',
      'mail ann@get_user_1.org, ask @bob',
      'mail ann@get_user_1.org, ask @bob',
    ],
    ['is the only thing that is evaluated', '{{ secrets.KEY }} {{ 1 + 1 }}', '{{ secrets.KEY }} {{ 1 + 1 }}'],
  ])('%s', (_what, written, value) => {
    expect(resolve(written, SOURCES)).toEqual({ value });
  });

  it.each<[string, Json, string, string, RegExp]>([
    ['to nobody', { a: ['@get_usr_1.id'] }, '/a/0', 'unknown_reference', /no step.*recording/],
    ['to an iteration', { a: '@item.id' }, '/a', 'unknown_reference', /iteration/],
    ['to a failed step', { a: 'x @broken_1.id' }, '/a', 'unresolved_reference', /failed/],
    ['to a member that is missing', { a: '@get_user_1.nam' }, '/a', 'unresolved_reference', /id, name, tags/],
    ['to a missing member, within a text', { a: 'x @get_user_1.nam' }, '/a', 'unresolved_reference', /@get_user_1.nam/],
    ['to a missing input', '@input.nobody', '', 'unresolved_reference', /user_id, greeting/],
    ['to what objects inherit', '@get_user_1.constructor', '', 'unresolved_reference', /has no value/],
  ])('%s is refused with its place', (_what, written, pointer, code, message) => {
    expect(resolve(written, SOURCES)).toMatchObject({
      problems: [{ pointer, code, message: expect.stringMatching(message) }],
    });
  });

  it.each<[string, Json, readonly object[]]>([
    ['a name in the form of a recorded one', { a: 'x @get_usr_1.id' }, [{ pointer: '/a', code: 'unknown_reference' }]],
    ['a name in a key', { 'x @nope_12': 1 }, [{ pointer: '/x @nope_12', code: 'unknown_reference' }]],
    ['a step that there is', { a: 'x @get_user_1.id, ann@nope_1.org' }, []],
    ['other names', { a: 'ask @bob or @team-7', b: '@nope_1' }, []],
  ])('to nobody is found within a text: %s', (_what, written, problems) => {
    expect(unknownReferencesInText(written, ['get_user_1'])).toMatchObject(problems);
    expect(unknownReferencesInText(written, ['get_user_1'])).toHaveLength(problems.length);
  });

  it('to nobody is found in steps that are not resolved yet', () => {
    const written = { input: { a: '@later.id', b: '@input.x', c: '@item' }, when: { ref: '@get_user_1.id' } };
    expect(unknownReferences(written, ['get_user_1'])).toMatchObject([
      { pointer: '/input/a', code: 'unknown_reference' },
    ]);
  });
});

const orders = step('get_orders_1', 3, { userId: 42, page: 1 }, [
  { no: 'A-4711', sum: 12.5 },
  { no: 'A-4712', sum: 3 },
]);
const mail = step('mail_1', 5, { to: 'ann@example.org', text: 'Order A-4711 of Ann (42): sent.' }, { ok: true });

describe('suggestions', () => {
  const input = { email: 'ann@example.org', page: 1, limit: 3 };
  const steps = [user, orders, mail];

  it('name where literals came from, and where else they stand', () => {
    const found = suggestionsFor(input, steps).map(({ step: of, pointer, written, form }) => [
      of,
      pointer,
      form,
      written,
    ]);
    expect(found).toEqual([
      ['get_user_1', '/email', 'whole', '@input.email'],
      ['get_orders_1', '/userId', 'whole', '@get_user_1.id'],
      // One digit is equal by chance: it takes the same name.
      ['get_orders_1', '/page', 'whole', '@input.page'],
      ['mail_1', '/to', 'whole', '@input.email'],
      ['mail_1', '/text', 'within', 'Order @get_orders_1[0].no of Ann (42): sent.'],
    ]);
  });

  it('are left out where nothing fits', () => {
    expect(suggestionsFor({}, [orders, user])).toEqual([]);
    expect(suggestionsFor({ a: true, b: null, c: '' }, [step('a', 1, { a: true, b: null, c: '' }, null)])).toEqual([]);
  });

  it('are bounded, however large the outputs are', () => {
    const many = step(
      'many_1',
      1,
      {},
      Array.from({ length: 100_000 }, (_, n) => ({ id: `id-${n}` })),
    );
    const literals = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`a${n}`, `id-${n}`]));
    expect(suggestionsFor({}, [many, step('uses_1', 2, literals, null)])).toHaveLength(200);
  });

  it('become references when they are confirmed, and the values stay', () => {
    const recorded = { input, steps };
    const items = suggestionsFor(input, steps).map(({ step: of, pointer, reference }) => ({
      step: of,
      pointer,
      reference,
    }));
    const outcome = confirmReferences(recorded, [
      ...items,
      { step: 'mail_1', pointer: '/text', reference: '@get_user_1.name' },
    ]);
    if ('problem' in outcome) throw new Error(outcome.problem.message);
    expect(outcome.steps.map((one) => one.step['input'])).toEqual([
      { email: '@input.email' },
      { userId: '@get_user_1.id', page: '@input.page' },
      { to: '@input.email', text: 'Order @get_orders_1[0].no of @get_user_1.name (42): sent.' },
    ]);
    for (const [n, one] of outcome.steps.entries())
      expect(resolve(one.step['input'] ?? null, outcome)).toEqual({ value: steps[n]?.step['input'] });
  });

  it('add a member to the input, for a value that came from the person', () => {
    const outcome = confirmReferences({ input: {}, steps }, [
      { step: 'mail_1', pointer: '/to', reference: '@input.receiver' },
    ]);
    expect(outcome).toMatchObject({ input: { receiver: 'ann@example.org' }, changed: [{ name: 'mail_1' }] });
  });

  it.each([
    ['an unknown step', { step: 'nobody', pointer: '/a', reference: '@input.x' }, '/items/0/step', 'no_such_step'],
    [
      'a place that is none',
      { step: 'mail_1', pointer: '/a', reference: '@input.x' },
      '/items/0/pointer',
      'entry_changed',
    ],
    [
      'another value',
      { step: 'mail_1', pointer: '/to', reference: '@get_user_1.id' },
      '/items/0/reference',
      'entry_changed',
    ],
    [
      'a later step',
      { step: 'get_user_1', pointer: '/email', reference: '@mail_1.ok' },
      '/items/0/reference',
      'unknown_reference',
    ],
    [
      'a text',
      { step: 'mail_1', pointer: '/to', reference: 'ann@example.org' },
      '/items/0/reference',
      'unknown_reference',
    ],
  ])('are not confirmed with %s', (_what, item, pointer, code) => {
    expect(confirmReferences({ input, steps }, [item])).toMatchObject({ problem: { pointer, code } });
  });
});

describe('the definition of a recording', () => {
  const uses = step('uses_1', 5, { id: '@get_user_1.id' }, 'done');
  const steps = [user, broken, orders, uses];
  const names = { name: 'Recorded', slug: 'recorded' };
  const edges = (document: JsonObject) =>
    (document['steps'] as JsonObject[]).map(({ name, dependsOn = [] }) => [name, dependsOn]);

  it('keeps the order of the calls, without failed ones', () => {
    const document = documentOf(steps, { ...names, order: 'recorded', includesFailed: false });
    expect(edges(document)).toEqual([
      ['get_user_1', []],
      ['get_orders_1', ['get_user_1']],
      ['uses_1', ['get_orders_1']],
    ]);
    expect(check(document)).toMatchObject({ valid: true, dialect: '001', warnings: [] });
  });

  it('leaves concurrent calls independent of each other', () => {
    const beside = { ...orders, startedAt: `${AT}1.500Z` };
    const document = documentOf([user, beside, uses], { ...names, order: 'recorded', includesFailed: false });
    expect(edges(document)).toEqual([
      ['get_user_1', []],
      ['get_orders_1', []],
      // It refers to the other one.
      ['uses_1', ['get_orders_1']],
    ]);
  });

  it('waits for references only, and has failed steps, where that is wanted', () => {
    const document = documentOf(steps, { ...names, order: 'references', includesFailed: true });
    expect(edges(document)).toEqual(steps.map(({ name }) => [name, []]));
    expect(check(document)).toMatchObject({ valid: true });
  });
});
