import { describe, expect, it } from 'vitest';
import { type Checked, check } from '../../src/check/check.ts';
import { canonicalText } from '../../src/json/canonical-text.ts';
import { isObject, type Json, type JsonObject, setOwn, typeName } from '../../src/json/json.ts';
import { childPointer } from '../../src/json/pointer.ts';
import { type Example, examples, wholeExamples } from './dialect-examples.ts';

/** What no document holds, so that its place in the canonical form shows that it was carried over. */
const MARK = 'zzmark';
const NUMBER = 918_273;
const WRONG: readonly Json[] = [NUMBER, MARK, true, [MARK], { [MARK]: MARK }];

interface Member {
  readonly pointer: string;
  readonly value: Json;
}

function* membersOf(value: Json, pointer = ''): Iterable<Member> {
  const entries: Iterable<[string | number, Json]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(isObject(value) ? value : {});
  for (const [key, member] of entries) {
    const place = childPointer(pointer, key);
    yield { pointer: place, value: member };
    yield* membersOf(member, place);
  }
}

/** A copy of `document` with another value at the pointer; without the member if `value` is undefined. */
function changed(document: JsonObject, pointer: string, value: Json | undefined): JsonObject {
  const copy = structuredClone(document);
  const parts = pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = parts.pop() ?? '';
  let here: Json = copy;
  for (const part of parts)
    here = (Array.isArray(here) ? here[Number(part)] : isObject(here) ? here[part] : null) ?? null;
  if (Array.isArray(here)) here.splice(Number(last), 1, ...(value === undefined ? [] : [value]));
  else if (isObject(here) && value === undefined) delete here[last];
  else if (isObject(here)) setOwn(here, last, value ?? null);
  return copy;
}

const meaning = ({ definition, draft }: Checked): string =>
  canonicalText((definition ?? draft ?? null) as unknown as Json);
/** The same with everything that is reported. */
const outcome = (checked: Checked): string => [meaning(checked), ...notesOf(checked)].join('\n');
const holds = (text: string, value: Json): boolean =>
  value === NUMBER ? text.includes(String(NUMBER)) : JSON.stringify(value).includes(MARK) && text.includes(MARK);
const notesOf = ({ problems, warnings }: Checked): Set<string> =>
  new Set([...problems, ...warnings].map(({ pointer, code, message }) => `${pointer}\n${code}\n${message}`));

/** Whether a note stands at the place, in it or around it. */
function isAt(pointer: string, place: string): boolean {
  return `${pointer}/`.startsWith(`${place}/`) || `${place}/`.startsWith(`${pointer}/`);
}

/** What the importer does with a value of another type, if it neither reports it nor carries it over. */
function vanished({ document, dialect }: Example): string[] {
  const before = check(document, { dialect });
  const known = notesOf(before);
  const found: string[] = [];
  for (const { pointer, value } of membersOf(document)) {
    const without = outcome(check(changed(document, pointer, undefined), { dialect }));
    for (const wrong of WRONG) {
      if (typeName(wrong) === typeName(value)) continue;
      const after = check(changed(document, pointer, wrong), { dialect });
      const isReported = [...notesOf(after)].some(
        (note) => !known.has(note) && isAt(note.split('\n')[0] ?? '', pointer),
      );
      const text = meaning(after);
      if (isReported || text === meaning(before) || holds(text, wrong)) continue;
      const isPlain = !JSON.stringify(wrong).includes(MARK) && wrong !== NUMBER;
      if (isPlain && outcome(after) !== without) continue;
      found.push(`${pointer}: ${JSON.stringify(wrong)}`);
    }
  }
  return found;
}

describe('a member of another type', () => {
  it.each(examples.map((one) => [one.name, one] as const))('is reported or carried over: %s', (_, example) => {
    expect(vanished(example)).toEqual([]);
  });
});

/** Whether the document as it is has a note at the place or around it: what is left out takes its members along. */
function isNoted(known: ReadonlySet<string>, place: string): boolean {
  return [...known].some((note) => `${place}/`.startsWith(`${note.split('\n')[0] ?? ''}/`));
}

/** A step with a problem is not read any further. What only the host lacks does not count. */
const isSound = ({ document, dialect }: Example): boolean =>
  check(document, { dialect }).problems.every(({ code }) => code === 'unknown_action');
const sound = examples.filter(isSound);

it('is tried with examples that can be imported', () => {
  expect(examples.filter((one) => one.name.startsWith('every') && !isSound(one))).toEqual([]);
  expect(sound.length).toBeGreaterThan(30);
});

describe('a member that no dialect has', () => {
  it.each([...sound, ...wholeExamples.filter(isSound)].map((one) => [one.name, one] as const))(
    'is reported or carried over: %s',
    (_, { document, dialect }) => {
      const known = notesOf(check(document, { dialect }));
      const found: string[] = [];
      for (const { pointer, value } of [{ pointer: '', value: document }, ...membersOf(document)]) {
        if (!isObject(value) || isNoted(known, pointer)) continue;
        const place = childPointer(pointer, MARK);
        const after = check(changed(document, place, MARK), { dialect });
        const isReported = [...notesOf(after)].some(
          (note) => !known.has(note) && isAt(note.split('\n')[0] ?? '', place),
        );
        if (!isReported && !meaning(after).includes(MARK)) found.push(place);
      }
      expect(found).toEqual([]);
    },
  );
});

describe('a member', () => {
  it.each(sound.map((one) => [one.name, one] as const))('means something or is reported: %s', (_, example) => {
    const { document, dialect } = example;
    const before = check(document, { dialect });
    const known = notesOf(before);
    const found = [...membersOf(document)].filter(
      ({ pointer }) =>
        !isNoted(known, pointer) &&
        outcome(check(changed(document, pointer, undefined), { dialect })) === outcome(before),
    );
    expect(found.map(({ pointer }) => pointer)).toEqual([]);
  });
});
