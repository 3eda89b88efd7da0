// The example of the manual's page about clients, with `signalbox/client` as it is built, on a gateway with API keys.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../../src/cli/start/project-root.ts';
import { type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

const KEY = 'k'.repeat(64);
let annsKey: string;
const [, example] = /^```ts\n([\s\S]*?)^```$/m.exec(
  readFileSync(join(projectRoot(), 'src/gateway/manual/pages/client.md'), 'utf8'),
)!;
const slug = unique('order-approval');
let gateway: TestGateway;
let folder: string;

beforeAll(async () => {
  gateway = await testGateway({ SIGNALBOX_ADMIN_KEY: KEY });
  const text = readFileSync(join(projectRoot(), 'deploy/examples/order-approval.yaml'), 'utf8');
  const stored = await gateway.request('PUT', `/api/workflows/${slug}`, {
    text: text.replace('slug: order-approval', `slug: ${slug}`),
    headers: { 'content-type': 'application/yaml' },
  });
  expect(stored.status, JSON.stringify(stored.body)).toBe(201);
  const ann = await gateway.request('POST', '/api/keys', { json: { name: 'ann', role: 'approver', user: 'ann' } });
  annsKey = ann.body.key;
  folder = mkdtempSync(join(tmpdir(), 'signalbox-client-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(projectRoot(), join(folder, 'node_modules/signalbox'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await gateway.close();
});

/** The lines that a program prints. */
async function play(program: string): Promise<string[]> {
  const file = join(folder, `${unique('program')}.mjs`);
  writeFileSync(
    file,
    program
      .replaceAll('http://127.0.0.1:8787', gateway.url)
      .replaceAll('sbk_shop…', KEY)
      .replaceAll('sbk_ann…', annsKey)
      .replaceAll("'order-approval'", `'${slug}'`)
      .replaceAll("'order-A-8'", `'${unique('order')}'`)
      // Node 20 does not take types.
      .replaceAll(': string | undefined', ''),
  );
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)));
  await new Promise((resolve) => child.on('close', resolve));
  return output.trim().split('\n');
}

describe('signalbox/client', () => {
  it('starts runs, waits for their results, decides an approval and lists runs, as the manual shows', async () => {
    const failed = await gateway.request('POST', '/api/executions', {
      json: {
        definition: {
          name: 'Fails',
          slug: unique('fails'),
          steps: { no: { stepType: 'fail', config: { message: 'No' } } },
        },
      },
    });
    await gateway.until('/api/executions?status=failed', ({ body }) => body.items.length > 0);
    const printed = await play(example!);
    const text = printed.join('\n');
    expect(text).toMatch(/^completed \{[^}]*outcome: 'accepted',\s+by: 'limit'/m);
    expect(text).toMatch(/^completed \{[^}]*outcome: 'accepted',\s+by: 'api',\s+comments: 'A good customer'/m);
    expect(printed).toContain('Decided before.');
    expect(text).toContain(`\n${failed.body.executionId} 20`);
  });

  it('answers a refusal as an error with its code, and throws where nobody answers', async () => {
    const refused = `
import { createClient } from 'signalbox/client';
const ask = async (url, key) => {
  const client = createClient({ url, key });
  const { data, error, response } = await client.GET('/api/executions/{id}', { params: { path: { id: 'run.a/b' } } });
  console.log(data, error.code, error.status, response.status);
};
await ask('http://127.0.0.1:8787/', 'sbk_ann…');
await ask('http://127.0.0.1:8787', undefined);
await ask('http://127.0.0.1:1', 'sbk_ann…').catch(({ name }) => console.log(name));
`;
    expect(await play(refused)).toEqual(['undefined not_found 404 404', 'undefined key_required 401 401', 'TypeError']);
  });
});
