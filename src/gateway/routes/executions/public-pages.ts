/**
 * The HTML pages for people without an account, and how they are sent: the form of a callback's URL and of an
 * approval's link, a confirmation, and why something was refused.
 */

import type { Request, Response } from 'express';
import type { PayloadFormat, Problem } from '../../../definition/document/types.ts';
import { isJsonSchema } from '../../../definition/payload/format.ts';
import { getOwn, type JsonObject } from '../../../json/json.ts';
import { childPointer } from '../../../json/pointer.ts';
import { escapeHtml } from '../../../template/escape-html.ts';
import { htmlPage, PAGE_HEADERS } from '../../http/html-page.ts';
import { asProblem } from '../../http/problem.ts';
import { noteProblem } from '../../http/request-log.ts';
import { type FormField, formFields } from '../../input/form-fields.ts';

const STYLE =
  ':root{color-scheme:light dark}body{background:light-dark(#fff,#0f1216);color:light-dark(#171b21,#e8ebef);font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}label{display:block;margin:1rem 0 .25rem}small{display:block;margin-bottom:.25rem;color:light-dark(#555,#aaa)}input,select,textarea{width:100%;padding:.5rem;box-sizing:border-box;font:inherit}button{margin-top:1.5rem;padding:.5rem 1.5rem;font:inherit}.error{color:light-dark(#b00020,#ff8087);margin:.25rem 0}dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}dt{color:light-dark(#555,#aaa)}dd{margin:0;overflow-wrap:anywhere}.thumbs{display:grid;grid-template-columns:1fr 1fr;gap:1rem}.thumbs button{min-height:48px}h1{font-size:1.5rem;line-height:1.3}h1,.text{overflow-wrap:anywhere;white-space:pre-wrap}[aria-invalid]{border:2px solid light-dark(#b00020,#ff8087)}';

/** A form that was refused. It keeps the values that were typed. */
interface Refused {
  readonly typed: JsonObject;
  readonly problems: readonly Problem[];
}

/** A form that posts back to its own address. Without a format there is one field, `comment`. */
export function callbackPage(title: string, format: PayloadFormat | undefined, refused?: Refused): string {
  const about = format === undefined || !isJsonSchema(format) ? undefined : getOwn(format, 'description');
  const { fields, refusal } = formParts(format, refused);
  return page(title, [
    ...(typeof about === 'string' ? [`<p>${escapeHtml(about)}</p>`] : []),
    ...refusal,
    `<form method="post">\n${fields.join('\n') || COMMENT}\n<button type="submit">Send</button>\n</form>`,
  ]);
}

/** The fields of a form; and if it was refused, that it was, with the problems that belong to none of its fields. */
function formParts(format: PayloadFormat | undefined, refused: Refused | undefined, prefix = '') {
  const asked = format === undefined ? [] : formFields(format);
  const places = new Set(asked.map(({ name }) => childPointer('', name)));
  const general = (refused?.problems ?? []).filter(({ pointer }) => !places.has(pointer));
  return {
    fields: asked.map((field, n) => fieldHtml(field, n, refused, prefix)),
    refusal: [
      ...(refused === undefined ? [] : ['<p class="error" role="alert">This was not sent yet. Please correct it:</p>']),
      ...general.map(({ pointer, message }) => errorHtml(pointer === '' ? message : `${pointer}: ${message}`)),
    ],
  };
}

export function thanksPage(title: string): string {
  return page(headingOf(title, 'Answered'), ['<p>Thank you: your answer was received.</p>']);
}

/** Browsers ask for HTML first. */
export const prefersHtml = (req: Request): boolean => req.accepts(['json', 'html']) === 'html';

/** Pages run no scripts and load nothing from other hosts, since the address is the credential. */
export function sendPage(res: Response, status: number, html: string): void {
  res.status(status).set(PAGE_HEADERS).type('html').send(html);
}

/** Answers a person with a page also where the request is refused. */
export async function withHtmlProblems(req: Request, res: Response, act: () => Promise<void>): Promise<void> {
  res.setHeader('referrer-policy', 'no-referrer');
  try {
    await act();
  } catch (error) {
    const problem = asProblem(error);
    if (!prefersHtml(req) || problem.status === 500) throw error;
    noteProblem(res, problem);
    for (const [name, value] of Object.entries(problem.options.headers ?? {})) res.setHeader(name, value);
    sendPage(res, problem.status, page(problem.title, [`<p>${escapeHtml(problem.message)}</p>`]));
  }
}

/** What a person is asked by a link. */
export interface LinkQuestion {
  readonly message: string;
  /** Names and values, in their order. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** The person as whom it is decided. */
  readonly person: string;
  /** The names among the approvers that include the person: `user:ann`, `role:finance`. */
  readonly askedAs: readonly string[];
  readonly form: PayloadFormat | undefined;
  readonly commentRequired: boolean;
}

/** Names of fields in the page of an approval's link. Those of the form begin with FORM_DATA_PREFIX. */
export const FORM_DATA_PREFIX = 'data.';

