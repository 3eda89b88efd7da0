// A page of a run whose gateway goes away and comes back.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { TestBrowser } from '../../support/browser.ts';
import type { TestGateway } from '../gateway/gateway-support.ts';
import { runPage, runPath } from './run-definitions.ts';

const WAIT = { timeout: 60_000 };

export const ASKS_TWICE = {
  one: { stepType: 'approval', config: { message: 'One?' }, nextSteps: { approved: 'two' } },
  two: { stepType: 'approval', config: { message: 'Two?' }, nextSteps: { approved: 'end' } },
  end: { stepType: 'finish' },
};

/** The paths of the trace, as the table shows them. */
export const traced = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('.trace tr[data-path]')].map((row) => row.dataset.path)`);

/** `away` shows a run of ASKS_TWICE over a gateway that can be cut off. `gateway` is always there. */
export async function seeItReturn(
  gateway: TestGateway,
  away: TestBrowser,
  id: string,
  key: string,
  line: { cut(): Promise<void>; join(): Promise<unknown> },
): Promise<void> {
  const approve = (step: string) =>
    gateway.request('POST', `${runPath(id)}/approve`, { json: { approve: true, step } });
  const { page, end } = await away.open(runPage(id, '?view=trace'), { key, expects: [/Failed to load|ERR_/] });
  await page.getByText('live', { exact: true }).waitFor(WAIT);
  await expect.poll(() => traced(page), WAIT).toEqual(['one']);
  await page.evaluate('window.stillHere = true');
  await line.cut();
  await page.getByText('The gateway cannot be reached. Reconnecting…').waitFor(WAIT);
  expect((await approve('one')).status).toBe(200);
  await line.join();
  const why = page.getByRole('region', { name: 'What it waits for' });
  await why.getByText('Two?').waitFor(WAIT);
  await page.getByText('live', { exact: true }).waitFor(WAIT);
  await expect.poll(() => traced(page), WAIT).toEqual(['one', 'two']);
  await approve('two');
  await expect.poll(() => page.locator('.run-head .badge').textContent(), WAIT).toBe('completed');
  await expect.poll(() => traced(page), WAIT).toEqual(['one', 'two', 'end']);
  expect(await page.evaluate('window.stillHere')).toBe(true);
  await end();
}
