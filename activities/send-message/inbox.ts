/** Stores a message for people of the run's own organization, who read it with `GET /api/inbox`. */

import { callbackMark, type InboxMessage } from '../../src/contract/organization/inbox.ts';
import { type Json, type JsonObject, mapTexts } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { callService, requireService, type WorkerService } from '../runtime/failure.ts';
import type { CallbackInConfig } from '../runtime/wrap-activity.ts';
import { type Channel, optionalText, textList } from './channel.ts';

export interface InboxWriter {
  /** Idempotent by the message's id. Throws an error with the `code` `payload_too_large` if it is too large. */
  deliver(organizationId: string, message: Omit<InboxMessage, 'receivedAt'>): Promise<void>;
}

const INBOX_SERVICE: WorkerService = {
  code: 'inbox_unavailable',
  lacking: 'has no inbox',
  failed: 'The inbox is not available.',
  final: ['payload_too_large'],
};

export function inboxChannel(inbox: InboxWriter | undefined): Channel {
  return async ({ id, message, context }) => {
    requireService(inbox, INBOX_SERVICE);
    const subject = optionalText(message['subject'], 'subject');
    const text = optionalText(message['text'], 'text');
    const { execution, stepSlug } = context.input;
    const content: JsonObject = {
      to: textList(message['to'], 'to'),
      ...omitUndefined({ subject, text, data: message['data'] }),
    };
    const { callbacks, scrub } = context;
    // Temporal must not store a URL that ends a wait. The gateway inserts it again for readers.
    const scrubbed = scrub.json(withoutUrls(content, callbacks)) as unknown as ScrubbedMessage;
    const callbackPaths = Object.fromEntries(callbacks.map(({ slug, path }) => [slug, path]));
    const inboxMessage = {
      id,
      ...scrubbed,
      ...(callbacks.length === 0 ? {} : { callbacks: callbackPaths }),
      executionId: execution.id,
      stepSlug,
    };
    await callService(inbox, INBOX_SERVICE, (writer) => writer.deliver(execution.organizationId, inboxMessage));
    return {};
  };
}

type ScrubbedMessage = Pick<InboxMessage, 'to' | 'subject' | 'text' | 'data'>;

function withoutUrls(value: Json, callbacks: readonly CallbackInConfig[]): Json {
  return mapTexts(value, (text) =>
    callbacks.reduce((rest, { slug, url }) => rest.replaceAll(url, callbackMark(slug)), text),
  );
}
