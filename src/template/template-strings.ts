/**
 * Strings that may contain `{{ expression }}`. The parser finds the end of an expression, so that objects and strings
 * with braces work, and `{{ '{{' }}` writes two braces. Mustache's `{{{ x }}}` and `{{& x }}` mean `{{ x }}`, since
 * nothing is escaped here. Its sections, partials and comments are errors.
 */
import { type Expression, expressionOf } from './expression.ts';
import { type Parsed, parseEmbedded } from './parser.ts';
import { startColumn } from './path.ts';
import { type Placeholder, placeholderNotAllowed, placeholderOf, rejectPlaceholders } from './placeholders.ts';
import { TemplateError } from './types.ts';

interface PlaceholderPart {
  readonly kind: 'placeholder';
  readonly placeholder: Placeholder;
  /** 1-based, in the string. */
  readonly column: number;
}

export type TemplatePart = string | Expression | PlaceholderPart;

/** The placeholders that a string may contain. */
export interface AllowedPlaceholders {
  readonly secrets: boolean;
  readonly callbacks: boolean;
}

/** The parts of a string in order, without empty ones; undefined if it has no template. @throws TemplateError */
export function parseTemplateString(text: string, allowed: AllowedPlaceholders): readonly TemplatePart[] | undefined {
  let open = text.indexOf('{{');
  if (open < 0) return undefined;
  const parts: TemplatePart[] = [];
  let from = 0;
  while (open >= 0) {
    if (open > from) parts.push(text.slice(from, open));
    const { part, end } = parseBlock(text, open, allowed);
    parts.push(part);
    from = end;
    open = text.indexOf('{{', from);
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

function parseBlock(text: string, open: number, allowed: AllowedPlaceholders): { part: TemplatePart; end: number } {
  const start = open + (text.charAt(open + 2) === '&' ? 3 : 2);
  const { node, end } = parseBraces(text, start);
  const placeholder = placeholderOf(node);
  if (placeholder === undefined) {
    rejectPlaceholders(node, text);
    return { part: expressionOf(node, text.slice(start, end - 2).trim()), end };
  }
  const column = startColumn(node);
  const isAllowed = 'secret' in placeholder ? allowed.secrets : allowed.callbacks;
  if (!isAllowed) throw placeholderNotAllowed('secret' in placeholder ? 'A secret' : 'A callback', column, text);
  return { part: { kind: 'placeholder', placeholder, column }, end };
}

/** `{{{ x }}}` is an object if it parses as one, else Mustache's unescaped value. */
function parseBraces(text: string, start: number): Parsed {
  try {
    return parseEmbedded(text, start);
  } catch (error) {
    if (text.charAt(start) !== '{' || !(error instanceof TemplateError)) throw error;
    const unescaped = tryParse(() => parseEmbedded(text, start + 1));
    if (unescaped === undefined || text.charAt(unescaped.end) !== '}') throw error;
    return { node: unescaped.node, end: unescaped.end + 1 };
  }
}

function tryParse(parse: () => Parsed): Parsed | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}
