// What the tests of webhooks share: a workflow with one, and deliveries as GitHub signs them.

import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { type Answer, echoDefinition, type TestGateway, unique } from '../gateway/gateway-support.ts';

export type Members = { [key: string]: Json };

/** Stores a workflow that gives its input, with one webhook. */
export async function hookedAt(
  gateway: TestGateway,
  config: Members,
  trigger: Members = {},
  more: Members = {},
): Promise<{ slug: string; path: string }> {
  const slug = unique('hooked');
  const path = unique('path');
  const triggers = [{ name: 'in', type: 'webhook', config: { path, ...config }, ...trigger }];
  const stored = await gateway.request('PUT', `/api/workflows/${slug}`, {
    json: echoDefinition(slug, { triggers, ...more }),
  });
  expect(stored.status).toBe(201);
  expect(stored.body.triggers[0].webhookUrl).toBe(`${gateway.url}/webhooks/${path}`);
  return { slug, path };
}

/** What the run gives that a delivery has started. */
export const outputOf = async (gateway: TestGateway, answer: Answer): Promise<unknown> =>
  (await gateway.request('GET', `/api/executions/${answer.body.executionId}/result?wait=20`)).body.output;

/** The headers of a delivery of GitHub's. */
export const github = (secret: string, body: string, delivery: string) => ({
  'content-type': 'application/json',
  'x-github-event': 'push',
  'x-github-delivery': delivery,
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});
