// Runs every command of README.md in order, against a stack as `npm start` starts it. As a long test (LONG=1) it runs
// those of the manual's pages as well.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { check } from '../../../src/check/check.ts';
import { projectRoot } from '../../../src/cli/start/project-root.ts';
import { SETTINGS } from '../../../src/config/settings.ts';
import { parseDocument } from '../../../src/definition/document/parse.ts';
import { manual } from '../../../src/gateway/manual/manual.ts';
import { routes } from '../../../src/gateway/route-table.ts';
import { type DataFolder, dataFolder, type Stack, startStack, until } from '../../support/stack.ts';

const PAGES = 'src/gateway/manual/pages';
const readme = readFileSync(join(projectRoot(), 'README.md'), 'utf8');
const pages = readdirSync(join(projectRoot(), PAGES))
  .sort()
  .map((name) => readFileSync(join(projectRoot(), PAGES, name), 'utf8'));
const texts = [readme, ...pages].join('\n');
const isLong = process.env['LONG'] === '1';
const toRun = isLong ? texts : readme;

function blocks(language: string, text: string): string[] {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, block]) =>
    name === language ? [block ?? ''] : [],
  );
}

let folder: DataFolder;
let stack: Stack;
let printed: string[];

/** The blocks as one script, each behind a line that marks it; `npm start` is what the test itself does. */
beforeAll(async () => {
  folder = dataFolder();
  stack = await startStack(folder.path);
  await until('the examples are there', 30_000, () => stack.output().includes('example workflows: '));
  const script = blocks('sh', toRun)
    .map((text, n) => `printf '\\n=== %s\\n' ${n}\n${text.replace(/^npm start$/m, ':')}`)
    .join('\n')
    .replaceAll('http://127.0.0.1:8787', stack.note.gateway!.url);
  const { code, output } = await bash(`set -euo pipefail\n${script}`, {
    SIGNALBOX_DATA: folder.path,
    SIGNALBOX_PORT: '0',
  });
  expect(code, output).toBe(0);
  printed = output.split(/^=== \d+\n/m).slice(1);
}, 400_000);
afterAll(async () => {
  await stack?.end('SIGTERM');
  folder.remove();
});

function bash(script: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', script], {
      cwd: projectRoot(),
      env: { ...process.env, TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let errors = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output: code === 0 ? output : `${output}\n${errors}` }));
  });
}

/** What the block with this text printed. */
function answerTo(text: string): string {
  const n = blocks('sh', toRun).findIndex((block) => block.includes(text));
  return printed[n] ?? `There is no block with ${text}.`;
}

describe('README.md and the pages of the manual', () => {
  it('begin with a start, and take a newcomer through an approval by REST and by a signal', () => {
    expect(blocks('sh', toRun)[0]).toBe('npm start\n');
    expect(answerTo('"A-7", "amount": 2500}}')).toMatch(/^run\.default\.order-approval\.[0-9A-Z]{26}\n/);
    expect(answerTo('A good customer')).toMatch(/"decision":"approved".*"by":"api","comments":"A good customer"/s);
    expect(answerTo('By signal')).toMatch(/"status":"completed".*"by":"temporal","comments":"By signal"/s);
  });

  it('walk and store what a newcomer has changed', () => {
    expect(answerTo('--dry')).toContain('waits for approval at review');
    expect(answerTo('--dry')).toMatch(/order-approval 1\.0\.0 stored sha256:/);
  });

  it.runIf(isLong)('show the command line, a webhook, a run by hand, and health', () => {
    expect(answerTo('logs -f $ID')).toMatch(
      /"count": 2[\s\S]*order-approval[\s\S]*review +approval +completed +approved/,
    );
    expect(answerTo('openssl dgst')).toContain('me/app#7 "It is slow": is it urgent?');
    expect(answerTo('by-hand')).toContain('"hello"');
    expect(answerTo('readyz')).toContain('"worker":true');
  });

  it('have definitions that check', () => {
    for (const text of blocks('yaml', readme)) {
      const parsed = parseDocument(text);
      expect('document' in parsed ? check(parsed.document).problems : parsed.problems).toEqual([]);
    }
  });

  it('name files, scripts and settings that there are, and every setting', () => {
    for (const [, path] of readme.matchAll(/\]\(((?!http)[^)#]+)(?:#[^)]*)?\)/g))
      expect(existsSync(join(projectRoot(), path!)), path).toBe(true);
    const { scripts } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
    for (const [, name] of texts.matchAll(/npm run (?:-s )?([a-z0-9:]+)/g)) expect(scripts).toHaveProperty([name!]);
    // The command line's own, which are no settings of the host.
    const known = new Set([...Object.keys(SETTINGS.shape), 'SIGNALBOX_API_KEY', 'SIGNALBOX_TO_API_KEY']);
    const named = [texts, manual(routes).get('settings')?.markdown].join('\n');
    expect(new Set(named.match(/SIGNALBOX_[A-Z_]+/g))).toEqual(known);
  });

  it('are in the build, which serves the pages with their slots filled', async () => {
    const page = async (name: string) => (await fetch(`${stack.note.gateway!.url}/docs/${name}`)).text();
    expect(await page('examples.md')).toContain('slug: ports-poll-with-sleep');
    expect(await page('settings.md')).toContain('| `SIGNALBOX_PORT` | `8787` |');
  });
});
