/**
 * Patterns of JSON Schema, which are regular expressions of users, matched in time that grows with the text and the
 * pattern only: all ways through the pattern are followed together (Thompson). A pattern is one of JavaScript with the
 * flag `u`, without what needs to go back: references to groups, and looking ahead or behind. By hand: no package lets
 * its steps be counted.
 */

const MAX_PATTERN_CHARACTERS = 1_000;
/** What a pattern becomes once its repetitions are written out. */
const MAX_INSTRUCTIONS = 5_000;

export interface Pattern {
  readonly program: readonly Instruction[];
}

type Instruction =
  | { readonly is: 'character'; readonly fits: (character: string) => boolean }
  | { readonly is: 'assertion'; readonly holds: (before: string, after: string) => boolean }
  | { readonly is: 'split'; readonly ways: [number, number] }
  | { readonly is: 'end' };

/** The compiled pattern, or what is wrong with it as the end of a sentence. */
export function compilePattern(source: string): Pattern | { readonly problem: string } {
  if (source.length > MAX_PATTERN_CHARACTERS) return { problem: `has more than ${MAX_PATTERN_CHARACTERS} characters` };
  try {
    // It is never executed.
    new RegExp(source, 'u');
  } catch (error) {
    const [, reason = 'it cannot be read'] = /: ([^:]+)$/.exec(error instanceof Error ? error.message : '') ?? [];
    return { problem: `is no regular expression of JavaScript with the flag u: ${reason}` };
  }
  try {
    return { program: new PatternCompiler(source).compile() };
  } catch (error) {
    if (error instanceof UnsupportedPattern) return { problem: error.message };
    throw error;
  }
}

/** Whether the pattern is found anywhere in the text. `spend` counts each step, and says false where to give up. */
export function matches({ program }: Pattern, text: string, spend: (steps: number) => boolean): boolean {
  // What is made below has a place for each instruction.
  if (!spend(program.length / 10)) return false;
  const seen = new Int32Array(program.length).fill(-1);
  let active: number[] = [];
  let before = '';
  // The text may be long and the match at its beginning, so no list of its characters is made.
  for (let at = 0; ; at += before.length) {
    const code = text.codePointAt(at);
    const character = code === undefined ? undefined : String.fromCodePoint(code);
    // A match may begin at each character.
    const open = [0, ...active].reverse();
    const next: number[] = [];
    let steps = 1;
    let isFound = false;
    for (let index = open.pop(); index !== undefined && !isFound; index = open.pop()) {
      if (seen[index] === at) continue;
      seen[index] = at;
      steps += 1;
      const instruction = program[index] as Instruction;
      if (instruction.is === 'end') isFound = true;
      else if (instruction.is === 'split') open.push(instruction.ways[1], instruction.ways[0]);
      else if (instruction.is === 'assertion') {
        if (instruction.holds(before, character ?? '')) open.push(index + 1);
      } else if (character !== undefined && instruction.fits(character)) next.push(index + 1);
    }
    const hasBudget = spend(steps);
    if (isFound || character === undefined || !hasBudget) return isFound;
    active = next;
    before = character;
  }
}

class UnsupportedPattern extends Error {}

/** Escapes of several characters; the others have one behind the backslash. */
const ESCAPE = new RegExp(
  [
    String.raw`^\\(?:[pPu]\{[^}]*\}|x[\da-f]{2}|c[a-z]`,
    String.raw`u[d][89ab][\da-f]{2}\\u[d][c-f][\da-f]{2}`,
    String.raw`u[\da-f]{4})`,
  ].join('|'),
  'i',
);

const isWord = (character: string): boolean => /^\w$/.test(character);

/** Reads a pattern that JavaScript takes, so that only its structure has to be found. */
class PatternCompiler {
  private readonly source: string;
  private position = 0;
  private program: Instruction[] = [];

  constructor(source: string) {
    this.source = source;
  }

  compile(): readonly Instruction[] {
    this.alternatives();
    this.add({ is: 'end' });
    return this.program;
  }

  private add(instruction: Instruction): void {
    if (this.program.length >= MAX_INSTRUCTIONS) throw new UnsupportedPattern('repeats too much');
    this.program.push(instruction);
  }

  private alternatives(): void {
    const start = this.program.length;
    this.sequence();
    if (this.source[this.position] !== '|') return;
    this.position += 1;
    const first = this.removeFrom(start);
    const second = this.collect(() => this.alternatives());
    // split, first, jump behind the second, second
    this.add({ is: 'split', ways: [start + 1, start + first.length + 2] });
    this.append(first, start);
    const end = this.program.length + 1 + second.length;
    this.add({ is: 'split', ways: [end, end] });
    this.append(second, start);
  }

