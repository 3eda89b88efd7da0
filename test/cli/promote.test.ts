// What promote says that a workflow needs at its target, whose answers are played here.
import { expect, it } from 'vitest';
import { CliError, EXIT } from '../../src/cli/exit.ts';
import { type Gateway, type GatewayCall, pathWithParams } from '../../src/cli/gateway-client.ts';
import { comparePromotion } from '../../src/cli/promote.ts';
import type { JsonObject } from '../../src/json/json.ts';

/** A gateway that answers by method and path; a path without an answer is not found. */
const gatewayWith = (answers: { readonly [request: string]: object }): Gateway =>
  ({
    url: 'http://gateway.test',
    call: async (method: string, path: string, { params = {} }: GatewayCall = {}) => {
      const body = answers[`${method} ${pathWithParams(path, { params })}`];
      if (body === undefined) throw new CliError(EXIT.input, `Nothing at ${path}.`, [], 'not_found');
      return { status: 200, body };
    },
  }) as unknown as Gateway;

async function needsOf(config: JsonObject, hasKeys: boolean): Promise<readonly string[]> {
  const hash = `sha256:${'0'.repeat(64)}`;
  const definition = { name: 'R', slug: 'refund', steps: { ask: { stepType: 'approval', config } } };
  const source = gatewayWith({
    'GET /api/workflows/refund': { hash, definition },
    'GET /api/workflows/refund/text': { text: JSON.stringify(definition), media: 'json' },
  });
  const target = gatewayWith({
    'GET /api/me': { hasKeys },
    'POST /api/workflows/validate': { valid: true, problems: [], warnings: [] },
  });
  return (await comparePromotion(source, target, 'refund', undefined)).needs;
}

const NO_KEYS = expect.stringMatching(/^names persons, and there are no API keys there/);
const MAIL = expect.stringContaining('SIGNALBOX_SMTP_URL');

it.each<[string, JsonObject, boolean, readonly unknown[]]>([
  ['approvers where there are no keys', { message: 'm', approvers: ['ann'] }, false, [NO_KEYS]],
  ['approvers where there are keys', { message: 'm', approvers: ['ann'] }, true, []],
  ['nobody in particular', { message: 'm' }, false, []],
  ["mail over the host's server", { message: 'm', notify: [{ channel: 'email', to: 'a@b.c' }] }, true, [MAIL]],
  ['mail over a server of its own', { message: 'm', notify: [{ channel: 'email', smtp: { host: 'x' } }] }, true, []],
  ['another channel', { message: 'm', notify: [{ channel: 'slack', to: 'https://x' }] }, true, []],
])('says what is needed for %s', async (_what, config, hasKeys, needs) => {
  expect(await needsOf(config, hasKeys)).toEqual(needs);
});
