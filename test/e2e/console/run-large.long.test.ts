// The Run screen of large runs: what is not near the window is not in the document, and every visit can be reached.
import { expect, it } from 'vitest';
import { axe, describeInBrowser, picture, sharedBrowser } from '../../support/browser.ts';
import { sharedGateway } from '../gateway/gateway-support.ts';
import { runPage, runPath, startRun } from './run-definitions.ts';

const TICKS = 3_333;
const STEPS = 1_000;
const WAIT = { timeout: 30_000 };

const gateway = sharedGateway();
const browser = sharedBrowser(gateway);

describeInBrowser('a large run', () => {
  it('of 10,000 visits shows them all in few elements, and jumps from one failure to the next', async () => {
    const id = await startRun(gateway, {
      each: {
        stepType: 'loop',
        config: { items: Array.from({ length: TICKS }, (_, n) => n) },
        nextSteps: { loop: 'a', done: 'end' },
      },
      a: { stepType: 'set', config: { values: { a: 1 } }, nextSteps: { success: 'odd' } },
      odd: {
        stepType: 'condition',
        config: { expression: 'loop.index % 500 == 7' },
        nextSteps: { true: 'bad', false: 'c' },
      },
      bad: {
        stepType: 'set',
        onError: 'continue',
        config: { values: { x: 'n{{ input.nothing.at.all }}' } },
        nextSteps: { success: 'each' },
      },
      c: { stepType: 'set', config: { values: { c: 1 } }, nextSteps: { success: 'each' } },
      end: { stepType: 'finish' },
    });
    await gateway.until(runPath(id), ({ body }) => body.completedAt !== undefined, 60);
    const { page, end } = await browser.open(runPage(id), { viewport: { width: 1480, height: 900 } });
    await page.getByText(/10,001 visits|10,002 visits/).waitFor(WAIT);
    await page.getByText('Loading visits…').waitFor({ state: 'detached', ...WAIT });
    expect(await page.locator('.cell').count()).toBe(24);
    await page.getByRole('button', { name: '7 failed: next tick that failed' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('in')).toBe('each:7');
    await page.getByRole('button', { name: '7 failed: next tick that failed' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('in')).toBe('each:507');
    await page.getByRole('button', { name: 'Show the whole run' }).click();
    await page.locator('.canvas [data-step="c"]').click();
    await page.getByText('3,326 visits').waitFor();
    await picture(page, 'run-10000-visits');
    await page.getByRole('tab', { name: 'Trace' }).click();
    const rows = page.locator('.trace tr[data-row]');
    await rows.first().waitFor();
    expect(await rows.count()).toBeLessThan(80);
    expect(await page.locator('body *').count()).toBeLessThan(2_500);
    await page.locator('.trace button[tabindex="0"]').focus();
    await page.keyboard.press('Home');
    await expect.poll(() => page.evaluate('document.activeElement.closest("tr")?.dataset.row')).toBe('0');
    await page.keyboard.press('End');
    await page.locator('.trace tr[data-path="end"]').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.title')).toBe('end');
    expect(await axe(page)).toEqual([]);
    await end();
  });

  it('of 1,000 steps draws those near the window, and moves along them', async () => {
    const steps = Object.fromEntries(
      Array.from({ length: STEPS }, (_, n) => [
        `s${n}`,
        {
          stepType: 'condition',
          config: { expression: 'true' },
          nextSteps: n + 1 === STEPS ? {} : { true: `s${n + 1}`, false: n % 5 === 0 ? `s${STEPS - 1}` : '$end' },
        },
      ]),
    );
    const id = await startRun(gateway, { ...steps, s999: { stepType: 'finish' } });
    await gateway.until(runPath(id), ({ body }) => body.completedAt !== undefined, 60);
    const { page, end } = await browser.open(runPage(id), { viewport: { width: 1480, height: 900 } });
    await page.getByText('1,000 visits').first().waitFor(WAIT);
    await page.getByText('Loading visits…').waitFor({ state: 'detached', ...WAIT });
    await page.locator('.canvas [data-step="s0"]').waitFor();
    expect(await page.locator('.step').count()).toBeLessThan(40);
    await page.locator('.canvas [tabindex="0"]').focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.evaluate('document.activeElement.dataset.step')).toBe('s1');
    await page.evaluate('document.querySelector(".pane").scrollTop = 1e9');
    await page.locator('.canvas [data-step="s999"]').click();
    await page.getByRole('complementary', { name: 'Step s999' }).waitFor();
    await picture(page, 'run-1000-steps');
    await end();
  });
});
