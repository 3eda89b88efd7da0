// `node deploy/pictures.mjs`: takes the pictures of the README in a real Chromium (SIGNALBOX_CHROMIUM, or
// /usr/bin/chromium), on a stack of its own with two runs of a workflow made for it.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { say } from './progress.mjs';
import { runningStack } from './stacks.mjs';

/** Of each picture. */
const MAX_BYTES = 150_000;
const READY_MS = 120_000;
const folder = fileURLToPath(new URL('pictures', import.meta.url));

const code = (text) => ({ language: 'javascript', code: text });
/** Orders are checked one by one; large ones are approved by a person. */
const definition = {
  name: 'Order of the week',
  slug: 'weekly-order',
  input: { customer: 'string', amount: 'number', items: 'array' },
  steps: {
    each: {
      stepType: 'forEach',
      name: 'Check each item',
      config: { items: '{{ input.items }}', concurrency: 2 },
      nextSteps: { item: 'price', done: 'large' },
    },
    price: {
      stepType: 'run_code',
      name: 'Find the price',
      config: { ...code('export default ({ n }) => n * 12;'), input: { n: '{{ item }}' } },
      nextSteps: { success: 'stock' },
    },
    stock: {
      stepType: 'condition',
      name: 'In stock?',
      config: { expression: 'item < 9' },
      nextSteps: { false: 'reorder' },
    },
    reorder: { stepType: 'set', name: 'Reorder it', config: { values: { reordered: true } } },
    large: {
      stepType: 'condition',
      name: 'A large order?',
      config: { expression: 'input.amount > 1000' },
      nextSteps: { true: 'ask', false: 'ship' },
    },
    ask: {
      stepType: 'approval',
      name: 'Ask the manager',
      config: {
        message: 'Ship the order of {{ input.customer }} for {{ input.amount }}?',
        timeout: '2d',
      },
      nextSteps: { approved: 'ship', rejected: 'decline', timeout: 'decline' },
    },
    ship: { stepType: 'finish', name: 'Ship it', config: { output: { shipped: true } } },
    decline: { stepType: 'finish', name: 'Decline it', config: { output: { shipped: false } } },
  },
};

const data = mkdtempSync(join(tmpdir(), 'signalbox-pictures-'));
const env = { ...process.env, SIGNALBOX_DATA: data, SIGNALBOX_PORT: '0' };
delete env.TEMPORAL_ADDRESS;
const stack = spawn(process.execPath, [fileURLToPath(new URL('start.mjs', import.meta.url))], {
  env,
  stdio: ['ignore', 'ignore', 'inherit'],
});
const gone = new Promise((resolve) => stack.once('exit', resolve));
let browser;
try {
  const url = await addressOf(data);
  const send = async (method, path, body) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json();
  };
  await send('PUT', '/api/workflows/weekly-order', definition);
  const input = { customer: 'Ann Miller', amount: 2500, items: [3, 9, 4, 1, 12, 5] };
  const { executionId } = await send('POST', '/api/triggers/manual/run', { workflowId: 'weekly-order', input });
  await sleep(2_000);
  browser = await chromium.launch({
    executablePath: process.env.SIGNALBOX_CHROMIUM ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const id = encodeURIComponent(executionId);
  await picture(`${url}/console/runs/${id}`, 'run', { width: 1280, height: 1080 });
  await picture(`${url}/console/approvals/${id}/ask`, 'approval', { width: 390, height: 844 });
} catch (error) {
  say(error.message);
  process.exitCode = 1;
} finally {
  await browser?.close();
  stack.kill('SIGTERM');
  await gone;
  rmSync(data, { recursive: true, force: true });
}

/** Waits for the gateway of the stack. */
async function addressOf(dataDir) {
  for (const last = Date.now() + READY_MS; Date.now() < last; await sleep(200)) {
    const url = runningStack(dataDir)?.gateway?.url;
    if (url !== undefined && (await fetch(`${url}/api/workflows`).catch(() => undefined))?.ok) return url;
  }
  throw new Error('The stack did not start.');
}

async function picture(address, name, viewport) {
  const context = await browser.newContext({ viewport, colorScheme: 'light', reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await sleep(2_000);
  const file = join(folder, `${name}.png`);
  await page.screenshot({ path: file });
  await context.close();
  const { size } = statSync(file);
  if (size > MAX_BYTES) throw new Error(`${name}.png has ${size} bytes; at most ${MAX_BYTES} are allowed.`);
  say(`${name}.png: ${size} bytes.`);
}
