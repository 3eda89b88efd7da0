/** Stores a message for people of the run's own organization, who read it with `GET /api/inbox`. */

import { callbackMark, type InboxMessage } from '../../src/contract/inbox.ts';
import { defined } from '../../src/json/defined.ts';
import { type Json, type JsonObject, mapTexts } from '../../src/json/json.ts';
import { askOutside, demandPart, type Outside } from '../runtime/failure.ts';
import type { CallbackInConfig } from '../runtime/wrap-activity.ts';
import { type Channel, optionalText, textList } from './channel.ts';

export interface InboxWriter {
  /** Idempotent by the message's id. Throws an error with the `code` `payload_too_large` if it is too large. */
  deliver(organizationId: string, message: Omit<InboxMessage, 'receivedAt'>): Promise<void>;
}

const INBOX: Outside = {
  code: 'inbox_unavailable',
  lacking: 'has no inbox',
  failed: 'The inbox is not available.',
  final: ['payload_too_large'],
};

export function inboxChannel(inbox: InboxWriter | undefined): Channel {
  return async ({ id, message, context }) => {
    demandPart(inbox, INBOX);
    const subject = optionalText(message['subject'], 'subject');
    const text = optionalText(message['text'], 'text');
    const { execution, stepSlug } = context.input;
    const words: JsonObject = {
      to: textList(message['to'], 'to'),
      ...defined({ subject, text, data: message['data'] }),
    };
    const { callbacks, scrub } = context;
    // Temporal must not store a URL that ends a wait. The gateway inserts it again for readers.
    const kept = scrub.json(withoutUrls(words, callbacks)) as unknown as KeptMessage;
    const places = Object.fromEntries(callbacks.map(({ slug, path }) => [slug, path]));
    const told = {
      id,
      ...kept,
      ...(callbacks.length === 0 ? {} : { callbacks: places }),
      executionId: execution.id,
      stepSlug,
    };
    await askOutside(inbox, INBOX, (open) => open.deliver(execution.organizationId, told));
    return {};
  };
}

type KeptMessage = Pick<InboxMessage, 'to' | 'subject' | 'text' | 'data'>;

function withoutUrls(value: Json, callbacks: readonly CallbackInConfig[]): Json {
  return mapTexts(value, (text) =>
    callbacks.reduce((rest, { slug, url }) => rest.replaceAll(url, callbackMark(slug)), text),
  );
}
