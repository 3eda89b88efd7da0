import { expect, it } from 'vitest';
import { followEvents } from '../../src/cli/follow-events.ts';
import type { Gateway } from '../../src/cli/gateway-client.ts';

const FIRST = 'retry: 1000\n\n:\n\nid: 7\nevent: step\ndata: {"a":"é"}\n\n:\n\n';

it('reports each event, and reconnects after the last one', async () => {
  const begun: (string | undefined)[] = [];
  const gateway: Pick<Gateway, 'open'> = {
    open: async (path, { seen }) => {
      expect(path).toBe('/api/executions/a%2Fb/events');
      begun.push(seen);
      const bytes = Buffer.from(begun.length === 1 ? FIRST : ':\n\n');
      return (async function* () {
        // One by one: events, lines and characters are cut anywhere.
        for (const byte of bytes) yield Uint8Array.of(byte);
      })();
    },
  };
  const events = followEvents(gateway as Gateway, 'a/b');
  try {
    while (begun.length < 2) await events.next();
  } finally {
    events.end();
  }
  expect(begun).toEqual([undefined, '7']);
});
