// The editor of the console: problems at their places, completion, the graph, trying, saving, and who was faster.
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { again, axe, describeInBrowser, picture, sharedBrowser } from '../../support/browser.ts';
import { sharedGateway, unique } from '../gateway/gateway-support.ts';

const WAIT = { timeout: 30_000 };
const ADMIN = 'an-admin-of-the-environment-0123456789';

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: ADMIN });
const browser = sharedBrowser(gateway);
const keys: { [name: string]: string } = {};

const textOf = (slug: string): string => `# Says hello.
name: Greeting
slug: ${slug}
constraints: {allowSelfModification: true}
input:
  who: {type: string, default: Ann}
steps:
  received:
    stepType: trigger
    nextSteps: {success: greet}
  greet:
    stepType: mapping
    config:
      output: {text: 'Hello, {{ input.who }}.'}   # friendly
    nextSteps:
      success: done
  done:
    stepType: finish
    config:
      output: '{{ steps.greet.output.data }}'
`;

async function stored(): Promise<string> {
  const slug = unique('greeting');
  const headers = { 'content-type': 'application/yaml' };
  const { status } = await gateway.request('PUT', `/api/workflows/${slug}`, { text: textOf(slug), headers });
  expect(status).toBe(201);
  return slug;
}

const openEditor = (slug: string, key = 'eve', more: object = {}) =>
  browser.open(`/console/workflows/${slug}/edit`, { key: keys[key] as string, ...more });
/** A loaded machine may refuse a dry run, which is then sent again. */
const BUSY = { expects: [/status of 503/] };
const content = (page: Page) => page.getByRole('textbox', { name: /^Text of / });
const settled = (page: Page) => page.getByRole('status').getByText('No problems.').waitFor();

/** Puts the cursor behind a part of the text, which stands in one line. */
async function putCursor(page: Page, line: string): Promise<void> {
  await content(page).locator('.cm-line', { hasText: line }).click();
  await page.keyboard.press('End');
}

const storedText = async (slug: string): Promise<string> =>
  String((await gateway.request('GET', `/api/workflows/${slug}/text`)).body.text);

