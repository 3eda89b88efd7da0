/** The tree of a parsed expression. It is never stored: an expression is stored as its source and parsed on use. */

export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '//'
  | '%'
  | '^'
  | '=='
  | '!='
  | '>'
  | '>='
  | '<'
  | '<='
  | 'in'
  | '&&'
  | '||';

interface NodeMetrics {
  /** 1-based: of the operand's first character, or of the operator or transform. */
  readonly column: number;
  /** The height of this tree, which is the recursion depth of its evaluation. */
  readonly height: number;
  /** The number of nodes in this tree, which is the cost of its evaluation. */
  readonly nodes: number;
}

export type Node = NodeMetrics & Shape;

/** A node without its column. */
export type Shape =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null | undefined }
  | { readonly kind: 'root'; readonly name: string }
  /** `.name` in a filter: a member of the current element. */
  | { readonly kind: 'relative'; readonly name: string }
  | { readonly kind: 'member'; readonly from: Node; readonly name: string }
  /** `from[key]`, if key does not refer to an element. */
  | { readonly kind: 'index'; readonly from: Node; readonly key: Node }
  /** `from[test]`, if test refers to the element. */
  | { readonly kind: 'filter'; readonly from: Node; readonly test: Node }
  | { readonly kind: 'not' | 'negative'; readonly operand: Node }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Node;
      readonly right: Node;
      /** Whether `left` is in parentheses, for the warning about mixed && and ||. */
      readonly leftGrouped: boolean;
    }
  /** `test ? then : otherwise`, or without `then`: `test ?: otherwise`. */
  | { readonly kind: 'conditional'; readonly test: Node; readonly then?: Node; readonly otherwise: Node }
  | { readonly kind: 'array'; readonly items: readonly Node[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Node])[] }
  | { readonly kind: 'transform'; readonly name: string; readonly value: Node; readonly args: readonly Node[] }
  /** `callback('slug')`, the only function. It is never evaluated. */
  | { readonly kind: 'callback'; readonly slug: string };

/** The child nodes. */
export function children(node: Shape): readonly Node[] {
  switch (node.kind) {
    case 'literal':
    case 'root':
    case 'relative':
    case 'callback':
      return [];
    case 'member':
      return [node.from];
    case 'index':
      return [node.from, node.key];
    case 'filter':
      return [node.from, node.test];
    case 'not':
    case 'negative':
      return [node.operand];
    case 'binary':
      return [node.left, node.right];
    case 'conditional':
      return node.then === undefined ? [node.test, node.otherwise] : [node.test, node.then, node.otherwise];
    case 'array':
      return node.items;
    case 'object':
      return node.members.map(([, value]) => value);
    case 'transform':
      return [node.value, ...node.args];
  }
}
