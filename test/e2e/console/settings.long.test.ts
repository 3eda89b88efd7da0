// The settings in a real browser: what is written is never shown again, what is deleted is named, roles are named.
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { axe, describeInBrowser, picture, sharedBrowser } from '../../support/browser.ts';
import { sharedGateway, unique } from '../gateway/gateway-support.ts';

const ADMIN = 'an-admin-of-the-environment-0123456789';
const SECRET = 'a-value-that-nobody-sees-0123456789';

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: ADMIN });
const browser = sharedBrowser(gateway);

const row = (page: Page, text: string) => page.locator('tbody tr', { hasText: text });

describeInBrowser('the settings', () => {
  it('store a secret that no page shows, say what is wrong with it, and delete it by its name', async () => {
    const name = unique('secret');
    const { page, end } = await browser.open('/console/settings/secrets', { key: ADMIN });
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Value').fill('abc');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('secret_too_short').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByLabel('Value').fill(SECRET);
    await page.getByLabel('Hosts that it may be sent to').fill('api.example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, name).getByText('api.example.com').waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'secrets');
    const stored = await page.evaluate(
      'document.documentElement.outerHTML + location.href + JSON.stringify(localStorage)',
    );
    expect(stored).not.toContain(SECRET);
    await page.getByRole('button', { name: `Delete ${name}` }).click();
    const remove = page.getByRole('button', { name: 'Delete', exact: true });
    expect(await remove.getAttribute('aria-disabled')).toBe('true');
    await page.getByLabel(`Write ${name} to confirm`).fill(name);
    await remove.click();
    await row(page, name).waitFor({ state: 'detached' });
    const { body } = await gateway.request('GET', '/api/secrets');
    expect(JSON.stringify(body)).not.toContain(name);
    await end();
  }, 60_000);

  it('store a model and a server of tools, and change them', async () => {
    const model = unique('model');
    const { page, end } = await browser.open('/console/settings/models', { key: ADMIN });
    await page.getByRole('button', { name: 'New model' }).click();
    await page.getByLabel('Name').fill(model);
    await page.getByLabel('Provider').selectOption('openai-compatible');
    await page.getByLabel('Model', { exact: false }).nth(1).fill('tiny');
    await page.getByRole('textbox', { name: 'Address of the API' }).fill('not an address');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Expected an http or https URL.').or(page.locator('input:invalid')).first().waitFor();
    await page.getByRole('textbox', { name: 'Address of the API' }).fill('http://127.0.0.1:9/v1');
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, model).getByText('openai-compatible').waitFor();
    expect(await axe(page)).toEqual([]);
    const stored = await gateway.request('GET', `/api/models/${model}`);
    expect(stored.body).toMatchObject({
      provider: 'openai-compatible',
      model: 'tiny',
      baseUrl: 'http://127.0.0.1:9/v1',
    });

    await page.getByRole('button', { name: `Change ${model}` }).click();
    await page.getByLabel('Secret with the API key').fill('models/kye');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(`${model} is stored. It names the secret models/kye, not stored yet`).waitFor();
    await page.getByRole('button', { name: `Test ${model}` }).click();
    const test = page.getByRole('dialog', { name: `Test of ${model}` });
    await test.getByText('secret_not_found').waitFor({ timeout: 30_000 });
    expect(await axe(page)).toEqual([]);
    await picture(page, 'settings-model-test');
    await test.getByRole('button', { name: 'Close' }).click();

    const server = unique('server');
    await page.getByRole('link', { name: 'MCP servers' }).click();
    await page.getByRole('heading', { name: 'MCP servers' }).waitFor();
    await page.getByRole('button', { name: 'New server' }).click();
    await page.getByLabel('Name').fill(server);
    await page.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:9/mcp');
    await page.getByLabel('Headers').fill('Authorization: Bearer {{ secrets.tools }}\nX-Team: a:b');
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, server).getByText('http://127.0.0.1:9/mcp').waitFor();
    expect((await gateway.request('GET', `/api/mcp-servers/${server}`)).body.headers).toEqual({
      Authorization: 'Bearer {{ secrets.tools }}',
      'X-Team': 'a:b',
    });
    await page.getByText(`${server} is stored. It names the secret tools, not stored yet`).waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'settings-servers');
    await end();
  }, 60_000);

  it('set a limit and remove it', async () => {
    const { page, end } = await browser.open('/console/settings/limits', { key: ADMIN });
    await page.getByRole('button', { name: 'Set the limit of Each person' }).click();
    await page.getByLabel('Runs at the same time').fill('7');
    await page.getByLabel('Further runs').selectOption('reject');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('7, further runs are refused').first().waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'limits');
    await page.getByRole('button', { name: 'Remove the limit of Each person' }).click();
    await page.getByLabel('Write user to confirm').fill('user');
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Remove the limit of Each person' }).waitFor({ state: 'detached' });
    expect((await gateway.request('GET', '/api/limits')).body.own).toEqual({});
    await end();
  });

  it('make a key, show it once, and revoke it; the audit has both', async () => {
    const name = unique('key');
    const { page, end } = await browser.open('/console/settings/keys', { key: ADMIN });
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Role', { exact: true }).selectOption('approver');
    await page.getByLabel('Roles in approvals').fill('finance, board');
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Make' }).click();
    const key = (await page.locator('dialog pre').textContent()) ?? '';
    expect(key).toMatch(/^sbk_/);
    expect(
      (await gateway.request('GET', '/api/me', { headers: { authorization: `Bearer ${key}` } })).body,
    ).toMatchObject({
      role: 'approver',
      id: name,
    });
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await row(page, name).getByText('finance, board').waitFor();
    expect(await page.evaluate('document.documentElement.outerHTML')).not.toContain(key);
    expect(await axe(page)).toEqual([]);
    await picture(page, 'keys');
    await page.getByRole('button', { name: `Revoke ${name}` }).click();
    await page.getByLabel(`Write ${name} to confirm`).fill(name);
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await row(page, name).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Audit' }).click();
    await row(page, 'DELETE /api/keys/:id').first().waitFor();
    await row(page, 'POST /api/keys').first().waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'audit');
    await page.getByLabel('Method and route').fill('PUT /api/nothing');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No change matches.').waitFor();
    await end();
  }, 60_000);

  it('name the role to those who lack it, and ask the API for nothing then', async () => {
    const made = await gateway.request('POST', '/api/keys', { json: { name: unique('viewer'), role: 'viewer' } });
    const { page, end } = await browser.open('/console/settings/models', { key: made.body.key });
    const button = page.getByRole('button', { name: 'New model' });
    await button.waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await button.click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByText('Needs the role editor.').first().waitFor({ state: 'attached' });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('Only people with the role admin see this.').waitFor();
    expect(asked.filter((path) => path === '/api/keys')).toEqual([]);
    expect(await axe(page)).toEqual([]);
    await end();
  });
});
