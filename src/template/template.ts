/**
 * Templates: JSON values whose strings, keys included, may contain `{{ expression }}` (LANGUAGE.md §4). A template is
 * parsed once and rendered any number of times. The result is never parsed again: braces in data stay text.
 */

import { MAX_NESTING } from '../json/depth.ts';
import { type Json, setOwn } from '../json/json.ts';
import { childPointer } from '../json/pointer.ts';
import { toText } from './clean-json.ts';
import {
  addToMeter,
  beginEvaluation,
  chargeSize,
  chargeString,
  type Evaluation,
  evaluationError,
} from './evaluation.ts';
import { type Expression, evaluateWithin, withSource } from './expression.ts';
import { pathText, startColumn } from './path.ts';
import { type AllowedPlaceholders, parseTemplateString, type TemplatePart } from './template-strings.ts';
import { type EvaluateOptions, type Rendered, type Scope, type SecretString, TemplateError } from './types.ts';

export interface TemplateOptions {
  /** Whether its values may contain `{{ secrets.NAME }}`. Default: false. */
  readonly secrets?: boolean;
  /** Whether its values may contain `{{ callback('slug') }}`. Default: as `secrets`. */
  readonly callbacks?: boolean;
}

export interface Template {
  readonly kind: 'template';
  readonly root: TemplateNode;
}

export interface TextNode {
  readonly kind: 'text';
  readonly text: string;
  /** JSON pointer of the string; for a key, of its member. */
  readonly pointer: string;
  readonly parts: readonly TemplatePart[];
}

export type TemplateNode =
  | { readonly kind: 'constant'; readonly value: Json }
  | TextNode
  | { readonly kind: 'array'; readonly items: readonly TemplateNode[] }
  | { readonly kind: 'object'; readonly members: readonly TemplateMember[] };

interface TemplateMember {
  readonly key: string | TextNode;
  readonly value: TemplateNode;
  readonly pointer: string;
}

/** Parses a template. @throws TemplateError with the JSON pointer of the wrong string, relative to `value`. */
export function parseTemplate(value: Json, options: TemplateOptions = {}): Template {
  const secrets = options.secrets ?? false;
  return { kind: 'template', root: parseNode(value, '', { secrets, callbacks: options.callbacks ?? secrets }, 0) };
}

/** Whether the template does not depend on a scope, so that rendering returns the value itself. */
export function isConstant(template: Template): boolean {
  return template.root.kind === 'constant';
}

/**
 * Renders a template. A string that is one template keeps the type of its value, or is null without a value. A string
 * that mixes text and templates joins their texts. `secrets` lists the strings with secrets or callbacks, which have a
 * harmless text in the value. Parts of the scope and of the template are returned without a copy, and must not be
 * changed.
 * @throws TemplateError as `evaluate`, and `unresolved_reference` if a key or a part of a mixed string has no value.
 */
export function render(template: Template, scope: Scope, options: EvaluateOptions): Rendered {
  const rendering: Rendering = { evaluation: beginEvaluation(scope, options), secrets: [], path: [] };
  try {
    return { value: renderNode(template.root, rendering), secrets: rendering.secrets };
  } finally {
    addToMeter(rendering.evaluation, options);
  }
}

function parseNode(value: Json, pointer: string, allowed: AllowedPlaceholders, depth: number): TemplateNode {
  if (typeof value === 'string') return parseText(value, pointer, allowed) ?? { kind: 'constant', value };
  if (typeof value !== 'object' || value === null) return { kind: 'constant', value };
  if (depth >= MAX_NESTING) {
    const message = `The template is nested deeper than ${MAX_NESTING} levels. Make it flatter.`;
    throw new TemplateError('expression_limit', message, { pointer });
  }
  if (Array.isArray(value)) {
    const items = value.map((item, i) => parseNode(item, childPointer(pointer, i), allowed, depth + 1));
    return items.every(isConstantNode) ? { kind: 'constant', value } : { kind: 'array', items };
  }
  const members = Object.entries(value).map(([key, member]): TemplateMember => {
    const at = childPointer(pointer, key);
    const keyNode = parseText(key, at, NO_PLACEHOLDERS) ?? key;
    return { key: keyNode, value: parseNode(member, at, allowed, depth + 1), pointer: at };
  });
  const constant = members.every((member) => typeof member.key === 'string' && isConstantNode(member.value));
  return constant ? { kind: 'constant', value } : { kind: 'object', members };
}

