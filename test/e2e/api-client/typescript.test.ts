// The example of the manual's page about clients, with `signalbox/client` as it is built.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../../src/cli/start/project-root.ts';
import { unique } from '../gateway/gateway-support.ts';
import { blockOf, openShop, type Shop } from './shop.ts';

let shop: Shop;
let folder: string;
beforeAll(async () => {
  shop = await openShop();
  folder = mkdtempSync(join(tmpdir(), 'signalbox-client-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(projectRoot(), join(folder, 'node_modules/signalbox'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await shop.gateway.close();
});

/** What a program prints. */
function play(program: string): Promise<string> {
  const file = join(folder, `${unique('program')}.mjs`);
  // Node 20 does not take types.
  writeFileSync(file, shop.here(program).replaceAll(': string | undefined', ''));
  return new Promise((done) => {
    execFile(process.execPath, [file], (_error, out, errors) => done(out + errors));
  });
}

describe('signalbox/client', () => {
  it('starts runs, waits for their results, decides an approval and lists runs, as the manual shows', async () => {
    const steps = { no: { stepType: 'fail', config: { message: 'No' } } };
    const failed = await shop.gateway.request('POST', '/api/executions', {
      json: { definition: { name: 'Fails', slug: unique('fails'), steps } },
    });
    await shop.gateway.until('/api/executions?status=failed', ({ body }) => body.items.length > 0);
    const printed = await play(blockOf('ts'));
    expect(printed).toMatch(/^completed \{[^}]*outcome: 'accepted',\s+by: 'limit'/m);
    expect(printed).toMatch(/^completed \{[^}]*outcome: 'accepted',\s+by: 'api',\s+comments: 'A good customer'/m);
    expect(printed).toContain('\nDecided before.\n');
    expect(printed).toContain(`\n${failed.body.executionId} 20`);
  });

  it('answers a refusal as an error with its code, and throws where nobody answers', async () => {
    const printed = await play(`
import { createClient } from 'signalbox/client';
const ask = async (url, key) => {
  const client = createClient({ url, key });
  const { data, error, response } = await client.GET('/api/executions/{id}', { params: { path: { id: 'run.a/b' } } });
  console.log(data, error.code, error.status, response.status);
};
await ask('http://127.0.0.1:8787/', 'sbk_ann…');
await ask('http://127.0.0.1:8787', undefined);
await ask('http://127.0.0.1:1', 'sbk_ann…').catch(({ name }) => console.log(name));
`);
    expect(printed).toBe('undefined not_found 404 404\nundefined key_required 401 401\nTypeError\n');
  });
});
