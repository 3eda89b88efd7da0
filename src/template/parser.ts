/**
 * Parses Jexl's grammar by precedence climbing. Where Jexl accepts mistakes (unclosed parentheses, calls on
 * properties), this parser reports what it expected and where. It also accepts more: unary minus before any operand,
 * quoted keys in objects, `[…]` and `? :` after any operand. By hand: Jexl evaluates with
 * promises, does not count its work, and does not list what an expression reads.
 */
import { type BinaryOperator, children, type Node, type Shape } from './ast.ts';
import { Lexer, syntaxError, type Token } from './lexer.ts';
import { MAX_EXPRESSION_DEPTH, MAX_EXPRESSION_NODES, MAX_SOURCE_LENGTH } from './limits.ts';
import { TRANSFORMS } from './transforms/table.ts';
import { TemplateError } from './types.ts';

export interface Parsed {
  readonly node: Node;
  /** The 0-based offset after the expression and, in a template, after its `}}`. */
  readonly end: number;
}

/** Jexl's precedences: all operators associate to the left, and `&&` and `||` share one precedence. */
const PRECEDENCE: ReadonlyMap<string, number> = new Map([
  ['||', 10],
  ['&&', 10],
  ['==', 20],
  ['!=', 20],
  ['>', 20],
  ['>=', 20],
  ['<', 20],
  ['<=', 20],
  ['in', 20],
  ['+', 30],
  ['-', 30],
  ['*', 40],
  ['/', 40],
  ['//', 40],
  ['%', 50],
  ['^', 50],
]);

const LITERALS: ReadonlyMap<string, boolean | null | undefined> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
  ['undefined', undefined],
]);

const EXPECTED_VALUE = 'a value (a path, a number, a string, "(", "[" or "{")';
const EXPECTED_OPERATOR = 'an operator, "|", "." or the end';
const WORD_OPERATORS: { readonly [word: string]: string } = { and: '"&&"', or: '"||"', is: '"=="', eq: '"=="' };

/** Parses a source that is one expression. A blank source is undefined, as in Jexl. @throws TemplateError */
export function parseSource(source: string): Node {
  if (source.length > MAX_SOURCE_LENGTH) throw tooLong(source.length);
  if (source.trim() === '') return { kind: 'literal', value: undefined, column: 1, height: 1, nodes: 1 };
  return new Parser(source, 0, false).parse().node;
}

/** Parses the expression of a template, from after its `{{` through its `}}`. @throws TemplateError */
export function parseEmbedded(source: string, start: number): Parsed {
  return new Parser(source, start, true).parse();
}

class Parser {
  private readonly source: string;
  private readonly start: number;
  private readonly lexer: Lexer;
  private token: Token;
  private depth = 0;
  /** One entry for each open `[`: whether the expression in it has referred to the element. */
  private readonly filters: boolean[] = [];

  constructor(source: string, start: number, inTemplate: boolean) {
    this.source = source;
    this.start = start;
    this.lexer = new Lexer(source, start, inTemplate);
    this.token = this.lexer.next();
  }

  parse(): Parsed {
    const node = this.expression();
    if (this.token.type !== 'end') throw this.unexpected(EXPECTED_OPERATOR);
    return { node, end: this.token.end };
  }

  /** The lowest precedence: `test ? a : b` and `test ?: b`, which associate to the right. */
  private expression(): Node {
    this.enterLevel();
    let node = this.binary(0).node;
    while (this.isSign('?')) {
      const column = this.token.start + 1;
      this.advance();
      if (this.isSign(':')) {
        this.advance();
        node = this.createNode(column, { kind: 'conditional', test: node, otherwise: this.expression() });
        continue;
      }
      const then = this.expression();
      this.expect(':', '":" and the value for the other case');
      node = this.createNode(column, { kind: 'conditional', test: node, then, otherwise: this.expression() });
    }
    this.depth -= 1;
    return node;
  }

  private binary(minPrecedence: number): { node: Node; grouped: boolean } {
    let { node, grouped } = this.unary();
    for (;;) {
      const { token } = this;
      const precedence = token.type === 'sign' || token.type === 'name' ? PRECEDENCE.get(token.text) : undefined;
      if (precedence === undefined || precedence <= minPrecedence) return { node, grouped };
      this.advance();
      const right = this.binary(precedence).node;
      node = this.createNode(token.start + 1, {
        kind: 'binary',
        operator: token.text as BinaryOperator,
        left: node,
        right,
        leftGrouped: grouped,
      });
      grouped = false;
    }
  }