describeInBrowser('the editor in the console', () => {
  beforeAll(async () => {
    const make = async (user: string, role: string): Promise<void> => {
      keys[user] = await gateway.makeKey({ name: unique(user), user, role });
    };
    await Promise.all([make('eve', 'editor'), make('ann', 'runner'), make('vic', 'viewer')]);
  });

  it('shows a mistake at its place and on the graph, completes a step, and saves what the diff shows', async () => {
    const slug = await stored();
    const { page, end } = await openEditor(slug);
    await settled(page);
    await content(page).getByText('# Says hello.').waitFor();
    await page.locator('[data-step=greet]').waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'editor');

    await putCursor(page, 'success: done');
    await page.keyboard.type('r');
    const problems = page.getByRole('list', { name: 'Problems' });
    await problems.getByText('doner').first().waitFor();
    await page.locator('[data-step=greet].mark-error').waitFor();
    expect(await content(page).locator('.cm-lintRange-error').allTextContents()).toEqual(['doner']);
    expect(await page.locator('.cm-lint-marker-error').count()).toBe(1);
    await page.getByRole('button', { name: 'Line 16' }).waitFor();
    expect(await page.getByRole('button', { name: 'Save…' }).getAttribute('aria-disabled')).toBe('true');
    expect(await axe(page)).toEqual([]);
    await picture(page, 'editor-problem');

    await putCursor(page, 'success: doner');
    for (let left = 'doner'.length; left > 0; left--) await page.keyboard.press('Backspace');
    await page.keyboard.type('don');
    await page.locator('.cm-tooltip-autocomplete').getByText('done').waitFor();
    await picture(page, 'editor-completion');
    // The list takes no key at once, so that it takes none that was meant for the text.
    await page.waitForTimeout(300);
    await page.keyboard.press('Enter');
    await settled(page);
    await page.locator('.mark-error').waitFor({ state: 'detached' });
    expect(await content(page).textContent()).toContain('success: done ');

    // The graph follows the text, and leads to it.
    await putCursor(page, '# friendly');
    await page.keyboard.type(' and short');
    await page.locator('[data-step=greet][aria-pressed=true]').waitFor();
    await page.locator('[data-step=received]').click();
    await expect.poll(() => page.evaluate('String(getSelection())'), WAIT).toBe('received');

    await page.getByRole('button', { name: 'Save…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save' });
    await dialog.getByRole('textbox', { name: 'Yours' }).getByText('# friendly and short').waitFor();
    await dialog.getByRole('textbox', { name: 'Stored' }).getByText('# friendly').waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'editor-save');
    await dialog.getByLabel('Notes').fill('Shorter');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await storedText(slug)).toBe(textOf(slug).replace('# friendly', '# friendly and short'));
    await end();
    const { items } = (await gateway.request('GET', `/api/workflows/${slug}/history`)).body;
    expect(items[0].notes).toBe('Shorter');
  });

  it('shows both texts when another was faster, and stores what was made of them', async () => {
    const slug = await stored();
    const { page, end } = await openEditor(slug);
    await settled(page);
    await putCursor(page, 'Hello, ');
    await page.keyboard.type(' mine');
    await settled(page);
    const headers = { 'content-type': 'application/yaml' };
    const theirs = textOf(slug).replace('name: Greeting', 'name: Welcome');
    await gateway.request('PUT', `/api/workflows/${slug}`, { text: theirs, headers });

    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Somebody else has saved' });
    await dialog.getByRole('textbox', { name: 'Stored now' }).getByText('Welcome').waitFor();
    await dialog.getByRole('textbox', { name: 'Yours' }).getByText('# friendly mine').waitFor();
    expect(await storedText(slug)).toBe(theirs);
    expect(await axe(page)).toEqual([]);
    await picture(page, 'editor-conflict');
    // Their name is taken into mine.
    await dialog.getByRole('button', { name: 'Take this part' }).first().click();
    await dialog.getByRole('textbox', { name: 'Yours' }).getByText('Welcome').waitFor();
    await dialog.getByRole('button', { name: 'Save mine' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await storedText(slug)).toBe(theirs.replace('# friendly', '# friendly mine'));
    await settled(page);
    await content(page).getByText('Welcome').waitFor();
    await end();
  });

  it('tries a draft, beside the result of the last run', async () => {
    const slug = await stored();
    const run = { workflowId: slug, input: { who: 'Bob' } };
    const { body } = await gateway.request('POST', '/api/triggers/manual/run', { json: run });
    await gateway.until(`/api/executions/${body.executionId}/result`, ({ status }) => status === 200);
    await gateway.until(`/api/workflows/${slug}/executions`, (answer) => answer.body.items?.length === 1);
    const { page, end } = await openEditor(slug, 'eve', BUSY);
    await settled(page);
    await page.getByRole('tab', { name: 'Try' }).click();
    await page.getByRole('button', { name: 'Fill in from the last run' }).click();
    await expect.poll(() => page.getByLabel('Who').inputValue()).toBe('Bob');
    await again(page, 'Dry run', page.getByText(/^As in the last run\./));
    expect(await axe(page)).toEqual([]);
    await picture(page, 'editor-try');
    await page.getByLabel('Who').fill('Cem');
    await again(page, 'Dry run', page.getByText('Not as in the last run.'));
    await page.getByRole('tree', { name: 'output', exact: true }).getByText('Hello, Cem.').waitFor();
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.locator('[data-step=greet].is-completed').waitFor();
    await end();
  });

  it('puts outputs in place of steps that have effects, by a field for each', async () => {
    const slug = unique('called');
    const steps = {
      call: { stepType: 'http', name: 'Call', config: { url: 'http://127.0.0.1:9/' }, nextSteps: { success: 'done' } },
      done: { stepType: 'finish', config: { output: '{{ steps.call.output.data.rate }} euros' } },
    };
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: { name: 'Called', slug, steps } });
    const { page, end } = await openEditor(slug, 'eve', BUSY);
    await settled(page);
    await page.getByRole('tab', { name: 'Try' }).click();
    await again(page, 'Dry run', page.getByText("'done' reads the output of 'call', which is null"));
    await picture(page, 'editor-preset-missing');
    await page.getByRole('button', { name: 'Give it' }).click();
    const call = page.getByRole('group', { name: 'Call' });
    await call.locator('textarea:focus').waitFor();
    expect(await axe(page)).toEqual([]);
    await call.getByLabel('Output').fill('{"rate": ');
    await page.getByText(/This is no JSON/).waitFor();
    await call.getByLabel('Output').fill('{"rate": 17.5}');
    await call.getByLabel('Left by').selectOption('success');
    expect(await axe(page)).toEqual([]);
    await again(page, 'Dry run', page.getByRole('tree', { name: 'output', exact: true }).getByText('17.5 euros'));
    expect(await page.getByText('which is null').count()).toBe(0);
    await end();
  });

  it('keeps a draft through a reload, and drops it', async () => {
    const slug = await stored();
    const { page, end } = await openEditor(slug);
    await settled(page);
    await putCursor(page, '# Says hello.');
    await page.keyboard.type(' Kept.');
    await expect.poll(() => page.evaluate('JSON.stringify(localStorage)'), WAIT).toContain('Says hello. Kept.');
    await page.reload();
    await content(page).getByText('# Says hello. Kept.').waitFor();
    await page.getByText('This is your draft of').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Drop it' }).click();
    await content(page).getByText('Kept').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('JSON.stringify(localStorage)'), WAIT).toBe('{}');
    await end();
  });

  it('keeps no draft of a text that was saved, and asks at the logout whether drafts stay', async () => {
    const slug = await stored();
    const { page, end } = await openEditor(slug);
    await settled(page);
    await putCursor(page, '# Says hello.');
    await page.keyboard.type(' Kept.');
    await expect.poll(() => page.evaluate('JSON.stringify(localStorage)'), WAIT).toContain('Says hello. Kept.');
    await page.reload();
    await page.getByText('This is your draft of').waitFor();
    await page.getByRole('button', { name: 'Save…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save' });
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByText(/draft of/).count()).toBe(0);

    await putCursor(page, '# Says hello. Kept.');
    await page.keyboard.type(' More.');
    await expect.poll(() => page.evaluate('JSON.stringify(localStorage)'), WAIT).toContain('Kept. More.');
    await page.getByRole('button', { name: 'Log out' }).click();
    const leaving = page.getByRole('dialog', { name: 'Log out' });
    await leaving.getByText('This browser keeps 1 draft of yours.').waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'logout-drafts');
    await leaving.getByRole('button', { name: 'Remove and log out' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await page.evaluate('JSON.stringify(localStorage)')).toBe('{}');
    await end();
  });

  it('begins a new workflow with an example, on a phone too', async () => {
    const slug = unique('fresh');
    const { page, end } = await openEditor(slug, 'eve', { viewport: { width: 390, height: 844 } });
    await page.getByRole('heading', { name: `New workflow ${slug}` }).waitFor();
    await settled(page);
    expect(await axe(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await picture(page, 'editor-phone');
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: `Edit ${slug}` }).waitFor();
    expect(await storedText(slug)).toContain('# A new workflow.');
    await end();
  });

  it('lets those propose who may not save, and says which role viewers need', async () => {
    const slug = await stored();
    const { page, end } = await openEditor(slug, 'ann');
    await settled(page);
    await putCursor(page, 'name: Greeting');
    await page.keyboard.type('s');
    await settled(page);
    await page.getByRole('button', { name: 'Propose…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Propose this change' });
    await dialog.getByLabel('Notes').fill('More than one');
    await dialog.getByRole('button', { name: 'Propose', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await end();
    const { items } = (await gateway.request('GET', `/api/workflows/${slug}/proposals`)).body;
    expect(items).toMatchObject([{ status: 'pending', notes: 'More than one', proposedBy: 'ann' }]);
    const viewer = await openEditor(slug, 'vic');
    await settled(viewer.page);
    const button = viewer.page.getByRole('button', { name: 'Propose…' });
    expect(await button.getAttribute('title')).toBe('Needs the role runner.');
    await viewer.end();
  });
});