/** A question with its facts and a form. Only sending it decides. */
export function questionPage(question: LinkQuestion, refused?: Refused): string {
  const { message, facts, person, askedAs, form, commentRequired } = question;
  const { fields, refusal } = formParts(form, refused, FORM_DATA_PREFIX);
  const comments = getOwn(refused?.typed ?? {}, 'comments');
  const heading = headingOf(message, 'Please decide');
  return page(heading, [
    ...(heading === message ? [] : [`<p class="text">${escapeHtml(message)}</p>`]),
    `<dl>${facts.map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`).join('')}</dl>`,
    ...refusal,
    '<form method="post">',
    ...fields,
    `<label for="comments">Comment${commentRequired ? ' (required)' : ''}</label>`,
    `<textarea id="comments" name="comments" rows="3"${commentRequired ? ' required' : ''}>` +
      `${escapeHtml(typeof comments === 'string' ? comments : '')}</textarea>`,
    '<div class="thumbs"><button type="submit" name="decision" value="rejected" formnovalidate>Reject</button>',
    '<button type="submit" name="decision" value="approved">Approve</button></div>',
    `</form>\n<p><small>You decide as ${escapeHtml(person)}${escapeHtml(whyAsked(askedAs))}. ` +
      'A decision cannot be taken back.</small></p>',
  ]);
}

const MAX_HEADING_LENGTH = 80;
/** A long or several-line question stands below a heading, so that a phone also shows what is asked. */
const headingOf = (message: string, otherwise: string): string =>
  message.length <= MAX_HEADING_LENGTH && !message.includes('\n') ? message : otherwise;

/** ` with the role finance`; nothing for somebody who is asked by name. */
function whyAsked(askedAs: readonly string[]): string {
  if (askedAs.some((name) => name.startsWith('user:'))) return '';
  return askedAs.length === 0 ? '' : ` with the ${askedAs.map((name) => name.replace(':', ' ')).join(', ')}`;
}

const COMMENT = '<label for="comment">Comment</label>\n<textarea id="comment" name="comment" rows="4"></textarea>';

function fieldHtml(field: FormField, n: number, refused: Refused | undefined, prefix: string): string {
  const { name, label, description } = field;
  const id = `field-${n}`;
  const place = childPointer('', name);
  const errors = (refused?.problems ?? []).filter(({ pointer }) => pointer === place);
  const value = refused === undefined ? field.initialValue : getOwn(refused.typed, name);
  const marks = [
    ...(field.isRequired ? [' required'] : []),
    ...(errors.length === 0 ? [] : [` aria-invalid="true" aria-describedby="${id}-error"`]),
  ].join('');
  const named = `id="${id}" name="${escapeHtml(prefix + name)}"`;
  const control = controlHtml(field, named, marks, value === undefined ? '' : `${value}`);
  return [
    `<label for="${id}">${escapeHtml(label)}</label>`,
    ...(description === undefined ? [] : [`<small>${escapeHtml(description)}</small>`]),
    control,
    ...errors.map(({ message }) => errorHtml(message, `${id}-error`)),
  ].join('\n');
}

function controlHtml(field: FormField, named: string, marks: string, value: string): string {
  const { type, declaredType, choices } = field;
  if (choices !== undefined) {
    const options = choices.map((choice) => [String(choice), String(choice)] as const);
    return selectHtml(options, `${named}${marks}`, value);
  }
  if (type === 'boolean') return selectHtml(Object.entries({ true: 'yes', false: 'no' }), `${named}${marks}`, value);
  // A number or date control would drop a refused text, so the user would lose it.
  const isNumber = type === 'number' && (value === '' || Number.isFinite(Number(value)));
  const isDate = declaredType === 'date' && (value === '' || /^\d{4}-\d{2}-\d{2}$/.test(value));
  const kind = isNumber
    ? `type="number" step="${declaredType === 'integer' ? '1' : 'any'}"`
    : isDate
      ? 'type="date"'
      : declaredType === 'datetime'
        ? 'type="text" placeholder="2026-01-31T10:30:00Z"'
        : 'type="text"';
  return `<input ${named} ${kind}${value === '' ? '' : ` value="${escapeHtml(value)}"`}${marks}>`;
}

/** The first option is empty, so no choice is preselected. */
function selectHtml(
  options: readonly (readonly [value: string, text: string])[],
  named: string,
  value: string,
): string {
  const html = options.map(
    ([one, text]) =>
      `<option value="${escapeHtml(one)}"${one === value ? ' selected' : ''}>${escapeHtml(text)}</option>`,
  );
  return `<select ${named}><option value=""></option>${html.join('')}</select>`;
}

const errorHtml = (message: string, id?: string): string =>
  `<p class="error"${id === undefined ? '' : ` id="${id}"`}>${escapeHtml(message)}</p>`;

function page(title: string, content: readonly string[]): string {
  const heading = escapeHtml(title);
  return htmlPage(
    `<meta name="robots" content="noindex">\n<title>${heading}</title>`,
    STYLE,
    `<main>\n<h1>${heading}</h1>\n${content.join('\n')}\n</main>`,
  );
}
