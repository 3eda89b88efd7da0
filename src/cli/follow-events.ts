/** Follows the events of an execution, and reconnects after the last one if the stream breaks. */

import { setTimeout as delay } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { defined } from '../json/defined.ts';
import { CliError, TemporaryError } from './exit.ts';
import type { Gateway } from './gateway-client.ts';

/** How long a gateway may take to restart. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 1_000;
/** The gateway sends at least a comment every 15 seconds. After this silence it counts as gone. */
const SILENCE_MS = 45_000;

interface EventFollower {
  /** Resolves when something may have happened since the last call. @throws CliError */
  next(): Promise<void>;
  end(): void;
}

export function followEvents(gateway: Gateway, id: string): EventFollower {
  const over = new AbortController();
  let isNews = false;
  let failed: unknown;
  let wake = (): void => undefined;
  const tell = (): void => {
    isNews = true;
    wake();
  };
  follow(gateway, id, over.signal, tell).catch((error: unknown) => {
    failed = error;
    tell();
  });
  return {
    next: async () => {
      if (!isNews)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      isNews = false;
      if (failed !== undefined) throw failed;
    },
    end: () => over.abort(),
  };
}

async function follow(gateway: Gateway, id: string, over: AbortSignal, tell: () => void): Promise<void> {
  let seen: string | undefined;
  for (let heardAt = Date.now(); !over.aborted; ) {
    const silence = new AbortController();
    const signal = AbortSignal.any([over, silence.signal]);
    const alarm = setTimeout(() => silence.abort(), SILENCE_MS);
    try {
      const events = await gateway.open(`/api/executions/${encodeURIComponent(id)}/events`, {
        signal,
        ...defined({ seen }),
      });
      tell();
      const decoder = new TextDecoder();
      const parser = createParser({
        onEvent: ({ id }) => {
          seen = id ?? seen;
          tell();
        },
      });
      for await (const bytes of events) {
        heardAt = Date.now();
        alarm.refresh();
        parser.feed(decoder.decode(bytes, { stream: true }));
      }
    } catch (error) {
      if (over.aborted) return;
      if (error instanceof CliError && !(error instanceof TemporaryError && Date.now() < heardAt + PATIENCE_MS))
        throw error;
    } finally {
      clearTimeout(alarm);
    }
    await delay(PAUSE_MS, undefined, { signal: over }).catch(() => undefined);
  }
}
