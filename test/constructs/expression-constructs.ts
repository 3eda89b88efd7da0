/** The constructs that expressions and templates use, with the types of what they meet, and what comes of them. */
import { type Json, typeName } from '../../src/json/json.ts';
import { children, type Node } from '../../src/template/ast.ts';
import { evaluate, expressionOf, parseExpression } from '../../src/template/expression.ts';
import { objectScope } from '../../src/template/scope.ts';
import { parseTemplate, render, type TemplateNode } from '../../src/template/template.ts';
import { TemplateError } from '../../src/template/types.ts';
import { NOW } from '../template/evaluate.ts';

/** Undefined: nothing is evaluated, and no type is known. */
type Context = { readonly [name: string]: unknown } | undefined;

const typeOf = (value: unknown): string => (value === undefined ? 'nothing' : typeName(value as Json));

/** The type of what a part of an expression gives. Within a filter, what depends on the element is not evaluated. */
function typeOfNode(node: Node, context: Context): string {
  if (context === undefined) return 'a value';
  if (reads(node, 'relative')) return 'of an element';
  try {
    return typeOf(evaluate(expressionOf(node, ''), objectScope(context), { now: NOW }));
  } catch (error) {
    if (error instanceof TemplateError) return 'an error';
    throw error;
  }
}

const reads = (node: Node, kind: Node['kind']): boolean =>
  node.kind === kind || children(node).some((child) => reads(child, kind));

function* ofNode(node: Node, context: Context): Iterable<string> {
  const type = (one: Node) => typeOfNode(one, context);
  switch (node.kind) {
    case 'literal':
      yield `literal ${typeOf(node.value)}`;
      break;
    case 'binary':
      yield `${type(node.left)} ${node.operator} ${type(node.right)}`;
      for (const [side, operand] of [
        ['left', node.left],
        ['right', node.right],
      ] as const)
        if (operand.kind === 'binary') yield `${operand.operator} at the ${side} of ${node.operator}`;
      break;
    case 'conditional':
      yield `${node.then === undefined ? '?:' : '? :'} of ${type(node.test)}`;
      break;
    case 'transform':
      yield `${[type(node.value), ...node.args.map(type)].join(', ')} | ${node.name}`;
      break;
    case 'member':
      yield `member${node.name === 'length' ? ' length' : ''} of ${type(node.from)}`;
      break;
    case 'index':
      yield `${type(node.key)} in brackets of ${type(node.from)}`;
      break;
    case 'array':
    case 'object':
      yield `${node.kind} of ${Math.min(children(node).length, 2)}`;
      break;
    case 'not':
    case 'negative':
      yield `${node.kind} of ${type(node.operand)}`;
      break;
    default:
      yield node.kind;
  }
  for (const child of children(node)) yield* ofNode(child, context);
}

function* tried(name: string, act: () => Iterable<string>): Iterable<string> {
  try {
    yield* act();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const { code, expected } = error;
    yield `${name}: ${code}${code === 'expression_syntax' ? `: expected ${expected}` : ''}`;
  }
}

/** How the parts of an expression are spelt. */
const SPELLINGS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['blank', /^\s*$/],
  ['line breaks and tabs', /[\r\n\t]/],
  ['text in "', /"/],
  ["text in '", /'/],
  ['quote after \\', /\\["']/],
  ['\\ after \\', /\\\\/],
  ['letter after \\', /\\[a-z]/],
  ['fraction', /\d\.\d/],
  ['minus of a number', /(^|[^\w)\]\s]\s*)-\d/],
  ['name with _', /\b_?[a-z]+_\w/i],
  ['name with $', /\$\w|\w\$/],
  ['name with digits', /[a-z]\d/i],
  ['name in other letters', /[^\p{ASCII}]/u],
  ['parentheses', /\(/],
  ['transform after a transform', /\|\w+(\([^)]*\))?\|/],
  ['transform without arguments in parentheses', /\|\w+\(\)/],
];

export function* ofExpression(source: string, context: Context): Iterable<string> {
  for (const [name, pattern] of SPELLINGS) if (pattern.test(source)) yield `spelt: ${name}`;
  yield* tried('expression', function* () {
    const expression = parseExpression(source);
    yield* ofNode(expression.node, context);
    if (context !== undefined) yield `gives ${typeOf(evaluate(expression, objectScope(context), { now: NOW }))}`;
  });
}

function* ofTemplateNode(node: TemplateNode, context: Context): Iterable<string> {
  if (node.kind === 'constant') yield `constant ${typeName(node.value)}`;
  else if (node.kind === 'array') for (const item of node.items) yield* ofTemplateNode(item, context);
  else if (node.kind === 'object')
    for (const { key, value } of node.members) {
      if (typeof key !== 'string') yield 'template as a key';
      yield* ofTemplateNode(value, context);
    }
  else {
    const isWhole = node.parts.length === 1;
    for (const part of node.parts) {
      if (typeof part === 'string') {
        if (part.trim() === '') yield 'blank text beside a template';
        continue;
      }
      if (part.kind === 'placeholder') yield `placeholder ${Object.keys(part.placeholder).join()}`;
      else {
        yield `${isWhole ? 'whole' : 'mixed'} template of ${typeOfNode(part.node, context)}`;
        yield* ofNode(part.node, context);
      }
    }
    if (node.parts.filter((part) => typeof part !== 'string').length > 1) yield 'several templates in a text';
    if (node.text.includes('{{{')) yield 'three braces';
    if (node.text.includes('{{&')) yield '{{&';
  }
}

export function* ofTemplate(template: Json, context: Context): Iterable<string> {
  yield* tried('template', function* () {
    const parsed = parseTemplate(template, { secrets: true });
    yield* ofTemplateNode(parsed.root, context);
    if (context !== undefined) yield `gives ${typeName(render(parsed, objectScope(context), { now: NOW }).value)}`;
  });
}
