// A new master key while everything runs: three gateways, with the old key, with both, and with the new key alone.
import { randomBytes } from 'node:crypto';
import { afterAll, expect, it, vi } from 'vitest';
import { readSecret } from '../../../src/client/organization/secrets.ts';
import { createAccess } from '../../../src/client/temporal/access.ts';
import { callbackToken, readCallbackToken } from '../../../src/client/triggers/callbacks.ts';
import { type Config, readConfig } from '../../../src/config/config.ts';
import { loadMasterKey } from '../../../src/config/master-key.ts';
import { startGateway } from '../../../src/gateway/serve.ts';
import { type CliRun, cli } from '../../cli/terminal.ts';
import { approvalDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const [oldKey, newKey] = [randomBytes(32).toString('hex'), randomBytes(32).toString('base64')];
const USE = { workflow: 'orders' };

const gateway = sharedGateway({ SIGNALBOX_MASTER_KEY: oldKey });
const opened: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const one of opened) await one.close();
});

const configOf = (settings: { [variable: string]: string }): Config =>
  readConfig({ ...gateway.server.env, ...settings });
const accessOf = (config: Config) => createAccess(gateway.server, config, loadMasterKey(config));

async function open(config: Config): Promise<(args: readonly string[], key?: string) => Promise<CliRun>> {
  const one = await startGateway(config, { temporal: gateway.server });
  opened.push(one);
  const { port } = new URL(one.url);
  return (args, key = '') => cli(args, { env: { SIGNALBOX_PORT: port, SIGNALBOX_API_KEY: key } });
}

it('a new master key takes over, and the old one can go', async () => {
  const before = await open(configOf({}));
  const made = async (...args: string[]) => {
    const { exit, out, err } = await before(['keys', 'create', ...args, '--json'], admin);
    expect(exit, err).toBe(0);
    return JSON.parse(out) as { id: string; key: string };
  };
  let admin = '';
  admin = (await made('ann', '--role', 'admin')).key;
  const approver = await made('bob', '--role', 'approver', '--roles', 'finance', 'legal', '--groups', 'board');
  const other = await made('acme', '--role', 'admin', '--organization', 'acme');
  const bearer = { authorization: `Bearer ${admin}` };
  const bound = { value: 'the-first-secret', allowedWorkflows: ['orders'] };
  // A gateway that has just read its keys learns of the keys of another one a moment later.
  const knows = async (key: string) =>
    (await gateway.request('GET', '/api/secrets', { headers: { authorization: `Bearer ${key}` } })).status === 200;
  for (const key of [admin, other.key]) await vi.waitUntil(() => knows(key), { timeout: 30_000 });
  const put = await gateway.request('PUT', '/api/secrets/pay', { json: bound, headers: bearer });
  expect(put.status, JSON.stringify(put.body)).toBe(201);
  await gateway.request('PUT', '/api/secrets/pay', {
    json: { value: 'another-secret' },
    headers: { authorization: `Bearer ${other.key}` },
  });
  const slug = unique('refund');
  const { body: run } = await gateway.request('POST', '/api/executions', {
    json: { definition: approvalDefinition(slug), input: { amount: 1 } },
    headers: bearer,
  });
  const waits = async () =>
    (
      await gateway.request('GET', `/api/executions/${run.executionId}`, {
        headers: { authorization: `Bearer ${approver.key}` },
      })
    ).body.waitingFor;
  await expect.poll(waits).not.toHaveLength(0);
  const [{ resumeToken }] = await waits();

  // The new key alone knows nothing of what was before.
  const lost = await open(configOf({ SIGNALBOX_MASTER_KEY: newKey }));
  expect((await lost(['list', 'workflows'], admin)).err).toContain('key_invalid');

  const both = configOf({ SIGNALBOX_MASTER_KEY: newKey, SIGNALBOX_FORMER_MASTER_KEYS: oldKey });
  const between = await open(both);
  expect((await between(['list', 'workflows'], approver.key)).exit).toBe(0);
  expect(await readSecret(accessOf(both), 'default', 'pay', USE)).toBe('the-first-secret');
  // Tokens and addresses that were given out before are good still.
  const approved = await between(['approve', run.executionId, '--resume-token', resumeToken], approver.key);
  expect(approved.err).toBe('');
  expect(approved.exit).toBe(0);
  const place = { executionId: 'run.default.a.1', path: 'wait', slug: 'wait' };
  const token = callbackToken(accessOf(configOf({})).keys.callbacks, place);
  expect(
    [accessOf(both).keys, ...accessOf(both).formerKeys].map((keys) => readCallbackToken(keys.callbacks, token)),
  ).toEqual([undefined, place]);

  expect(await between(['keys', 'reseal'], approver.key)).toMatchObject({ exit: 10 });
  expect((await between(['keys', 'reseal'], other.key)).err).toContain('not_found');
  expect((await between(['keys', 'reseal'], admin)).out).toBe('5 re-encrypted, 0 unchanged, 0 unreadable');
  expect((await between(['keys', 'reseal'], admin)).out).toBe('0 re-encrypted, 5 unchanged, 0 unreadable');

  const after = configOf({ SIGNALBOX_MASTER_KEY: newKey });
  const now = await open(after);
  for (const key of [admin, approver.key, other.key]) expect((await now(['list', 'workflows'], key)).exit).toBe(0);
  expect(await readSecret(accessOf(after), 'default', 'pay', USE)).toBe('the-first-secret');
  expect(await readSecret(accessOf(after), 'acme', 'pay', USE)).toBe('another-secret');
  await expect(readSecret(accessOf(after), 'default', 'pay', { workflow: 'others' })).rejects.toMatchObject({
    code: 'secret_not_allowed',
  });
  await expect(readSecret(accessOf(configOf({})), 'default', 'pay', USE)).rejects.toMatchObject({
    code: 'secret_unreadable',
  });

  const listed = await now(['keys', 'list'], admin);
  expect(listed.out).toMatch(/^ID +NAME +ROLE/);
  expect(listed.out).toContain('bob');
  expect(listed.out).not.toContain('acme');
  expect((await now(['keys', 'list', '--organization', 'acme'], admin)).out).toContain('acme');
  expect((await now(['keys', 'revoke', approver.id], admin)).exit).toBe(0);
  expect((await now(['list', 'workflows'], approver.key)).err).toContain('key_invalid');
});
