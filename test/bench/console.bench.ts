// The console in a real Chromium, over a gateway on loopback: how soon a run is drawn, and how it scrolls.
import type { Page } from 'playwright-core';
import { it } from 'vitest';
import type { Json } from '../../src/json/json.ts';
import { testGateway, unique } from '../e2e/gateway/gateway-support.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { handOver, median, only, type Row } from './rows.ts';

const NAMES = {
  paint: 'console: first paint',
  small: 'console: run of 100 steps drawn',
  large: 'console: run of 1,000 steps drawn',
  visits: 'console: run of 10,000 visits drawn, all loaded',
  frames: 'console: frames a second, scrolling 10,000 visits',
};
const ROUNDS = 5;
const TICKS = 3_333;
const DRAWN = `document.querySelectorAll('.step.is-completed').length > 0`;
const LOADED = `${DRAWN} && document.querySelector('.tools [role="status"]') === null`;
const SCROLL_MS = 2_000;

type Steps = { [slug: string]: Json };

const chain = (count: number): Steps =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `s${n}`,
      n + 1 === count
        ? { stepType: 'finish' }
        : {
            stepType: 'condition',
            config: { expression: 'true' },
            nextSteps: { true: `s${n + 1}`, false: n % 5 === 0 ? `s${count - 1}` : '$end' },
          },
    ]),
  );

const loop: Steps = {
  each: {
    stepType: 'loop',
    config: { items: Array.from({ length: TICKS }, (_, n) => n) },
    nextSteps: { loop: 'a', done: 'end' },
  },
  a: { stepType: 'set', config: { values: { a: 1 } }, nextSteps: { success: 'b' } },
  b: { stepType: 'set', config: { values: { b: 1 } }, nextSteps: { success: 'c' } },
  c: { stepType: 'set', config: { values: { c: 1 } }, nextSteps: { success: 'each' } },
  end: { stepType: 'finish' },
};

/** A promise of the time at which it holds, looked at before each frame. The policy of the page forbids more. */
const when = (holds: string): string =>
  `new Promise((resolve) => {
    const look = () => (${holds}) ? resolve(performance.now()) : requestAnimationFrame(look);
    look();
  })`;

/** Milliseconds from the begin of the loading until it holds, after the files of the console were cached. */
async function until(page: Page, address: string, holds: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    await page.goto(address, { waitUntil: 'commit' });
    const at = await page.evaluate<number>(when(holds));
    if (round > 0) times.push(at);
  }
  return median(times);
}

const framesOf = (page: Page): Promise<number> =>
  page.evaluate(`new Promise((resolve) => {
    const pane = document.querySelector('.trace');
    const begun = performance.now();
    let frames = 0;
    const next = () => {
      frames++;
      pane.scrollTop += 137;
      const ms = performance.now() - begun;
      if (ms < ${SCROLL_MS}) requestAnimationFrame(next);
      else resolve(frames / ms * 1000);
    };
    requestAnimationFrame(next);
  })`);

it('measures the console', { timeout: 600_000 }, async () => {
  const rows: Row[] = [];
  if (hasBrowser && Object.values(NAMES).some(only)) {
    const gateway = await testGateway();
    const browser = await openBrowser(gateway.url);
    try {
      const ended = async (steps: Steps): Promise<string> => {
        const definition = { name: 'Bench', slug: unique('bench'), steps };
        const { status, body } = await gateway.request('POST', '/api/executions', { json: { definition } });
        if (status !== 201) throw new Error(JSON.stringify(body));
        const id = encodeURIComponent(body.executionId);
        await gateway.until(`/api/executions/${id}`, (answer) => answer.body.completedAt !== undefined, 120);
        return `${gateway.url}/console/runs/${id}`;
      };
      const { page, end } = await browser.open('/console', { viewport: { width: 1480, height: 900 } });
      const add = (name: string, value: number, aim: Row['aim'], unit: string): void => {
        if (only(name)) rows.push({ name, value, aim, unit });
      };
      const small = await ended(chain(100));
      await until(page, small, DRAWN);
      const paint = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime`;
      await page.goto(small);
      add(NAMES.paint, Number(await page.evaluate(paint)), { most: 300 }, ' ms');
      add(NAMES.small, await until(page, small, DRAWN), { most: 1_000 }, ' ms');
      add(NAMES.large, await until(page, await ended(chain(1_000)), DRAWN), { most: 1_500 }, ' ms');
      const long = await ended(loop);
      add(NAMES.visits, await until(page, long, LOADED), { most: 2_000 }, ' ms');
      await page.goto(`${long}?view=trace`);
      await page.evaluate(when(`document.querySelector('.trace tr[data-row]') !== null`));
      add(NAMES.frames, await framesOf(page), { least: 40 }, '/s');
      await end();
    } finally {
      await browser.close();
      await gateway.close();
    }
  }
  handOver('console', rows);
});