  private sequence(): void {
    for (let next = this.source[this.position]; next !== undefined && next !== '|' && next !== ')'; ) {
      const start = this.program.length;
      this.atom();
      this.repetition(start);
      next = this.source[this.position];
    }
  }

  private atom(): void {
    const { source, position } = this;
    const first = source[position];
    if (first === '(') this.group();
    else if (first === '^') this.assertion(1, (before) => before === '');
    else if (first === '$') this.assertion(1, (_, after) => after === '');
    else if (first === '[') this.characters(this.endOfClass());
    else if (first === '\\') this.escaped();
    else this.characters(position + String.fromCodePoint(source.codePointAt(position) ?? 0).length);
  }

  private assertion(length: number, holds: (before: string, after: string) => boolean): void {
    this.position += length;
    this.add({ is: 'assertion', holds });
  }

  private group(): void {
    const [opening = '('] = /^\((?:\?(?:[:=!]|<[=!]|<[^>]*>|[^:]*:))?/.exec(this.source.slice(this.position)) ?? [];
    if (/^\(\?<?[=!]/.test(opening)) throw new UnsupportedPattern('looks ahead or behind, which is not supported');
    if (opening.startsWith('(?') && opening !== '(?:' && !opening.startsWith('(?<'))
      throw new UnsupportedPattern('changes flags, which is not supported');
    this.position += opening.length;
    this.alternatives();
    this.position += 1;
  }

  private escaped(): void {
    const rest = this.source.slice(this.position);
    if (/^\\(?:[1-9]|k<)/.test(rest)) throw new UnsupportedPattern('refers to a group, which is not supported');
    if (/^\\[bB]/.test(rest)) {
      const wanted = rest[1] === 'b';
      this.assertion(2, (before, after) => (isWord(before) !== isWord(after)) === wanted);
    } else this.characters(this.position + (ESCAPE.exec(rest)?.[0].length ?? 2));
  }

  private endOfClass(): number {
    let at = this.position + 1;
    while (this.source[at] !== ']') at += this.source[at] === '\\' ? 2 : 1;
    return at + 1;
  }

  /** One character: a class, an escape, a dot or itself. JavaScript says what fits, of one character at a time. */
  private characters(end: number): void {
    const one = new RegExp(`^${this.source.slice(this.position, end)}$`, 'u');
    const known = new Map<string, boolean>();
    const fits = (character: string): boolean => {
      const before = known.get(character);
      if (before !== undefined) return before;
      const found = one.test(character);
      if (known.size < 256) known.set(character, found);
      return found;
    };
    this.position = end;
    this.add({ is: 'character', fits });
  }

  private repetition(start: number): void {
    const match = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/.exec(this.source.slice(this.position));
    if (match === null) return;
    this.position += match[0].length;
    const [, sign, least, comma, most] = match;
    const from = sign === undefined ? Number(least) : sign === '+' ? 1 : 0;
    const to =
      sign === undefined
        ? comma === undefined
          ? from
          : most === ''
            ? undefined
            : Number(most)
        : sign === '?'
          ? 1
          : undefined;
    const body = this.removeFrom(start);
    if ((to ?? from) * Math.max(1, body.length) > MAX_INSTRUCTIONS) throw new UnsupportedPattern('repeats too much');
    for (let count = 0; count < from; count++) this.append(body, start);
    if (to === undefined) {
      const loopStart = this.program.length;
      this.add({ is: 'split', ways: [loopStart + 1, loopStart + body.length + 2] });
      this.append(body, start);
      this.add({ is: 'split', ways: [loopStart, loopStart] });
      return;
    }
    const end = this.program.length + (to - from) * (body.length + 1);
    for (let count = from; count < to; count++) {
      this.add({ is: 'split', ways: [this.program.length + 1, end] });
      this.append(body, start);
    }
  }

  /** Takes the instructions from `start` on out of the program. */
  private removeFrom(start: number): Instruction[] {
    return this.program.splice(start);
  }

  private collect(compile: () => void): Instruction[] {
    const start = this.program.length;
    compile();
    return this.removeFrom(start);
  }

  /** Adds instructions that stood at `origin`, which lead to one another. */
  private append(instructions: readonly Instruction[], origin: number): void {
    const moved = this.program.length - origin;
    for (const one of instructions)
      this.add(one.is === 'split' ? { is: 'split', ways: [one.ways[0] + moved, one.ways[1] + moved] } : one);
  }
}
