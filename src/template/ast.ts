/** The tree of a parsed expression. It is never stored: an expression is kept as its source and parsed where it is used. */

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

interface Placed {
  /** 1-based: of the operand's first character, or of the operator or transform. */
  readonly column: number;
  /** Height of the tree below, this node included: what evaluating it recurses. */
  readonly height: number;
  /** Nodes of the tree below, this node included: what evaluating it costs. */
  readonly nodes: number;
}

export type Node = Placed & Shape;

/** A node without its place. */
export type Shape =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null | undefined }
  | { readonly kind: 'root'; readonly name: string }
  /** `.name` in a filter: of the element that is looked at. */
  | { readonly kind: 'relative'; readonly name: string }
  | { readonly kind: 'member'; readonly from: Node; readonly name: string }
  /** `from[key]` where key mentions no element. */
  | { readonly kind: 'index'; readonly from: Node; readonly key: Node }
  /** `from[test]` where test mentions the element. */
  | { readonly kind: 'filter'; readonly from: Node; readonly test: Node }
  | { readonly kind: 'not' | 'negative'; readonly operand: Node }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Node;
      readonly right: Node;
      /** Whether `left` stands in parentheses, for the warning about mixed && and ||. */
      readonly leftGrouped: boolean;
    }
  /** `test ? then : otherwise`; without `then` it is `test ?: otherwise`. */
  | { readonly kind: 'conditional'; readonly test: Node; readonly then?: Node; readonly otherwise: Node }
  | { readonly kind: 'array'; readonly items: readonly Node[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Node])[] }
  | { readonly kind: 'transform'; readonly name: string; readonly value: Node; readonly args: readonly Node[] }
  /** `callback('slug')`, the one function; it never evaluates. */
  | { readonly kind: 'callback'; readonly slug: string };

/** The nodes directly below. */
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
