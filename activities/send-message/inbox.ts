/** A message kept for people of the run's own organization: `GET /api/inbox`. */
import type { InboxMessage } from '../../src/definition/inbox-contract.ts';
import { EffectFailure } from '../failure.ts';
import { type Channel, optionalText, texts } from './channel.ts';

export interface InboxWriter {
  /** The same id again changes nothing. Throws an error with the `code` payload_too_large for what trying again does not change. */
  deliver(organizationId: string, message: Omit<InboxMessage, 'receivedAt'>): Promise<void>;
}

export function inboxChannel(inbox: InboxWriter | undefined): Channel {
  return async ({ id, message, context }) => {
    if (inbox === undefined)
      throw new EffectFailure('inbox_unavailable', 'This worker has no inbox; start it with the master key.');
    const subject = optionalText(message['subject'], 'subject');
    const words = optionalText(message['text'], 'text');
    const { execution, stepSlug } = context.input;
    try {
      await inbox.deliver(execution.organizationId, {
        id,
        to: texts(message['to'], 'to'),
        ...(subject === undefined ? {} : { subject: context.scrub.text(subject) }),
        ...(words === undefined ? {} : { text: context.scrub.text(words) }),
        ...(message['data'] === undefined ? {} : { data: context.scrub.json(message['data']) }),
        executionId: execution.id,
        stepSlug,
      });
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'payload_too_large')
        throw new EffectFailure('payload_too_large', error.message);
      throw new EffectFailure('inbox_unavailable', 'The inbox does not take messages now.', { retryable: true });
    }
    return {};
  };
}
