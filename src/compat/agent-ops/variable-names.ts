/**
 * Converts the names of agent-ops, which are outputs or variables of the run (from its input, else the default).
 * They can contain hyphens, which an expression reads as minus, so that declared names are converted to another
 * notation.
 */

import { isRoot } from '../../definition/document/roots.ts';
import { mapTextsAndKeys } from '../../definition/import/import-context.ts';
import { type RootChange, rewriteExpression, rewriteTemplates } from '../../definition/import/rewrite-paths.ts';
import { unwrapTemplates } from '../../definition/import/unwrap-templates.ts';
import type { Json } from '../../json/json.ts';
import { MAX_SOURCE_LENGTH } from '../../template/limits.ts';

/** The declared names of a document. */
interface DeclaredNames {
  readonly variables: ReadonlySet<string>;
  /** The variables that have a default. */
  readonly defaults: ReadonlySet<string>;
  readonly outputs: ReadonlySet<string>;
}

const HYPHENED_NAME = /^[A-Za-z_$][\w$]*(?:-[\w$]+)+$/;
const PLAIN = /^[A-Za-z_$][\w$]*$/;
/** A path of names with hyphens, such as `my-var.some-key`, which is not a subtraction. */
const HYPHENED_PATH = /^[A-Za-z_$][\w$]*(?:-[\w$]+)*(?:\.[A-Za-z_$][\w$]*(?:-[\w$]+)*)*$/;
/** A name with hyphens, after an optional dot. */
const HYPHENED = /(?<![\w$.-])(?:(variables|outputs)\.)?([A-Za-z_$][\w$]*(?:-[A-Za-z_$\d][\w$]*)+)(?![\w$-])/g;

export class AgentOpsNames {
  private readonly declared: DeclaredNames;
  /** Declared names that have hyphens. */
  private readonly hyphened: ReadonlySet<string>;
  /** The most hyphenated parts of a declared name. */
  private readonly maxParts: number;

  constructor(declared: DeclaredNames) {
    this.declared = declared;
    this.hyphened = new Set([...declared.variables, ...declared.outputs].filter((name) => HYPHENED_NAME.test(name)));
    this.maxParts = [...this.hyphened].reduce((most, name) => Math.max(most, name.split('-').length), 0);
  }

  /** An expression, with or without templates. */
  expression(source: string): string {
    return rewriteExpression(this.spellHyphened(unwrapTemplates(source)), this.change);
  }

  /** `{variable: path}`, which is always a path, even with hyphens. */
  path(variable: string): string {
    const path = variable.trim();
    if (!path.includes('-') || !HYPHENED_PATH.test(path)) return this.expression(variable);
    const [root = '', ...members] = path.split('.');
    const first = root.includes('-') ? this.variablePath(root) : root;
    return rewriteExpression(first + members.map(member).join(''), this.change);
  }

  templates(value: Json): Json {
    const spelt =
      this.hyphened.size === 0
        ? value
        : mapTextsAndKeys(value, (text) => inBlocks(text, (inner) => this.spellHyphened(inner)));
    return rewriteTemplates(spelt, this.change);
  }

  private readonly change: RootChange = ({ root, path }) => {
    const [name] = path;
    const { outputs } = this.declared;
    if (root === 'variables' && typeof name === 'string' && !outputs.has(name))
      return { rootAndMember: this.variable(name) };
    if (isRoot(root)) return undefined;
    return outputs.has(root) ? `outputs.${root}` : this.variable(root);
  };

  /** Replaces names with hyphens. Called before roots are changed. */
  private variablePath(name: string): string {
    return `${this.declared.outputs.has(name) ? 'outputs' : 'variables'}${member(name)}`;
  }

  private variable(name: string): string {
    const given = `input${member(name)}`;
    return this.declared.defaults.has(name) ? `(${given} == undefined ? variables${member(name)} : ${given})` : given;
  }

  private spellHyphened(expression: string): string {
    // The checker reports an expression that is too long.
    if (this.hyphened.size === 0 || expression.length > MAX_SOURCE_LENGTH) return expression;
    return outsideQuotes(expression, (part) =>
      part.replace(
        HYPHENED,
        (written, root: string | undefined, name: string) => this.longestDeclared(name, root) ?? written,
      ),
    );
  }

  /** The longest declared name at the begin: `a-b-c` can be `a-b` minus c. */
  private longestDeclared(written: string, root: string | undefined): string | undefined {
    const parts = written.split('-', this.maxParts);
    for (; parts.length > 1; parts.pop()) {
      const name = parts.join('-');
      if (!this.hyphened.has(name)) continue;
      return (root === undefined ? this.variablePath(name) : root + member(name)) + written.slice(name.length);
    }
    return undefined;
  }
}

/** Changes the parts outside of quoted texts. */
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

/** Changes the parts between braces. */
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