  private unary(): { node: Node; grouped: boolean } {
    const { token } = this;
    if (!this.isSign('!') && !this.isSign('-')) return this.postfix();
    this.enterLevel();
    this.advance();
    let node: Node;
    if (token.text === '!') {
      node = this.createNode(token.start + 1, { kind: 'not', operand: this.unary().node });
    } else if (this.token.type === 'number') {
      const value = -Number(this.token.text);
      this.advance();
      node = this.suffixes(this.createNode(token.start + 1, { kind: 'literal', value }));
    } else {
      node = this.createNode(token.start + 1, { kind: 'negative', operand: this.unary().node });
    }
    this.depth -= 1;
    return { node, grouped: false };
  }

  private postfix(): { node: Node; grouped: boolean } {
    const grouped = this.isSign('(');
    const operand = this.operand();
    const node = this.suffixes(operand);
    return { node, grouped: grouped && node === operand };
  }

  /** The suffixes of an operand, any number of them: `.name`, `[…]` and `|transform(…)`. */
  private suffixes(operand: Node): Node {
    let node = operand;
    for (;;) {
      const column = this.token.start + 1;
      if (this.isSign('.')) {
        this.advance();
        const name = this.takeName('the name of a member');
        if (this.isSign('(')) throw this.notCallable(name);
        node = this.createNode(column + 1, { kind: 'member', from: node, name });
      } else if (this.isSign('[')) {
        node = this.bracket(node, column);
      } else if (this.isSign('|')) {
        this.advance();
        node = this.transform(node);
      } else {
        return node;
      }
    }
  }

  private bracket(from: Node, column: number): Node {
    this.advance();
    this.filters.push(false);
    const inner = this.expression();
    const relative = this.filters.pop() === true;
    this.expect(']', '"]"');
    return this.createNode(
      column,
      relative ? { kind: 'filter', from, test: inner } : { kind: 'index', from, key: inner },
    );
  }

  private transform(value: Node): Node {
    const column = this.token.start + 1;
    const name = this.takeName('the name of a transform');
    const transform = TRANSFORMS.get(name);
    if (transform === undefined) {
      throw new TemplateError('unknown_transform', `There is no transform "${name}" (column ${column}).`, {
        column,
        expected: `one of ${[...TRANSFORMS.keys()].join(', ')}`,
        source: this.source,
      });
    }
    const args = this.isSign('(') ? this.list('(', ')') : [];
    const [least, most] = transform.arity;
    if (args.length < least || args.length > most) {
      const takes = `${name}${transform.takes}`;
      throw syntaxError(
        this.source,
        column - 1,
        `The transform "${name}" has a wrong number of arguments: ${args.length}.`,
        takes,
      );
    }
    return this.createNode(column, { kind: 'transform', name, value, args });
  }

  private operand(): Node {
    const { token } = this;
    const column = token.start + 1;
    if (token.type === 'string') {
      this.advance();
      return this.createNode(column, { kind: 'literal', value: token.text });
    }
    if (token.type === 'number') {
      this.advance();
      return this.createNode(column, { kind: 'literal', value: Number(token.text) });
    }
    if (token.type === 'name' && token.text !== 'in') return this.nameOrCall(token.text, column);
    if (this.isSign('[')) return this.createNode(column, { kind: 'array', items: this.list('[', ']') });
    if (this.isSign('{')) return this.createNode(column, { kind: 'object', members: this.members() });
    if (this.isSign('(')) {
      this.advance();
      const node = this.expression();
      this.expect(')', '")"');
      return node;
    }
    if (this.isSign('.')) return this.relative(column);
    throw this.unexpected(EXPECTED_VALUE);
  }

  private nameOrCall(name: string, column: number): Node {
    this.advance();
    if (LITERALS.has(name)) return this.createNode(column, { kind: 'literal', value: LITERALS.get(name) });
    if (!this.isSign('(')) return this.createNode(column, { kind: 'root', name });
    if (name !== 'callback') throw this.notCallable(name);
    const [slug, ...more] = this.list('(', ')');
    if (slug?.kind !== 'literal' || typeof slug.value !== 'string' || more.length > 0) {
      throw syntaxError(
        this.source,
        column - 1,
        '"callback" takes one string.',
        "callback('slug of a wait_callback step')",
      );
    }
    return this.createNode(column, { kind: 'callback', slug: slug.value });
  }

