/** The activity `sendMessage`: kind `send_message`. Its manual is src/steps/kinds/send-message.ts; a channel is a file in send-message/. */
import { createHash } from 'node:crypto';
import type { EffectInput } from '../src/contract/activity.ts';
import {
  MESSAGE_CREDENTIALS,
  MESSAGE_MEMBERS,
  MESSAGE_WORDS,
  type MessageChannel,
} from '../src/contract/activity-words.ts';
import { isObject } from '../src/definition/document/json.ts';
import type { JsonObject } from '../src/definition/document/types.ts';
import type { Json } from '../src/template/types.ts';
import type { Effect, EffectContext } from './effect.ts';
import { EffectFailure, invalid } from './failure.ts';
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
    const written = isObject(config) ? config : {};
    const name = String(written['channel']);
    const send = Object.hasOwn(channels, name) ? channels[name] : undefined;
    if (send === undefined) throw invalid('channel', `one of ${Object.keys(channels).join(', ')}`);
    const credentials = MESSAGE_CREDENTIALS[name as MessageChannel];
    demandPlaces(name as MessageChannel, context);
    const message = wordsScrubbed(written, credentials, context);
    const id = deliveryId(context.input.idempotencyKey);
    return { data: { id, channel: name, ...(await send({ id, message, context })) } };
  };
}

/**
 * The checker sees to it where the channel is written; a template may make another one of it. What this channel does not
 * take goes nowhere. @throws EffectFailure `secret_not_allowed`
 */
function demandPlaces(channel: MessageChannel, { input }: EffectContext): void {
  for (const { path, parts } of input.secrets) {
    const member = String(path[0]);
    if (!MESSAGE_MEMBERS[channel].includes(member) || MESSAGE_CREDENTIALS[channel].includes(member)) continue;
    const isSecret = parts.some((part) => typeof part !== 'string' && 'secret' in part);
    if (!isSecret && MESSAGE_WORDS.includes(member)) continue;
    throw new EffectFailure(
      'secret_not_allowed',
      `The channel '${channel}' takes no ${isSecret ? 'secret' : 'callback'} in config.${member}: it is shown to others. ${
        MESSAGE_CREDENTIALS[channel].length === 0
          ? 'It takes no secrets at all.'
          : `It takes secrets in ${MESSAGE_CREDENTIALS[channel].join(', ')}.`
      }`,
    );
  }
}

/** What others read holds no secret, also where its value stands there by itself. */
function wordsScrubbed(
  message: JsonObject,
  credentials: readonly string[],
  { scrubSecrets }: EffectContext,
): JsonObject {
  const scrubbed = ([member, value]: [string, Json]): [string, Json] => [
    member,
    member === 'channel' || credentials.includes(member) ? value : scrubSecrets.json(value),
  ];
  return Object.fromEntries(Object.entries(message).map(scrubbed));
}

/** Where the credentials of a message go, so far as it is known without them. */
export const messageHostOf =
  (settings: MailSettings) =>
  (input: EffectInput): string | undefined => {
    const config = isObject(input.config) ? input.config : {};
    // What the inbox keeps goes to no host, whatever its text looks like.
    if (config['channel'] === 'webhook' || config['channel'] === 'slack') return hostOf(input, 'to');
    return config['channel'] === 'email' ? smtpHostOf(config, settings) : undefined;
  };

const deliveryId = (idempotencyKey: string): string =>
  `msg_${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, ID_DIGITS)}`;
