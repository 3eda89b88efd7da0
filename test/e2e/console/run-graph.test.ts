// The Run screen in a real browser: the graph, iterations, the trace, the panel, and the address that restores them.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axe, describeInBrowser, picture, sharedBrowser } from '../../support/browser.ts';
import { sharedGateway } from '../gateway/gateway-support.ts';
import { nestedRun, runPage, runPath } from './run-definitions.ts';

const gateway = sharedGateway();
const browser = sharedBrowser(gateway);
let id = '';

/** Elements that are wider than the window and do not scroll. */
const overflowingElements = (page: Page): Promise<string[]> =>
  page.evaluate(`document.documentElement.scrollWidth <= innerWidth ? [] :
    [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1
      && !e.closest('.pane, .trace, .tabs, nav')).map((e) => e.tagName + '.' + e.className)`);

const step = (page: Page, slug: string) => page.locator(`.canvas [data-step="${slug}"]`);
/** What the graph says of a step: its status and its visits. */
const spokenStatusOf = async (page: Page, slug: string) =>
  (await step(page, slug).locator('.hidden').textContent())?.replace(/^, /, '');
/** All visits are there. */
const loaded = async (page: Page) => {
  await page.locator('.tools').waitFor();
  await page.getByText('Loading visits…').waitFor({ state: 'detached' });
};
const query = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);
const WAIT = { timeout: 60_000 };

