/**
 * What names in document 002 mean: an output, or a variable of the run (what the run was given, else the default). They may
 * hold hyphens, which an expression would take for minus: names that are declared are written so that it does not.
 */
import type { Json } from '../../json/json.ts';
import { MAX_SOURCE_LENGTH } from '../../template/limits.ts';
import { isRoot } from '../document/roots.ts';
import { mapTexts } from './imported.ts';
import { type RootChange, rewriteExpression, rewriteTemplates } from './rewrite.ts';
import { withoutBraces } from './without-braces.ts';

/** What the names in a document may mean. */
export interface Surroundings {
  readonly variables: ReadonlySet<string>;
  /** Of the variables, those that have a default. */
  readonly defaults: ReadonlySet<string>;
  readonly outputs: ReadonlySet<string>;
}

const HYPHENED_NAME = /^[A-Za-z_$][\w$]*(?:-[\w$]+)+$/;
const PLAIN = /^[A-Za-z_$][\w$]*$/;
/** A path of names with hyphens in them, such as `my-var.some-key`: nothing would be taken from anything here. */
const HYPHENED_PATH = /^[A-Za-z_$][\w$]*(?:-[\w$]+)*(?:\.[A-Za-z_$][\w$]*(?:-[\w$]+)*)*$/;
/** A name with hyphens, and what it may be a member of. */
const HYPHENED = /(?<![\w$.-])(?:(variables|outputs)\.)?([A-Za-z_$][\w$]*(?:-[A-Za-z_$\d][\w$]*)+)(?![\w$-])/g;

export class Names002 {
  private readonly around: Surroundings;
  /** Declared names that have hyphens. */
  private readonly hyphened: ReadonlySet<string>;
  /** The most parts that one of them has. */
  private readonly parts: number;

  constructor(around: Surroundings) {
    this.around = around;
    this.hyphened = new Set([...around.variables, ...around.outputs].filter((name) => HYPHENED_NAME.test(name)));
    this.parts = [...this.hyphened].reduce((most, name) => Math.max(most, name.split('-').length), 0);
  }

  /** An expression, templates in it or not. */
  expression(source: string): string {
    return rewriteExpression(this.spelt(withoutBraces(source)), this.change);
  }

  /** `{variable: path}`: always a path, whatever hyphens it has. */
  path(variable: string): string {
    const path = variable.trim();
    if (!path.includes('-') || !HYPHENED_PATH.test(path)) return this.expression(variable);
    const [root = '', ...members] = path.split('.');
    const first = root.includes('-') ? this.read(root) : root;
    return rewriteExpression(first + members.map(member).join(''), this.change);
  }

  templates(value: Json): Json {
    const spelt =
      this.hyphened.size === 0 ? value : mapTexts(value, (text) => inBlocks(text, (inner) => this.spelt(inner)));
    return rewriteTemplates(spelt, this.change);
  }

  private readonly change: RootChange = ({ root, path }) => {
    const [name] = path;
    const { outputs } = this.around;
    if (root === 'variables' && typeof name === 'string' && !outputs.has(name))
      return { rootAndMember: this.variable(name) };
    if (isRoot(root)) return undefined;
    return outputs.has(root) ? `outputs.${root}` : this.variable(root);
  };

  /** Before roots are changed: what stands for a name with hyphens. */
  private read(name: string): string {
    return `${this.around.outputs.has(name) ? 'outputs' : 'variables'}${member(name)}`;
  }

  private variable(name: string): string {
    const given = `input${member(name)}`;
    return this.around.defaults.has(name) ? `(${given} == undefined ? variables${member(name)} : ${given})` : given;
  }

  private spelt(expression: string): string {
    // Longer than any expression may be: the checker says so.
    if (this.hyphened.size === 0 || expression.length > MAX_SOURCE_LENGTH) return expression;
    return outsideQuotes(expression, (part) =>
      part.replace(HYPHENED, (written, root: string | undefined, name: string) => this.spelling(name, root) ?? written),
    );
  }

  /** The longest declared name that this begins with: `a-b-c` may be `a-b` less c. */
  private spelling(written: string, root: string | undefined): string | undefined {
    const parts = written.split('-', this.parts);
    for (; parts.length > 1; parts.pop()) {
      const name = parts.join('-');
      if (!this.hyphened.has(name)) continue;
      return (root === undefined ? this.read(name) : root + member(name)) + written.slice(name.length);
    }
    return undefined;
  }
}

/** What stands in no quoted text changed. */
function outsideQuotes(expression: string, change: (part: string) => string): string {
  let result = '';
  let from = 0;
  for (let at = 0; at < expression.length; at++) {
    const quote = expression.charAt(at);
    if (quote !== '"' && quote !== "'") continue;
    result += change(expression.slice(from, at));
    from = at;
    for (at++; at < expression.length && expression.charAt(at) !== quote; at++)
      if (expression.charAt(at) === '\\') at++;
    result += expression.slice(from, at + 1);
    from = at + 1;
  }
  return result + change(expression.slice(from));
}

/** What stands between braces changed. */
function inBlocks(text: string, change: (inner: string) => string): string {
  let result = '';
  let from = 0;
  for (let at = text.indexOf('{{'); at >= 0; at = text.indexOf('{{', from)) {
    const end = text.indexOf('}}', at);
    if (end < 0) break;
    result += `${text.slice(from, at)}{{${change(text.slice(at + 2, end))}}}`;
    from = end + 2;
  }
  return result + text.slice(from);
}

function member(name: string): string {
  return PLAIN.test(name) ? `.${name}` : `['${name.replaceAll(/[\\']/g, '\\$&')}']`;
}
