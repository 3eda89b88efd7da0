/** The activity `sendMessage`: kind `send_message`. Its manual is src/steps/send-message.ts; a channel is a file in send-message/. */
import { createHash } from 'node:crypto';
import type { EffectInput } from '../src/definition/effect.ts';
import { isObject } from '../src/definition/json.ts';
import type { Effect } from './effect.ts';
import { invalid } from './failure.ts';
import { hostOf } from './http.ts';
import type { Reach } from './http-address.ts';
import type { Channel } from './send-message/channel.ts';
import { emailChannel } from './send-message/email.ts';
import { type InboxWriter, inboxChannel } from './send-message/inbox.ts';
import { slackChannel } from './send-message/slack.ts';
import { type MailSettings, smtpHostOf } from './send-message/smtp.ts';
import { webhookChannel } from './send-message/webhook.ts';

const ID_DIGITS = 32;

/** `http` is the effect of the kind http. */
export function sendMessageEffect(
  http: Effect,
  reach: Reach,
  settings: MailSettings,
  inbox: InboxWriter | undefined,
): Effect {
  const channels: { readonly [name: string]: Channel } = {
    webhook: webhookChannel(http),
    slack: slackChannel(http),
    email: emailChannel(reach, settings),
    inbox: inboxChannel(inbox),
  };
  return async (config, context) => {
    const message = isObject(config) ? config : {};
    const name = String(message['channel']);
    const send = Object.hasOwn(channels, name) ? channels[name] : undefined;
    if (send === undefined) throw invalid('channel', `one of ${Object.keys(channels).join(', ')}`);
    const id = deliveryId(context.input.idempotencyKey);
    return { data: { id, channel: name, ...(await send({ id, message, context })) } };
  };
}

/** Where the credentials of a message go, so far as it is known without them. */
export const messageHostOf =
  (settings: MailSettings) =>
  (input: EffectInput): string | undefined => {
    const config = isObject(input.config) ? input.config : {};
    return config['channel'] === 'email' ? smtpHostOf(config, settings) : hostOf(input, 'to');
  };

const deliveryId = (idempotencyKey: string): string =>
  `msg_${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, ID_DIGITS)}`;