describeInBrowser('the graph of a run', () => {
  beforeAll(async () => {
    id = await nestedRun(gateway);
  });
  afterAll(async () => {
    await gateway?.request('POST', `${runPath(id)}/terminate`);
  });

  it('shows what each step did, why the run is not completed, and breaks no rule of accessibility', async () => {
    const { page, end } = await browser.open(runPage(id), { viewport: { width: 1600, height: 1250 } });
    await page.getByRole('heading', { name: 'Nightly prices', level: 1 }).waitFor();
    await step(page, 'ask').waitFor();
    await expect.poll(() => spokenStatusOf(page, 'look'), WAIT).toBe('completed, 12 visits');
    expect(await spokenStatusOf(page, 'broken')).toBe('failed');
    expect(await spokenStatusOf(page, 'refuse')).toBe('not reached');
    const why = page.getByRole('region', { name: 'What it waits for' });
    await why.getByText('Publish the prices of 3 shops?').waitFor();
    expect(await why.getByRole('button').allTextContents()).toEqual(['ask', 'Approve…', 'Reject…']);
    // It follows the run: the step that waits is selected.
    expect(await step(page, 'ask').getAttribute('aria-pressed')).toBe('true');
    await page.getByRole('complementary', { name: 'Step Publish?' }).waitFor();
    await picture(page, 'run-nested');
    expect(await axe(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'run-nested-dark');

    // No line passes through a step, and no label lies over another, as the browser draws them.
    await page.setViewportSize({ width: 1600, height: 2600 });
    await expect.poll(() => page.locator('.step').count(), WAIT).toBe(13);
    const faults = await page.evaluate(`(() => {
      const near = (a, b) =>
        a.left + 1 < b.right && b.left + 1 < a.right && a.top + 1 < b.bottom && b.top + 1 < a.bottom;
      const faults = [];
      const steps = [...document.querySelectorAll('.step')].map((e) => [e.title, e.getBoundingClientRect()]);
      const labels = [...document.querySelectorAll('.port')].map((e) => [e.textContent, e.getBoundingClientRect()]);
      labels.forEach(([a, one], n) => {
        for (const [b, other] of [...labels.slice(n + 1), ...steps])
          if (near(one, other)) faults.push(a + ' over ' + b);
      });
      const svg = document.querySelector('svg.edges');
      for (const path of svg.querySelectorAll('path.edge')) {
        const matrix = path.getScreenCTM();
        for (let at = 0; at <= path.getTotalLength(); at += 4) {
          const { x, y } = path.getPointAtLength(at).matrixTransform(matrix);
          const hit = steps.find(([, box]) =>
            x > box.left + 2 && x < box.right - 2 && y > box.top + 2 && y < box.bottom - 2);
          if (hit !== undefined) { faults.push('line through ' + hit[0]); break; }
        }
      }
      return [steps.length, labels.length > 3, ...faults];
    })()`);
    expect(faults).toEqual([13, true]);
    await end();
  });

  it('narrows everything to an iteration, and nothing of another is left', async () => {
    const { page, end } = await browser.open(runPage(id), { viewport: { width: 1400, height: 1000 } });
    await expect.poll(() => spokenStatusOf(page, 'keep'), WAIT).toBe('completed, 11 visits');
    await loaded(page);
    await page.getByRole('slider', { name: 'The items of Every shop' }).locator('.cell').nth(1).click();
    await expect.poll(() => query(page, 'in')).toBe('shops:1');
    expect(await spokenStatusOf(page, 'look')).toBe('completed, 4 visits');
    expect(await spokenStatusOf(page, 'keep')).toBe('completed, 3 visits');
    await step(page, 'keep').click();
    const visits = page.getByRole('group', { name: 'Visits' }).getByRole('button');
    await expect.poll(() => visits.count()).toBe(3);
    expect((await visits.allTextContents()).every((text) => text.includes('shops 1 · pages'))).toBe(true);
    await page.getByRole('tab', { name: 'Output' }).click();
    await page.getByRole('tree', { name: 'output' }).getByText('"paris 3"').waitFor();
    await picture(page, 'run-one-iteration');

    // Inwards: one tick of that shop.
    await page.getByRole('slider', { name: 'The ticks of Page by page' }).locator('.cell').nth(2).click();
    await expect.poll(() => query(page, 'in')).toBe('shops:1,pages:2');
    expect(await spokenStatusOf(page, 'look')).toBe('completed');
    expect(await spokenStatusOf(page, 'keep')).toBe('not reached');
    await page.getByText('Not reached in this iteration.').waitFor();

    await page.getByRole('tab', { name: 'Trace' }).click();
    const where = await page.locator('.trace tbody tr:not(.space) td:nth-child(2)').allTextContents();
    expect(where.filter((text) => text !== '').length).toBeGreaterThan(2);
    expect(where.filter((text) => text !== '' && !/^shops 1( · pages 2)?$/.test(text))).toEqual([]);
    expect(await axe(page)).toEqual([]);

    // The address restores it all.
    await page.reload();
    await page.getByText('Only shops 1 · pages 2').waitFor();
    expect(await page.getByRole('tab', { name: 'Trace' }).getAttribute('aria-selected')).toBe('true');
    await page.getByRole('button', { name: 'Show the whole run' }).click();
    await expect.poll(() => query(page, 'in')).toBe(null);
    await end();
  });

  it('is used by the keyboard alone', async () => {
    const { page, end } = await browser.open(runPage(id), { viewport: { width: 1400, height: 1000 } });
    await expect.poll(() => spokenStatusOf(page, 'keep'), WAIT).toBe('completed, 11 visits');
    await loaded(page);
    // The graph is one stop of the Tab key.
    expect(await page.locator('.canvas [tabindex="0"]').count()).toBe(1);
    await page.keyboard.press('f');
    await expect.poll(() => query(page, 'step')).toBe('gather/prices/shops[1]/pages~2/broken');
    await page
      .getByRole('complementary', { name: 'Step A page that breaks' })
      .getByText('The page is broken.')
      .first()
      .waitFor();
    await page.keyboard.press(']');
    await expect.poll(() => query(page, 'in')).toBe('shops:0,pages:0');
    await page.keyboard.press(']');
    await expect.poll(() => query(page, 'in')).toBe('shops:0,pages:1');
    await page.keyboard.press('[');
    await expect.poll(() => query(page, 'in')).toBe('shops:0,pages:0');
    await page.keyboard.press('w');
    await expect.poll(() => query(page, 'step')).toBe('ask');
    await page.locator('.canvas [tabindex="0"]').focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => query(page, 'step')).toMatch(/^(publish|refuse)$/);
    await expect.poll(() => page.evaluate('document.activeElement.dataset.step')).toBe(query(page, 'step'));
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => query(page, 'step')).toBe('ask');
    const size = await page.locator('.tools .number').textContent();
    await page.keyboard.press('-');
    await expect.poll(() => page.locator('.tools .number').textContent()).not.toBe(size);
    await page.keyboard.press('0');
    await expect.poll(() => page.locator('.tools .number').textContent()).toBe('100 %');
    expect(await page.getByRole('region', { name: 'Time line' }).count()).toBe(1);
    await page.keyboard.press('t');
    await expect.poll(() => page.getByRole('region', { name: 'Time line' }).count()).toBe(0);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('The next that failed').waitFor();
    await page.keyboard.press('Escape');

    // Far away it is boxes and colours only.
    for (let n = 0; n < 9; n++) await page.keyboard.press('-');
    await page.locator('.canvas.far').waitFor();
    expect(await page.locator('.port').count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    await picture(page, 'run-far');
    await end();
  });

  describe('on a phone', () => {
    it('shows the trace first, and the graph as a tab; also at a zoom of 200 %', async () => {
      const { page, end } = await browser.open(runPage(id), { viewport: { width: 390, height: 844 } });
      await page.getByRole('table', { name: 'Trace' }).getByRole('button', { name: 'Publish?' }).waitFor();
      expect(await page.getByRole('tab', { name: 'Trace' }).getAttribute('aria-selected')).toBe('true');
      expect(await overflowingElements(page)).toEqual([]);
      const approve = await page.getByRole('button', { name: 'Approve…' }).boundingBox();
      expect(approve?.height).toBeGreaterThanOrEqual(44);
      await picture(page, 'run-phone');
      expect(await axe(page)).toEqual([]);
      await page.getByRole('tab', { name: 'Graph' }).click();
      await step(page, 'ask').waitFor();
      await picture(page, 'run-phone-graph');
      expect(await overflowingElements(page)).toEqual([]);
      // As a page of 1280 pixels at a zoom of 200 %: nothing is lost.
      await page.setViewportSize({ width: 640, height: 400 });
      await step(page, 'ask').scrollIntoViewIfNeeded();
      await page.getByRole('tab', { name: 'Trace' }).click();
      await page.getByRole('table', { name: 'Trace' }).waitFor();
      expect(await overflowingElements(page)).toEqual([]);
      await page.getByRole('button', { name: 'Approve…' }).scrollIntoViewIfNeeded();
      await end();
    });
  });

  it('says that there is no such run', async () => {
    const { page, end } = await browser.open(runPage('run.default.none.1'));
    await page.getByRole('alert').getByText('not_found').waitFor();
    await page.getByRole('heading', { name: 'Run' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await end();
  });
});
