/**
 * Splits an expression into Jexl's tokens, each with its position. There are two modes: the expression is the whole
 * source, or it is in a template and ends at the `}}` that closes no object.
 */
import { TemplateError } from './types.ts';

export interface Token {
  readonly type: 'number' | 'string' | 'name' | 'sign' | 'end';
  /** The name, the sign, the string without quotes, or the digits; for `end` the text at its position. */
  readonly text: string;
  /** The 0-based offset of its first character. */
  readonly start: number;
  /** The 0-based offset after its last character. */
  readonly end: number;
}

const LONG_SIGNS: ReadonlySet<string> = new Set(['&&', '||', '==', '!=', '>=', '<=', '//']);
const SIGNS = '+-*/%^><!?:.,()[]{}|';
const LETTER = /[\p{L}]/u;
const SPACE = /\s/;

const HINTS: { readonly [sign: string]: string } = {
  '=': '"==" to compare',
  '&': '"&&"',
  '`': 'a string in single or double quotes',
  '@': 'a path without it, such as input.email or steps.fetch.output.data',
  '~': 'an operator of the language',
};

export class Lexer {
  private readonly source: string;
  private readonly inTemplate: boolean;
  private position: number;
  private openBraces = 0;

  constructor(source: string, start: number, inTemplate: boolean) {
    this.source = source;
    this.position = start;
    this.inTemplate = inTemplate;
  }

  /** The next token; at the end always `end`. @throws TemplateError `expression_syntax` */
  next(): Token {
    const { source } = this;
    while (this.position < source.length && isSpace(source, this.position)) this.position += 1;
    const start = this.position;
    if (start >= source.length) {
      if (this.inTemplate) {
        throw syntaxError(source, start, 'The template is not closed: "}}" is missing.', '"}}"');
      }
      return { type: 'end', text: 'the end', start, end: start };
    }
    const character = source.charAt(start);
    if (isDigit(source, start) || (character === '.' && isDigit(source, start + 1))) return this.number(start);
    if (character === '"' || character === "'") return this.string(start, character);
    if (isNameStart(source, start)) return this.name(start);
    return this.sign(start, character);
  }

  private number(start: number): Token {
    let end = start;
    while (isDigit(this.source, end)) end += 1;
    if (this.source.charAt(end) === '.' && isDigit(this.source, end + 1)) {
      end += 1;
      while (isDigit(this.source, end)) end += 1;
    }
    return this.token('number', this.source.slice(start, end), start, end);
  }

  /** As in Jexl, a backslash escapes the string's own quote and itself. Before other characters it is kept. */
  private string(start: number, quote: string): Token {
    let text = '';
    let from = start + 1;
    for (let at = from; at < this.source.length; at += 1) {
      const character = this.source.charAt(at);
      if (character === quote) {
        return this.token('string', text + this.source.slice(from, at), start, at + 1);
      }
      if (character !== '\\') continue;
      const following = this.source.charAt(at + 1);
      if (following === quote || following === '\\') {
        text += this.source.slice(from, at) + following;
        from = at + 2;
        at += 1;
      }
    }
    throw syntaxError(
      this.source,
      start,
      `The string that begins here is not closed: ${quote} is missing.`,
      `the closing ${quote}`,
    );
  }

  private name(start: number): Token {
    let end = start + 1;
    while (isNameStart(this.source, end) || isDigit(this.source, end)) end += 1;
    return this.token('name', this.source.slice(start, end), start, end);
  }

  private sign(start: number, character: string): Token {
    const two = this.source.slice(start, start + 2);
    if (this.inTemplate && two === '}}' && this.openBraces === 0) {
      return { type: 'end', text: '"}}"', start, end: start + 2 };
    }
    if (LONG_SIGNS.has(two)) return this.token('sign', two, start, start + 2);
    if (!SIGNS.includes(character)) {
      const hint = HINTS[character] ?? 'a value or an operator';
      throw syntaxError(
        this.source,
        start,
        `${JSON.stringify(character)} is not part of the expression language.`,
        hint,
      );
    }
    if (character === '{') this.openBraces += 1;
    if (character === '}') this.openBraces -= 1;
    return this.token('sign', character, start, start + 1);
  }

  private token(type: Token['type'], text: string, start: number, end: number): Token {
    this.position = end;
    return { type, text, start, end };
  }
}

/** An `expression_syntax` error at a 0-based position. */
export function syntaxError(source: string, position: number, problem: string, expected: string): TemplateError {
  const column = position + 1;
  return new TemplateError('expression_syntax', `${problem} At column ${column}, expected ${expected}.`, {
    column,
    expected,
    source,
  });
}

function isDigit(source: string, at: number): boolean {
  const code = source.charCodeAt(at);
  return code >= 48 && code <= 57;
}

function isSpace(source: string, at: number): boolean {
  const code = source.charCodeAt(at);
  return code === 32 || (code >= 9 && code <= 13) || (code > 127 && SPACE.test(source.charAt(at)));
}

/** Jexl allows Latin and Cyrillic letters, `_` and `$`. This lexer allows the letters of all scripts. */
function isNameStart(source: string, at: number): boolean {
  const code = source.charCodeAt(at);
  if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 36) return true;
  return code > 127 && LETTER.test(source.charAt(at));
}