  private relative(column: number): Node {
    const filter = this.filters.length - 1;
    if (filter < 0) {
      throw syntaxError(
        this.source,
        column - 1,
        'A path can begin with "." only within the brackets of a filter.',
        'the name of a root or variable before the "."',
      );
    }
    this.filters[filter] = true;
    this.advance();
    return this.createNode(column, { kind: 'relative', name: this.takeName('the name of a member') });
  }

  /** `(a, b)` and `[a, b]`, also empty. */
  private list(open: string, close: string): Node[] {
    this.expect(open, `"${open}"`);
    const items: Node[] = [];
    if (this.isSign(close)) {
      this.advance();
      return items;
    }
    for (;;) {
      items.push(this.expression());
      if (this.isSign(close)) break;
      this.expect(',', `"," or "${close}"`);
    }
    this.advance();
    return items;
  }

  private members(): (readonly [string, Node])[] {
    this.advance();
    const members: (readonly [string, Node])[] = [];
    if (this.isSign('}')) {
      this.advance();
      return members;
    }
    if (this.isSign('{')) {
      const problem = 'Braces within an expression begin an object, not a template.';
      throw syntaxError(this.source, this.token.start - 1, problem, 'the path without braces, or the key of a member');
    }
    for (;;) {
      const key = this.token.type === 'string' ? this.token.text : undefined;
      if (key === undefined) members.push(this.member(this.takeName('the key of a member')));
      else {
        this.advance();
        members.push(this.member(key));
      }
      if (this.isSign('}')) break;
      this.expect(',', '"," or "}"');
    }
    this.advance();
    return members;
  }

  private member(key: string): readonly [string, Node] {
    this.expect(':', '":" and the value of the member');
    return [key, this.expression()];
  }

  private createNode(column: number, shape: Shape): Node {
    let height = 0;
    let nodes = 1;
    for (const child of children(shape)) {
      height = Math.max(height, child.height);
      nodes += child.nodes;
    }
    height += 1;
    if (height > MAX_EXPRESSION_DEPTH) throw this.limitError(column, `deeper than ${MAX_EXPRESSION_DEPTH} levels`);
    if (nodes > MAX_EXPRESSION_NODES) throw this.limitError(column, `of more than ${MAX_EXPRESSION_NODES} parts`);
    // Set one by one: a copy takes twice the time, and definitions have thousands of nodes.
    const node: Shape & { column?: number; height?: number; nodes?: number } = shape;
    node.column = column;
    node.height = height;
    node.nodes = nodes;
    return node as Node;
  }

  /** Bounds the recursion before the stack overflows. */
  private enterLevel(): void {
    this.depth += 1;
    if (this.depth > MAX_EXPRESSION_DEPTH) {
      throw this.limitError(this.token.start + 1, `nested deeper than ${MAX_EXPRESSION_DEPTH} levels`);
    }
  }

  private advance(): void {
    this.token = this.lexer.next();
    if (this.token.end - this.start > MAX_SOURCE_LENGTH) throw tooLong(this.token.end - this.start);
  }

  private isSign(text: string): boolean {
    return this.token.type === 'sign' && this.token.text === text;
  }

  private expect(sign: string, expected: string): void {
    if (!this.isSign(sign)) throw this.unexpected(expected);
    this.advance();
  }

  private takeName(expected: string): string {
    if (this.token.type !== 'name') throw this.unexpected(expected);
    const { text } = this.token;
    this.advance();
    return text;
  }

  private unexpected(expected: string): TemplateError {
    const { token } = this;
    const shown = token.type === 'end' ? token.text : `"${this.source.slice(token.start, token.end).slice(0, 40)}"`;
    const problem =
      token.type === 'end' ? `The expression stops too early, at ${shown}.` : `${shown} cannot stand here.`;
    const wanted =
      expected === EXPECTED_OPERATOR && token.type === 'name' ? (WORD_OPERATORS[token.text] ?? expected) : expected;
    return syntaxError(this.source, token.start, problem, wanted);
  }

  private notCallable(name: string): TemplateError {
    const isTransform = TRANSFORMS.has(name);
    return syntaxError(
      this.source,
      this.token.start,
      `"${name}" cannot be called: there are no functions and no methods but callback('slug').`,
      isTransform ? `a transform: value|${name}` : EXPECTED_OPERATOR,
    );
  }

  private limitError(column: number, what: string): TemplateError {
    return new TemplateError('expression_limit', `The expression is ${what}. Split it, or use a run_code step.`, {
      column,
    });
  }
}

function tooLong(length: number): TemplateError {
  return new TemplateError(
    'expression_limit',
    `The expression has ${length} or more characters; the limit is ${MAX_SOURCE_LENGTH}. Split it, or use run_code.`,
  );
}
