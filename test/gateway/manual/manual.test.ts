import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { check } from '../../../src/check/check.ts';
import { CODES } from '../../../src/check/codes.ts';
import { SETTINGS } from '../../../src/config/settings.ts';
import { ROOTS } from '../../../src/definition/document/roots.ts';
import { SIGNALS } from '../../../src/engine/inbound/signals.ts';
import { manual } from '../../../src/gateway/manual/manual.ts';
import { documentedPath } from '../../../src/gateway/manual/openapi-document.ts';
import { pageHtml } from '../../../src/gateway/manual/page-html.ts';
import { routes } from '../../../src/gateway/route-table.ts';
import { PROBLEM_CODES } from '../../../src/gateway/validation/problem-codes.ts';
import { kinds } from '../../../src/steps/kinds/table.ts';
import { TRANSFORMS } from '../../../src/template/transforms/table.ts';
import { type GatewayWithoutTemporal, gatewayWithoutTemporal } from '../gateway-support.ts';

const pages = manual(routes);

let gateway: GatewayWithoutTemporal;
beforeAll(async () => {
  gateway = await gatewayWithoutTemporal();
});
afterAll(() => gateway.close());

async function read(path: string): Promise<{ status: number; type: string; text: string; headers: Headers }> {
  // A page takes its time to be made, and a connection that was kept may be closed meanwhile.
  const response = await fetch(`${gateway.url}${path}`, { headers: { connection: 'close' } });
  const { status, headers } = response;
  return { status, type: headers.get('content-type') ?? '', text: await response.text(), headers };
}

describe('the manual', () => {
  it('has a page of every kind, under its aliases too, and lists them', async () => {
    const front = await read('/docs');
    expect(front).toMatchObject({ status: 200, type: 'text/html; charset=utf-8' });
    for (const { type, aliases = [], summary } of kinds) {
      expect(front.text).toContain(`href="/docs/${type}"`);
      for (const name of [type, ...aliases]) {
        const page = await read(`/docs/${name}`);
        expect(page.status, name).toBe(200);
        expect(page.text).toContain(`<h1>${type}</h1>`);
        expect(page.text).toContain(summary.replaceAll("'", '&#39;'));
        expect(page.text).toContain('language-yaml');
      }
    }
  });

  it.each([
    ['expressions', [...TRANSFORMS.keys()].map((name) => `<code>${name}`)],
    ['expressions', ROOTS.map((name) => `<code>${name}</code>`)],
    ['problems', [...Object.keys(CODES), ...Object.keys(PROBLEM_CODES)].map((name) => `<code>${name}</code>`)],
    ['signals', SIGNALS.map((name) => `<code>${name}</code>`)],
    ['settings', Object.keys(SETTINGS.shape).map((name) => `<code>${name}</code>`)],
    ['definition', ['<code>nextSteps</code>', '<code>config.retryPolicy.maxAttempts</code>', '<code>slug</code>']],
    ['triggers', ['<code>cron</code>', '<code>scheme</code>', '<code>variableMapping</code>']],
    ['api', routes.map(({ method, path }) => `<code>${method} ${documentedPath(path)}</code>`)],
    ['http', ['<code>url</code>', '<code>auth</code>', '<code>maxBytes</code>']],
  ])('the page %s has everything that the code has', async (name, parts) => {
    const { text } = await read(`/docs/${name}`);
    expect(parts.filter((part) => !text.includes(part))).toEqual([]);
  });

  it('lists every form of a member that has several, and says of each field to which it belongs', () => {
    const { markdown = '' } = pages.get('http') ?? {};
    expect(markdown).toContain('| **`auth.type`** | `"bearer"`, `"basic"`, `"apiKey"` |');
    for (const [field, form] of [
      ['token', 'bearer'],
      ['username', 'basic'],
      ['password', 'basic'],
      ['value', 'apiKey'],
    ])
      expect(markdown).toMatch(
        new RegExp(`\\| \\*\\*\`auth\\.${field}\`\\*\\* \\| text \\| Required\\. With \`"${form}"\`\\.`),
      );
  });

  it('says what a duration is, wherever one is taken', () => {
    expect(pages.get('definition')?.markdown).toMatch(
      /## Durations\n\nA duration is one of these:\n\n- a number of milliseconds/,
    );
    for (const [name, field] of [
      ['definition', 'config.timeout'],
      ['definition', 'retry.initialInterval'],
      ['approval', 'timeout'],
      ['sleep', 'duration'],
      ['http', 'timeout'],
    ] as const)
      expect(pages.get(name)?.markdown).toContain(`| \`${field}\` | [duration](/docs/definition#durations) |`);
  });

  it.each(['000', '001', '002', '004'])(
    'gives an example of a document of %s that can be run as it stands',
    (dialect) => {
      const { markdown = '' } = pages.get('dialects') ?? {};
      const [, document = ''] =
        new RegExp(`^## ${dialect}\\n\\n\`\`\`yaml\\n([\\s\\S]*?)^\`\`\``, 'm').exec(markdown) ?? [];
      const { problems, warnings, ...checked } = check(parse(document));
      expect(checked.dialect).toBe(dialect);
      expect(problems).toEqual([]);
      // A warning names what tale writes in a form of its own.
      expect(warnings.filter(({ code }) => code !== 'template_in_expression')).toEqual([]);
    },
  );

  it('begins with a definition that the checker finds nothing in', () => {
    const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(pages.get('definition')?.markdown ?? '') ?? [];
    const { problems, warnings } = check(parse(example));
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
  });

  it('says of every row what it means', () => {
    for (const { name, markdown } of pages.values()) {
      const lines = markdown.split('\n');
      const silent = lines.filter((line, i) => /\|\s*\|$/.test(line) && !/^\| ---/.test(lines[i + 1] ?? ''));
      expect(silent, name).toEqual([]);
    }
  });

  it('needs no other host, no script, and leads to no page that is not there', async () => {
    const links = new Set<string>();
    for (const name of pages.keys()) {
      const { text, headers } = await read(name === '' ? '/docs' : `/docs/${name}`);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(text).not.toMatch(/<(script|img|link|iframe)\b|\bsrc=|@import|url\(/);
      for (const [, href = ''] of text.matchAll(/href="(\/[^"#]*)/g)) links.add(href);
    }
    for (const href of links) expect((await read(href)).status, href).toBe(200);
    expect((await read('/docs/nothing')).status).toBe(404);
  });

  it('leaves tags in the texts texts', () => {
    const html = pageHtml({ name: 'x', title: '<b>', markdown: 'a <script>alert(1)</script> | `<i>`' }, []);
    expect(html).not.toMatch(/<script|<b>|<i>/);
  });

  it('is Markdown too, for those who would rather read that', async () => {
    const page = await read('/docs/loop.md');
    expect(page.type).toBe('text/markdown; charset=utf-8');
    expect(page.text).toMatch(/^# loop\n\nWalks its body/);
    expect((await read('/docs/index.md')).text).toMatch(/^# Signalbox/);
  });

  it('comes with the JSON Schema', async () => {
    const schema = await read('/schema.json');
    expect(schema.type).toContain('application/schema+json');
    expect(JSON.parse(schema.text)).toMatchObject({ $schema: 'http://json-schema.org/draft-07/schema#' });
  });
});
