// A page of a run whose gateway becomes unreachable and returns.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { TestBrowser } from '../../support/browser.ts';
import type { TestGateway } from '../gateway/gateway-support.ts';
import { runPage, runPath } from './run-definitions.ts';

const WAIT = { timeout: 60_000 };

export const TWO_APPROVALS = {
  one: { stepType: 'approval', config: { message: 'One?' }, nextSteps: { approved: 'two' } },
  two: { stepType: 'approval', config: { message: 'Two?' }, nextSteps: { approved: 'end' } },
  end: { stepType: 'finish' },
};

/** The paths of the trace, as the table shows them. */
export const tracePaths = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('.trace tr[data-path]')].map((row) => row.dataset.path)`);

/** `browser` shows a run of TWO_APPROVALS over a connection that can be cut. `gateway` stays reachable. */
export async function expectReconnect(
  gateway: TestGateway,
  browser: TestBrowser,
  id: string,
  key: string,
  connection: { cut(): Promise<void>; join(): Promise<unknown> },
): Promise<void> {
  const approve = (step: string) =>
    gateway.request('POST', `${runPath(id)}/approve`, { json: { approve: true, step } });
  const { page, end } = await browser.open(runPage(id, '?view=trace'), { key, expects: [/Failed to load|ERR_/] });
  await page.getByText('live', { exact: true }).waitFor(WAIT);
  await expect.poll(() => tracePaths(page), WAIT).toEqual(['one']);
  await page.evaluate('window.stillHere = true');
  await connection.cut();
  await page.getByText('The gateway cannot be reached. Reconnecting…').waitFor(WAIT);
  expect((await approve('one')).status).toBe(200);
  await connection.join();
  const waits = page.getByRole('region', { name: 'What it waits for' });
  await waits.getByText('Two?').waitFor(WAIT);
  await page.getByText('live', { exact: true }).waitFor(WAIT);
  await expect.poll(() => tracePaths(page), WAIT).toEqual(['one', 'two']);
  await approve('two');
  await expect.poll(() => page.locator('.run-head .badge').textContent(), WAIT).toBe('completed');
  await expect.poll(() => tracePaths(page), WAIT).toEqual(['one', 'two', 'end']);
  expect(await page.evaluate('window.stillHere')).toBe(true);
  await end();
}
