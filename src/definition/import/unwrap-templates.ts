/**
 * Converts expressions of tale that contain templates: `{{ x }}` and the quoted `"{{ x }}"` become `x`, and
 * text around a template within quotes is joined to it.
 */
import { MAX_SOURCE_LENGTH } from '../../template/limits.ts';
import { parseEmbedded } from '../../template/parser.ts';

/** The most braces that begin no template. The checker reports expressions with more of them. */
const MAX_FAILED_BLOCKS = 100;

interface ScanState {
  readonly source: string;
  failedBlocks: number;
}

interface Block {
  /** The text between the braces. */
  readonly inner: string;
  /** The 0-based offset after the `}}`. */
  readonly end: number;
}

export function unwrapTemplates(source: string): string {
  // The checker reports an expression that is too long.
  if (!source.includes('{{') || source.length > MAX_SOURCE_LENGTH) return source;
  const state: ScanState = { source, failedBlocks: 0 };
  const end = source.trimEnd().length;
  let result = '';
  // From left to right, so that a quote that closes a text is not taken for one that opens a text.
  for (let at = 0; at < source.length; ) {
    const character = source.charAt(at);
    const block = blockAt(state, at);
    if (block !== undefined) {
      result += parenthesized(block.inner, block.end === end && result.trim() === '');
      at = block.end;
    } else if (character === '"' || character === "'") {
      const text = unwrapQuoted(state, at, character);
      result += text.plain;
      at = text.end;
    } else {
      result += character;
      at += 1;
    }
  }
  return result;
}

/** A quoted text: its templates and the texts around them. */
function unwrapQuoted(state: ScanState, start: number, quote: string): { plain: string; end: number } {
  const { source } = state;
  const pieces: string[] = [];
  let hasBlocks = false;
  let from = start + 1;
  let at = from;
  const close = (): void => {
    if (at > from) pieces.push(quote + source.slice(from, at) + quote);
  };
  while (at < source.length && source.charAt(at) !== quote) {
    const block = blockAt(state, at, quote);
    if (block === undefined) {
      at += source.charAt(at) === '\\' ? 2 : 1;
      continue;
    }
    close();
    hasBlocks = true;
    pieces.push(parenthesized(block.inner, false));
    at = block.end;
    from = at;
  }
  // The checker reports a text that is not closed.
  if (at >= source.length) return { plain: source.slice(start), end: source.length };
  close();
  const end = at + 1;
  if (!hasBlocks) return { plain: source.slice(start, end), end };
  return { plain: pieces.length === 1 ? (pieces[0] ?? '') : `(${pieces.join(' + ')})`, end };
}

/**
 * The template that begins here, if any. If it is not an expression, it ends at its first braces within the quoted
 * text.
 */
function blockAt(state: ScanState, start: number, quote?: string): Block | undefined {
  const { source } = state;
  if (state.failedBlocks > MAX_FAILED_BLOCKS || !source.startsWith('{{', start)) return undefined;
  let end: number;
  try {
    end = parseEmbedded(source, start + 2).end;
  } catch {
    state.failedBlocks += 1;
    const braces = source.indexOf('}}', start + 2);
    const limit = quote === undefined ? source.length : closingQuote(source, start, quote);
    if (braces < 0 || braces >= limit) return undefined;
    end = braces + 2;
  }
  return { inner: source.slice(start + 2, end - 2).trim(), end };
}

function closingQuote(source: string, from: number, quote: string): number {
  const at = source.indexOf(quote, from);
  return at < 0 ? source.length : at;
}

function parenthesized(inner: string, isWhole: boolean): string {
  const isPath = /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*|\[(\d+|"[^"]*"|'[^']*')\])*$/.test(inner);
  return isWhole || isPath ? inner : `(${inner})`;
}
