/**
 * What names in document 002 mean: an output, or a variable of the run (what the run was given, else the default). They may
 * hold hyphens, which an expression would take for minus: names that are declared are written so that it does not.
 */
import { MAX_SOURCE_LENGTH } from '../template/limits.ts';
import type { Json } from '../template/types.ts';
import { mapTexts } from './imported.ts';
import { type RootChange, rewriteExpression, rewriteTemplates } from './rewrite.ts';
import { isRoot } from './roots.ts';
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
const QUOTED = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')/;

export class Names002 {
  private readonly around: Surroundings;
  /** Declared names that have hyphens, with what may stand before them. */
  private readonly hyphened: RegExp | undefined;

  constructor(around: Surroundings) {
    this.around = around;
    // The longest first: `a-b-c` is not `a-b` less c.
    const names = [...around.variables, ...around.outputs]
      .filter((name) => HYPHENED_NAME.test(name))
      .sort((a, b) => b.length - a.length)
      .map((name) => name.replaceAll('$', '\\$'));
    if (names.length > 0)
      this.hyphened = new RegExp(`(?<![\\w$.-])(?:(variables|outputs)\\.)?(${names.join('|')})(?![\\w$-])`, 'g');
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
      this.hyphened === undefined ? value : mapTexts(value, (text) => inBlocks(text, (inner) => this.spelt(inner)));
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
    const { hyphened } = this;
    // Longer than any expression may be: the checker says so.
    if (hyphened === undefined || expression.length > MAX_SOURCE_LENGTH) return expression;
    return expression
      .split(QUOTED)
      .map((part, index) =>
        index % 2 === 1
          ? part
          : part.replace(hyphened, (_, root: string | undefined, name: string) =>
              root === undefined ? this.read(name) : root + member(name),
            ),
      )
      .join('');
  }
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
