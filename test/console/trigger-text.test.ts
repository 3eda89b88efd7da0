// The commands that the console shows for webhooks sign as each scheme demands.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { curlCommand } from '../../src/console/screens/trigger-text.ts';
import { WEBHOOK_SCHEMES } from '../../src/contract/triggers/webhook-scheme.ts';
import { schemeOf } from '../../src/gateway/webhook-signatures/table.ts';
import type { JsonObject } from '../../src/json/json.ts';

const BODY = '{"it\'s": "a \\"test\\""}';
const TEXT = 'a secret\'s "text" $HOME';
const WHSEC = `whsec_${Buffer.from('twenty-four bytes of key').toString('base64')}`;

/** What the command would send, from a shell whose curl prints its arguments. */
function sentRequest(config: JsonObject, secret: string): { raw: Buffer; header(name: string): string | undefined } {
  const command = curlCommand('http://127.0.0.1:1/webhooks/x', BODY, config);
  const script = `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; }\n${command}\n`;
  const printed = execFileSync('sh', ['-c', script], { env: { ...process.env, SECRET: secret }, encoding: 'utf8' });
  const words = printed.split('\0');
  const headers = words.flatMap((word, n) => (words[n - 1] === '-H' ? [word.split(': ')] : []));
  return {
    raw: Buffer.from(words[words.indexOf('-d') + 1] ?? ''),
    header: (name) =>
      headers
        .find(([one]) => one?.toLowerCase() === name.toLowerCase())
        ?.slice(1)
        .join(': '),
  };
}

it.each<[name: string, config: JsonObject, secret: string]>([
  ...WEBHOOK_SCHEMES.map((name): [string, JsonObject, string] => [name, {}, TEXT]),
  ['standard', {}, WHSEC],
  ['hmac', { algorithm: 'sha512', encoding: 'base64', header: 'X-Sum', prefix: 'v=', timestampHeader: 'X-At' }, TEXT],
])('signs for %s %j', (name, options, secret) => {
  const delivery = { ...sentRequest({ ...options, scheme: name }, secret), now: Date.now() };
  expect(delivery.raw.toString()).toBe(BODY);
  expect(schemeOf(name)?.verify(delivery, [secret], options)).toEqual({ ok: true });
});
