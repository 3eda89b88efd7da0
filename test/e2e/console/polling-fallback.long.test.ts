// A run whose event stream is refused, since too many pages follow it: the page polls instead, and says so.
import { expect, it } from 'vitest';
import { axe, describeInBrowser, sharedBrowser } from '../../support/browser.ts';
import { approvalDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();
const browser = sharedBrowser(gateway);

describeInBrowser('a stream that is refused', () => {
  it('is replaced by asking every five seconds, until the run has ended', async () => {
    const slug = unique('refused');
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
    const json = { workflowId: slug, input: { amount: 7 } };
    const { body } = await gateway.request('POST', '/api/triggers/manual/run', { json });
    const id = String(body.executionId);
    await gateway.until(`/api/executions/${id}`, (answer) => answer.body.status === 'waiting');
    const { page, context, end } = await browser.open('/console/runs');
    let refused = 0;
    await context.route('**/api/executions/*/events*', (route) => {
      refused += 1;
      const problem = { type: 'about:blank', title: 'Too many', status: 429, detail: 'No.', code: 'too_many_streams' };
      return route.fulfill({ status: 429, contentType: 'application/problem+json', body: JSON.stringify(problem) });
    });
    await page.goto(`${gateway.url}/console/runs/${encodeURIComponent(id)}`);
    await page.getByText('too many pages follow runs').waitFor();
    expect(await axe(page)).toEqual([]);
    const decided = await gateway.request('POST', `/api/executions/${id}/approve`, {
      json: { approve: true },
    });
    expect(decided.status, JSON.stringify(decided.body)).toBe(200);
    await page.locator('.badge.completed').first().waitFor();
    // It is not asked for again and again.
    expect(refused).toBeLessThan(4);
    await end();
  }, 60_000);
});
