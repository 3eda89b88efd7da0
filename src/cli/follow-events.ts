/** Follows the events of an execution, and reconnects after the last one if the stream breaks. */

import { setTimeout as delay } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { omitUndefined } from '../json/omit-undefined.ts';
import { CliError, RetryableCliError } from './exit.ts';
import type { Gateway } from './gateway-client.ts';

/** How long a gateway may take to restart. */
const RECONNECT_TIMEOUT_MS = 60_000;
const RECONNECT_PAUSE_MS = 1_000;
/** The gateway sends at least a comment every 15 seconds. After this silence the connection counts as lost. */
const SILENCE_TIMEOUT_MS = 45_000;

interface EventFollower {
  /** Resolves when something may have happened since the last call. @throws CliError */
  next(): Promise<void>;
  end(): void;
}

export function followEvents(gateway: Gateway, id: string): EventFollower {
  const ended = new AbortController();
  let hasEvent = false;
  let failed: unknown;
  let wake = (): void => undefined;
  const notify = (): void => {
    hasEvent = true;
    wake();
  };
  follow(gateway, id, ended.signal, notify).catch((error: unknown) => {
    failed = error;
    notify();
  });
  return {
    next: async () => {
      if (!hasEvent)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      hasEvent = false;
      if (failed !== undefined) throw failed;
    },
    end: () => ended.abort(),
  };
}

async function follow(gateway: Gateway, id: string, ended: AbortSignal, notify: () => void): Promise<void> {
  let lastEventId: string | undefined;
  for (let receivedAt = Date.now(); !ended.aborted; ) {
    const silence = new AbortController();
    const signal = AbortSignal.any([ended, silence.signal]);
    const alarm = setTimeout(() => silence.abort(), SILENCE_TIMEOUT_MS);
    try {
      const events = await gateway.open(`/api/executions/${encodeURIComponent(id)}/events`, {
        signal,
        ...omitUndefined({ seen: lastEventId }),
      });
      notify();
      const decoder = new TextDecoder();
      const parser = createParser({
        onEvent: ({ id }) => {
          lastEventId = id ?? lastEventId;
          notify();
        },
      });
      for await (const bytes of events) {
        receivedAt = Date.now();
        alarm.refresh();
        parser.feed(decoder.decode(bytes, { stream: true }));
      }
    } catch (error) {
      if (ended.aborted) return;
      if (
        error instanceof CliError &&
        !(error instanceof RetryableCliError && Date.now() < receivedAt + RECONNECT_TIMEOUT_MS)
      )
        throw error;
    } finally {
      clearTimeout(alarm);
    }
    await delay(RECONNECT_PAUSE_MS, undefined, { signal: ended }).catch(() => undefined);
  }
}
