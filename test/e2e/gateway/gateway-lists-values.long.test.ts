// Values that lists are filtered by, with characters that databases and their query languages treat in their own way.

import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { type Answer, sharedGateway, unique } from './gateway-support.ts';

const ODD = {
  'a backslash': 'a\\b',
  'a backslash at the end': 'a\\',
  'two backslashes': 'a\\\\b',
  'a new line': 'a\nb',
  'a tab': 'a\tb',
  'a carriage return': 'a\r\nb',
  'a backspace': 'a\bb',
  'single quotes': "it's '",
  'double quotes': 'say "a"',
  'a NUL': 'a\u0000b',
  'what a NUL becomes': 'a b',
  'half of a surrogate pair': 'a\ud800b',
  'the other half': 'a\udc00b',
  'a percent sign': 'a%b_c',
  'a backtick': '`a`',
};
/** What an address can hold. */
const WRITABLE = Object.entries(ODD).filter(([, value]) => !/\p{Cs}|\0/u.test(value));

const gateway = sharedGateway();
const slug = unique('odd');
const ids = new Map<string, string>();

beforeAll(async () => {
  const stored = await gateway.request('POST', '/api/workflows', {
    json: {
      name: 'Odd',
      slug,
      state: { color: { type: 'string', searchable: true } },
      steps: {
        keep: {
          stepType: 'set',
          config: { target: 'state', values: { color: '{{ input.color }}' } },
          nextSteps: { success: 'ask' },
        },
        ask: { stepType: 'approval', config: { message: '{{ input.color }}?' }, nextSteps: { approved: '$end' } },
      },
    },
  });
  expect(stored.status, JSON.stringify(stored.body)).toBe(201);
  for (const [name, color] of Object.entries(ODD)) {
    const id = await gateway.start(slug, { color });
    ids.set(name, id);
  }
});

const list = (query: string): Promise<Answer> => gateway.request('GET', `/api/executions?workflowId=${slug}&${query}`);
const found = ({ body }: Answer): string[] => body.items.map(({ id }: { id: string }) => id);

describe('searchable state', () => {
  it('is listed whatever it holds: no run is missing, nor stays as it was', async () => {
    const all = Object.keys(ODD).length;
    const answer = await gateway.until(
      `/api/executions?workflowId=${slug}&status=waiting_approval&limit=100`,
      ({ body }) => body.items.length === all,
    );
    expect(new Set(found(answer))).toEqual(new Set(ids.values()));
  });

  it.each(WRITABLE)('is found with %s, and nothing else is', async (name, color) => {
    const query = `state[color]=${encodeURIComponent(color)}`;
    await expect.poll(async () => found(await list(query))).toEqual([ids.get(name)]);
  });

  it('stays as it is in the data of the run, and leaves the list when the run ends', async () => {
    for (const [name, color] of Object.entries(ODD)) {
      const run = await gateway.request('GET', `/api/executions/${ids.get(name)}`);
      expect(run.body.input).toEqual({ color } satisfies Json);
      const decided = await gateway.request('POST', `/api/executions/${ids.get(name)}/approve`, {
        json: { approve: true },
      });
      expect(decided.status).toBe(200);
    }
    await gateway.until(
      `/api/executions?workflowId=${slug}&status=completed&limit=100`,
      ({ body }) => body.items.length === ids.size,
    );
    expect(found(await list('status=waiting'))).toEqual([]);
  });
});
