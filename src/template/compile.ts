/** Compiles a tree to closures: each node becomes one function, so that evaluation does not walk the tree. */
import { setOwn } from '../json/json.ts';
import type { Node } from './ast.ts';
import { chargeWork, type Evaluation, evaluationError } from './evaluation.ts';
import { readIndex, readMember, walkPath } from './member-access.ts';
import { add, compare, contains, looselyEqual, type Ordering, toNumber } from './operators.ts';
import { pathText } from './path.ts';
import { isoTime } from './time.ts';
import { TRANSFORMS } from './transforms/table.ts';

export type Evaluator = (evaluation: Evaluation) => unknown;

/** The closure of a tree. It throws on `callback` and `secrets`, which templates remove before. */
export function compileExpression(node: Node): Evaluator {
  switch (node.kind) {
    case 'literal': {
      const { value } = node;
      return () => value;
    }
    case 'root':
      return compileRoot(node.name);
    case 'relative': {
      const { name } = node;
      return (evaluation) => readMember(evaluation.element, name);
    }
    case 'member':
      return compileMembers(node);
    case 'index': {
      const from = compileExpression(node.from);
      const key = compileExpression(node.key);
      return (evaluation) => readIndex(from(evaluation), key(evaluation));
    }
    case 'filter':
      return compileFilter(compileExpression(node.from), compileExpression(node.test), node.test.nodes);
    case 'not': {
      const operand = compileExpression(node.operand);
      return (evaluation) => !operand(evaluation);
    }
    case 'negative': {
      const operand = compileExpression(node.operand);
      return (evaluation) => -toNumber(operand(evaluation), evaluation);
    }
    case 'binary':
      return compileBinary(node);
    case 'conditional': {
      const test = compileExpression(node.test);
      const then = node.then === undefined ? undefined : compileExpression(node.then);
      const otherwise = compileExpression(node.otherwise);
      if (then === undefined) return (evaluation) => test(evaluation) || otherwise(evaluation);
      return (evaluation) => (test(evaluation) ? then(evaluation) : otherwise(evaluation));
    }
    case 'array': {
      const items = node.items.map(compileExpression);
      return (evaluation) => items.map((item) => item(evaluation));
    }
    case 'object':
      return compileObject(node.members.map(([name, value]) => [name, compileExpression(value)] as const));
    case 'transform':
      return compileTransform(node);
    case 'callback':
      return (evaluation) => {
        throw evaluationError(evaluation, 'secret_not_allowed', "callback('…') must stand alone in the braces.");
      };
  }
}

/** A chain of members is one path, since names may contain dots. */
function compileMembers(last: Node): Evaluator {
  const names: string[] = [];
  let node = last;
  for (; node.kind === 'member'; node = node.from) names.unshift(node.name);
  if (node.kind === 'relative') {
    names.unshift(node.name);
    return (evaluation) => walkPath(evaluation.element, names, readMember);
  }
  const from = compileExpression(node);
  return (evaluation) => walkPath(from(evaluation), names, readMember);
}

/** The run's clock. A scope cannot override it. */
function compileRoot(name: string): Evaluator {
  if (name === 'now') return (evaluation) => isoTime(evaluation.now);
  if (name === 'nowMs') return (evaluation) => evaluation.now;
  return (evaluation) => evaluation.scope.root(name);
}

function compileFilter(from: Evaluator, test: Evaluator, cost: number): Evaluator {
  return (evaluation) => {
    const subject = from(evaluation);
    if (subject === undefined || subject === null) return [];
    const elements: readonly unknown[] = Array.isArray(subject) ? subject : [subject];
    chargeWork(evaluation, elements.length * cost);
    const outer = evaluation.element;
    const kept: unknown[] = [];
    for (const element of elements) {
      evaluation.element = element;
      if (test(evaluation)) kept.push(element);
    }
    evaluation.element = outer;
    return kept;
  };
}

function compileObject(members: readonly (readonly [string, Evaluator])[]): Evaluator {
  return (evaluation) => {
    const object: { [key: string]: unknown } = {};
    for (const [name, value] of members) setOwn(object, name, value(evaluation));
    return object;
  };
}

function compileTransform(node: Extract<Node, { kind: 'transform' }>): Evaluator {
  const apply = TRANSFORMS.get(node.name)?.apply;
  if (apply === undefined) throw new TypeError(`The parser let the transform ${node.name} pass.`);
  const value = compileExpression(node.value);
  const args = node.args.map(compileExpression);
  const { column } = node;
  return (evaluation) => {
    const given = value(evaluation);
    const values = args.map((arg) => arg(evaluation));
    evaluation.column = column;
    return apply(given, values, evaluation);
  };
}

function compileBinary(node: Extract<Node, { kind: 'binary' }>): Evaluator {
  const left = compileExpression(node.left);
  const right = compileExpression(node.right);
  const { operator, column } = node;
  switch (operator) {
    case '&&':
      return (evaluation) => left(evaluation) && right(evaluation);
    case '||':
      return (evaluation) => left(evaluation) || right(evaluation);
    case '==':
    case '!=': {
      const wanted = operator === '==';
      return (evaluation) => looselyEqual(left(evaluation), right(evaluation), evaluation) === wanted;
    }
    case 'in':
      return (evaluation) => {
        const needle = left(evaluation);
        const haystack = right(evaluation);
        evaluation.column = column;
        return contains(haystack, needle, evaluation);
      };
    case '+': {
      const names = { left: pathText(node.left), right: pathText(node.right) };
      return (evaluation) => {
        const a = left(evaluation);
        const b = right(evaluation);
        evaluation.column = column;
        return add(a, b, evaluation, names);
      };
    }
    case '>':
    case '>=':
    case '<':
    case '<=':
      return compileOrdering(left, operator, right);
    default:
      return compileArithmetic(left, operator, right);
  }
}

function compileOrdering(left: Evaluator, operator: Ordering, right: Evaluator): Evaluator {
  return (evaluation) => compare(left(evaluation), operator, right(evaluation), evaluation);
}

function compileArithmetic(left: Evaluator, operator: '-' | '*' | '/' | '//' | '%' | '^', right: Evaluator): Evaluator {
  const calculate = ARITHMETIC[operator];
  return (evaluation) => calculate(toNumber(left(evaluation), evaluation), toNumber(right(evaluation), evaluation));
}

const ARITHMETIC = {
  '-': (a: number, b: number) => a - b,
  '*': (a: number, b: number) => a * b,
  '/': (a: number, b: number) => a / b,
  '//': (a: number, b: number) => Math.floor(a / b),
  '%': (a: number, b: number) => a % b,
  '^': (a: number, b: number) => a ** b,
};
