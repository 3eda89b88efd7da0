// What the examples of the manual's page about clients need: a gateway with API keys, and the workflow that they run.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { projectRoot } from '../../../src/cli/start/project-root.ts';
import { type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

const KEY = 'k'.repeat(64);
const read = (path: string): string => readFileSync(join(projectRoot(), path), 'utf8');

/** The first block of a language on the page. */
export const blockOf = (language: string): string =>
  new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(read('src/gateway/manual/pages/client.md'))![1]!;

export type Shop = {
  gateway: TestGateway;
  /** An example with the address, the keys and the workflow of this gateway. */
  here(example: string): string;
};

export async function openShop(): Promise<Shop> {
  const gateway = await testGateway({ SIGNALBOX_ADMIN_KEY: KEY });
  const slug = unique('order-approval');
  const stored = await gateway.request('PUT', `/api/workflows/${slug}`, {
    text: read('deploy/examples/order-approval.yaml').replace('slug: order-approval', `slug: ${slug}`),
    headers: { 'content-type': 'application/yaml' },
  });
  expect(stored.status, JSON.stringify(stored.body)).toBe(201);
  const ann = await gateway.request('POST', '/api/keys', { json: { name: 'ann', role: 'approver', user: 'ann' } });
  expect(ann.status, JSON.stringify(ann.body)).toBe(201);
  return {
    gateway,
    here: (example) =>
      example
        .replaceAll('http://127.0.0.1:8787', gateway.url)
        .replaceAll('sbk_shop…', KEY)
        .replaceAll('sbk_ann…', ann.body.key)
        .replaceAll(/(["'])order-approval\1/g, `$1${slug}$1`)
        .replaceAll("'order-A-8'", `'${unique('order')}'`),
  };
}
