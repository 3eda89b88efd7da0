/** What a person sees who opens a callback's URL: a small form that sends the callback, and a word of thanks. */
import type { PayloadFormat } from '../definition/types.ts';
import { escaped } from './escaped.ts';
import { type FormField, formFields } from './form-fields.ts';

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}label{display:block;margin:1rem 0 .25rem}input,select,textarea{width:100%;padding:.5rem;box-sizing:border-box;font:inherit}button{margin-top:1.5rem;padding:.5rem 1.5rem;font:inherit}';

/** A form that posts back to its own address. Without a format there is one field, `comment`. */
export function callbackPage(title: string, format: PayloadFormat | undefined): string {
  const asked = format === undefined ? [] : formFields(format);
  const fields = asked.length > 0 ? asked.map(fieldHtml).join('\n') : COMMENT;
  return page(title, `<form method="post">\n${fields}\n<button type="submit">Send</button>\n</form>`);
}

export function thanksPage(title: string): string {
  return page(title, '<p>Thank you: your answer was received.</p>');
}

const COMMENT = '<label for="comment">Comment</label>\n<textarea id="comment" name="comment" rows="4"></textarea>';

function fieldHtml({ name, type, label }: FormField, n: number): string {
  const id = `field-${n}`;
  const named = `id="${id}" name="${escaped(name)}"`;
  const input = {
    string: `<input ${named} type="text">`,
    number: `<input ${named} type="number" step="any">`,
    boolean: `<select ${named}><option value="true">yes</option><option value="false">no</option></select>`,
  }[type];
  return `<label for="${id}">${escaped(label)}</label>\n${input}`;
}

function page(title: string, content: string): string {
  const heading = escaped(title);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${heading}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${heading}</h1>
${content}
</body>
</html>
`;
}