const NO_PLACEHOLDERS: AllowedPlaceholders = { secrets: false, callbacks: false };

function isConstantNode(node: TemplateNode): boolean {
  return node.kind === 'constant';
}

function parseText(text: string, pointer: string, allowed: AllowedPlaceholders): TextNode | undefined {
  try {
    const parts = parseTemplateString(text, allowed);
    return parts && { kind: 'text', text, pointer, parts };
  } catch (error) {
    throw withSource(error, text, pointer);
  }
}

interface Rendering {
  readonly evaluation: Evaluation;
  readonly secrets: SecretString[];
  /** The path of the current value. */
  readonly path: (string | number)[];
}

function renderNode(node: TemplateNode, rendering: Rendering): Json {
  switch (node.kind) {
    case 'constant':
      return node.value;
    case 'text':
      return renderText(node, rendering);
    case 'array':
      return node.items.map((item, i) => renderAt(item, i, rendering));
    case 'object': {
      const object: { [key: string]: Json } = {};
      for (const member of node.members) {
        const key = typeof member.key === 'string' ? member.key : renderKey(member.key, rendering.evaluation);
        if (Object.hasOwn(object, key)) throw duplicateKeyError(key, member.pointer);
        setOwn(object, key, renderAt(member.value, key, rendering));
      }
      return object;
    }
  }
}

function renderAt(node: TemplateNode, key: string | number, rendering: Rendering): Json {
  rendering.path.push(key);
  const value = renderNode(node, rendering);
  rendering.path.pop();
  return value;
}

function renderText(node: TextNode, rendering: Rendering): Json {
  try {
    const [only, ...more] = node.parts;
    if (more.length === 0 && typeof only === 'object' && only.kind === 'expression') {
      return evaluateWithin(only, rendering.evaluation) ?? null;
    }
    const parts = node.parts.map((part) => renderPart(part, rendering.evaluation));
    if (!parts.every((part) => typeof part === 'string')) {
      rendering.secrets.push({ path: [...rendering.path], parts: mergeAdjacentTexts(parts) });
    }
    return joinCharged(parts.map(redactedText), rendering.evaluation);
  } catch (error) {
    throw withSource(error, node.text, node.pointer);
  }
}

function renderKey(node: TextNode, evaluation: Evaluation): string {
  try {
    return joinCharged(
      node.parts.map((part) => redactedText(renderPart(part, evaluation))),
      evaluation,
    );
  } catch (error) {
    throw withSource(error, node.text, node.pointer);
  }
}

function renderPart(part: TemplatePart, evaluation: Evaluation): SecretString['parts'][number] {
  if (typeof part === 'string') return part;
  if (part.kind === 'placeholder') return part.placeholder;
  const value = evaluateWithin(part, evaluation);
  if (value === undefined || value === null) throw unresolvedError(part, evaluation);
  return toText(value, evaluation);
}

function unresolvedError(expression: Expression, evaluation: Evaluation): TemplateError {
  const { node } = expression;
  evaluation.column = startColumn(node);
  return evaluationError(
    evaluation,
    'unresolved_reference',
    `${pathText(node)} has no value for this text. Add a fallback: {{ … ?: 'none' }} or {{ …|default('none') }}.`,
  );
}

function redactedText(part: SecretString['parts'][number]): string {
  if (typeof part === 'string') return part;
  if ('approval' in part) return '[link]';
  return 'secret' in part ? `[secret ${part.secret}]` : `[callback ${part.callback}]`;
}

function joinCharged(parts: readonly string[], evaluation: Evaluation): string {
  let length = 0;
  for (const part of parts) length += part.length;
  chargeString(evaluation, length);
  chargeSize(evaluation, length);
  return parts.join('');
}

function mergeAdjacentTexts(parts: SecretString['parts']): SecretString['parts'] {
  const joined: SecretString['parts'] = [];
  for (const part of parts) {
    const previous = joined.at(-1);
    if (typeof part === 'string' && typeof previous === 'string') joined[joined.length - 1] = previous + part;
    else joined.push(part);
  }
  return joined;
}

function duplicateKeyError(key: string, pointer: string): TemplateError {
  const message = `Two members get the same key ${JSON.stringify(key)}. Give each a unique key.`;
  return new TemplateError('expression_type', message, { pointer, expected: 'a key that no other member has' });
}
