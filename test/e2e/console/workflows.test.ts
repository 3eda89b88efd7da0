// Workflows in the console: the list, one with its triggers and runs, versions side by side, proposals, settings.
import { beforeAll, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { again, axe, describeInBrowser, picture, sharedBrowser } from '../../support/browser.ts';
import { sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789' });
const browser = sharedBrowser(gateway);
const keys: { [name: string]: string } = {};
const slug = unique('refund');
const hook = unique('hook');

const written = (limit: number, more = '') => `# Refunds of the shop
name: Refunds
slug: ${slug}
description: Pays small refunds at once.
constraints: {allowSelfModification: true}
input: {amount: {type: number, default: 3}}
triggers:
  - {name: nightly, type: schedule, config: {cron: '0 3 * * *', timezone: America/New_York}}
  - {name: shop, type: webhook, config: {path: ${hook}, scheme: none}}
steps:
  big:
    stepType: condition
    config: {expression: input.amount > ${limit}}   # agreed in May
    nextSteps: {'true': no, 'false': yes}
  yes: {stepType: finish, config: {output: {paid: '{{ input.amount }}'}}}
  no: {stepType: finish, config: {output: {paid: 0}}}
${more}`;

const put = async (text: string) => {
  const headers = { 'content-type': 'application/yaml' };
  const answer = await gateway.request('PUT', `/api/workflows/${slug}?notes=Limits`, { text, headers });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};

describeInBrowser('workflows in the console', () => {
  beforeAll(async () => {
    for (const [user, role] of [
      ['eda', 'editor'],
      ['rea', 'editor'],
      ['vic', 'viewer'],
    ]) {
      keys[user!] = await gateway.makeKey({ name: unique(user!), user: user!, role: role! });
    }
    await put(written(100));
    await put(written(200));
    const run = { workflowId: slug, input: { amount: 5 } };
    await gateway.request('POST', '/api/triggers/manual/run', { json: run });
    await gateway.until('/api/workflows', ({ body }) => body.items?.length === 1);
    await gateway.until(`/api/workflows/${slug}/executions`, ({ body }) => body.items?.[0]?.status === 'completed');
    await gateway.until(`/api/triggers?workflowId=${slug}`, ({ body }) => body.items?.length === 2);
  });

  it('are listed, and one shows its graph, its triggers with their next times, and its last runs', async () => {
    const { page, end } = await browser.open('/console/workflows', { key: keys['vic'] as string });
    await page.getByRole('link', { name: 'Refunds', exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByLabel('Search').fill('nothing like it');
    await page.getByText('No workflow fits.').waitFor();
    expect(new URL(page.url()).searchParams.get('search')).toBe('nothing like it');
    await page.getByLabel('Search').fill('refund');
    await page.getByRole('link', { name: 'Refunds', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Refunds' }).waitFor();
    await page.locator('[data-step="big"]').waitFor();
    const times = page.getByRole('table', { name: 'Next times of 0 3 * * *' });
    await times.waitFor();
    expect(await times.getByRole('columnheader').allTextContents()).toEqual(['America/New_York', 'Your time']);
    expect(await times.locator('tbody tr').count()).toBe(5);
    expect(await times.locator('tbody td').first().textContent()).toMatch(/03:00:00/);
    await page.getByText(`/webhooks/${hook}`).waitFor();
    await page.getByRole('region', { name: 'The last runs' }).waitFor();
    await page.locator('.badge.completed').waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'workflow');
    await page.locator('[data-step="big"]').click();
    await page.getByRole('heading', { name: 'big' }).waitFor();
    expect(new URL(page.url()).searchParams.get('step')).toBe('big');
    await end();
  });

  it('show two versions side by side, as text with its comments, as steps, and on the graph', async () => {
    const { page, end } = await browser.open(`/console/workflows/${slug}/versions`, { key: keys['eda'] as string });
    await page.getByRole('heading', { name: 'What differs' }).waitFor();
    await page.getByRole('button', { name: 'big', exact: true }).waitFor();
    await page.locator('.step.mark-changed[data-step="big"]').waitFor();
    const changed = (side: string) => page.locator(`.cm-merge-${side} .cm-changedLine`);
    await expect
      .poll(() => changed('a').allTextContents())
      .toEqual([expect.stringContaining('> 100}   # agreed in May')]);
    expect(await changed('b').allTextContents()).toEqual([expect.stringContaining('> 200}   # agreed in May')]);
    expect(await axe(page)).toEqual([]);
    await picture(page, 'versions');
    // The same version twice: nothing differs. The address keeps the choice.
    await page.getByRole('radio', { name: /^Before: 1\.0\.1/ }).check();
    await page.getByText('Both texts are the same.').waitFor();
    // Pages of one version, so that the earlier one is on the next.
    await page.route(/\/history\?limit=50/, (route) =>
      route.continue({ url: route.request().url().replace('limit=50', 'limit=1') }),
    );
    await page.reload();
    await page.getByText('Both texts are the same.').waitFor();
    expect(await page.getByRole('button', { name: 'Restore…' }).count()).toBe(0);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('radio', { name: /^After: 1\.0\.0/ }).waitFor();
    expect(await page.getByRole('radio', { name: /^After: / }).count()).toBe(2);
    await page.getByRole('button', { name: 'Restore…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Restore 1.0.0?' });
    await dialog.getByLabel('Why').fill('200 was too much');
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('200 was too much').waitFor();
    const { body } = await gateway.request('GET', `/api/workflows/${slug}/text`);
    expect(body.text).toBe(written(100));
    // One row is the current version. The one that it was restored from has the same content.
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByText('same as current').waitFor();
    expect(await page.getByText('current', { exact: true }).count()).toBe(1);
    await end();
  });

  it('say which triggers go and come where a version is restored', async () => {
    const other = unique('bare');
    const definition = {
      name: other,
      slug: other,
      triggers: [
        { name: 'nightly', type: 'schedule', config: { cron: '0 3 * * *' } },
        { name: 'shop', type: 'webhook', config: { path: unique('hook'), scheme: 'none' } },
      ],
      steps: { done: { stepType: 'finish' } },
    };
    const store = (triggers: Json) =>
      gateway.request('PUT', `/api/workflows/${other}`, { json: { ...definition, triggers } as Json });
    await store([]);
    await store(definition.triggers as Json);
    const { page, end } = await browser.open(`/console/workflows/${other}/versions`, { key: keys['eda'] as string });
    await page.getByRole('button', { name: 'Restore…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Restore 1.0.0?' });
    await dialog.getByText('These are deleted: nightly (schedule), shop (webhook).').waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'restore');
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('same as current').waitFor();
    await page.getByRole('button', { name: 'Restore…' }).click();
    const back = page.getByRole('dialog', { name: 'Restore 1.0.1?' });
    await back.getByText('These triggers are made again: nightly (schedule), shop (webhook).').waitFor();
    await end();
  });

  it('take a proposal that another reviews, after a dry run of both sides', async () => {
    const head = (await gateway.request('GET', `/api/workflows/${slug}`)).body;
    const steps = { ...head.definition.steps, no: { stepType: 'finish', config: { output: { paid: -1 } } } };
    const json = { baseWorkflowHash: head.hash, proposal: { ...head.definition, steps }, notes: 'Refuse louder' };
    const made = await gateway.request('POST', `/api/workflows/${slug}/proposals`, {
      json: json as unknown as Json,
      headers: { authorization: `Bearer ${keys['eda']}` },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const { page, end } = await browser.open(`/console/workflows/${slug}?tab=proposals`, {
      key: keys['rea'] as string,
      // A loaded machine may refuse a dry run, which is then sent again.
      expects: [/status of 503/],
    });
    await page.getByRole('link', { name: 'Refuse louder' }).click();
    await page.getByRole('heading', { name: 'Refuse louder' }).waitFor();
    await page.getByRole('button', { name: 'no', exact: true }).waitFor();
    await page.getByText('The checker finds no problems in it.').waitFor();
    await page.getByText('Try both with the same input').click();
    await page.getByLabel('Amount').fill('500');
    await again(
      page,
      'Walk both without effects',
      page.getByRole('region', { name: 'Before' }).getByText('paid').first(),
    );
    await page.getByRole('region', { name: 'After' }).getByText('-1').waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'proposal');
    await page.getByLabel('Notes').fill('Yes');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('applied', { exact: true }).waitFor();
    expect((await gateway.request('GET', `/api/workflows/${slug}`)).body.definition.steps.no.config.output.paid).toBe(
      -1,
    );
    await end();
  });

  it('are changed in their settings, by who may, and the text keeps its comments', async () => {
    await put(written(100));
    const vic = await browser.open(`/console/workflows/${slug}?tab=settings`, { key: keys['vic'] as string });
    const save = vic.page.getByRole('button', { name: 'Save' });
    await save.waitFor();
    expect(await save.getAttribute('aria-disabled')).toBe('true');
    await vic.end();
    const { page, end } = await browser.open(`/console/workflows/${slug}?tab=settings`, { key: keys['eda'] as string });
    await page.getByLabel('Tags').fill('shop, money');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByLabel('Enabled').uncheck();
    await page.getByText('· disabled').waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'workflow-settings');
    const { body } = await gateway.request('GET', `/api/workflows/${slug}/text`);
    expect(body.text).toBe(written(100).replace('name: Refunds', 'tags: ["shop", "money"]\nname: Refunds'));
    await page.getByRole('button', { name: 'Delete the workflow…' }).click();
    const dialog = page.getByRole('dialog', { name: `Delete the workflow ${slug}` });
    await dialog.getByLabel(`Write ${slug} to confirm`).fill(slug);
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('heading', { name: 'Workflows' }).waitFor();
    expect((await gateway.request('GET', `/api/workflows/${slug}`)).status).toBe(404);
    await end();
  });

  it('that are not there say so', async () => {
    const { page, end } = await browser.open('/console/workflows/no-such-one', { key: keys['vic'] as string });
    await page.getByRole('alert').getByText('There is no workflow called no-such-one.').waitFor();
    expect(await axe(page)).toEqual([]);
    await end();
  });
});
