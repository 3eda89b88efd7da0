// Runs for the tests of the Run screen.
import type { Json } from '../../../src/json/json.ts';
import { type TestGateway, unique } from '../gateway/gateway-support.ts';

type Steps = { [slug: string]: Json };

/** Three shops, each with pages in a loop beside a race; page 2 of shop 1 fails. Then a person is asked. */
export const NESTED: Steps = {
  received: { stepType: 'trigger', nextSteps: { success: 'gather' } },
  gather: { stepType: 'parallel', name: 'Gather', nextSteps: { stock: 'quickest', prices: 'shops', done: 'ask' } },
  quickest: { stepType: 'race', name: 'The quickest', nextSteps: { cache: 'readCache', origin: 'readOrigin' } },
  readCache: { stepType: 'set', name: 'Read the cache', config: { values: { from: 'cache' } } },
  readOrigin: { stepType: 'sleep', name: 'Read the origin', config: { duration: '1h' } },
  shops: {
    stepType: 'forEach',
    name: 'Every shop',
    config: { items: ['london', 'paris', 'rome'], as: 'shop' },
    nextSteps: { item: 'pages' },
  },
  pages: { stepType: 'loop', name: 'Page by page', config: { items: [0, 1, 2, 3] }, nextSteps: { loop: 'look' } },
  look: {
    stepType: 'condition',
    name: 'Is the page good?',
    config: { expression: "shop == 'paris' && loop.index == 2" },
    nextSteps: { true: 'broken', false: 'keep' },
  },
  broken: {
    stepType: 'run_code',
    name: 'A page that breaks',
    config: { code: 'throw new Error("The page is broken.")' },
    onError: 'continue',
    nextSteps: { success: 'pages' },
  },
  keep: {
    stepType: 'set',
    name: 'Keep the page',
    config: { values: { page: '{{ shop }} {{ loop.index }}' } },
    nextSteps: { success: 'pages' },
  },
  ask: {
    stepType: 'approval',
    name: 'Publish?',
    config: { message: 'Publish the prices of 3 shops?' },
    nextSteps: { approved: 'publish', rejected: 'refuse' },
  },
  publish: { stepType: 'finish', name: 'Publish', config: { output: { published: true } } },
  refuse: { stepType: 'fail', name: 'Refuse', config: { message: 'Nobody wants it.' } },
};

/** `key`: of who starts it. Who starts a run does not decide its approvals. */
export async function startRun(gateway: TestGateway, steps: Steps, key?: string): Promise<string> {
  const definition = { name: 'Nightly prices', slug: unique('console'), steps };
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  // On a loaded machine a gateway may ask to send it again.
  for (const last = Date.now() + 20_000; ; ) {
    const { status, body } = await gateway.request('POST', '/api/executions', {
      json: { definition } as Json,
      headers,
    });
    if (status === 201) return body.executionId;
    if (status !== 503 || Date.now() > last) throw new Error(`The run was not started: ${JSON.stringify(body)}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

export const runPath = (id: string): string => `/api/executions/${encodeURIComponent(id)}`;
export const runPage = (id: string, query = ''): string => `/console/runs/${encodeURIComponent(id)}${query}`;

/** The nested run, at the question. */
export async function nestedRun(gateway: TestGateway): Promise<string> {
  const id = await startRun(gateway, NESTED);
  await gateway.until(runPath(id), ({ body }) => body.waitingFor?.some((wait: Json) => isWaitingForPerson(wait)), 30);
  return id;
}

const isWaitingForPerson = (wait: Json): boolean => (wait as { kind: string }).kind === 'approval';
