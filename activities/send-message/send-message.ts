/** The activity `sendMessage`: kind `send_message`. Its manual is src/steps/kinds/send-message.ts; a channel is a file in send-message/. */

import { createHash } from 'node:crypto';
import type { ActivityInput } from '../../src/contract/activity.ts';
import {
  MESSAGE_CREDENTIALS,
  MESSAGE_MEMBERS,
  MESSAGE_WORDS,
  type MessageChannel,
} from '../../src/contract/activity-words.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import type { EgressPolicy } from '../http/guarded-agent.ts';
import { hostOf } from '../http/http.ts';
import { ActivityError, invalidConfig } from '../runtime/failure.ts';
import type { ActivityContext, ActivityHandler } from '../runtime/wrap-activity.ts';
import type { Channel } from './channel.ts';
import { emailChannel } from './email.ts';
import { type InboxWriter, inboxChannel } from './inbox.ts';
import { slackChannel } from './slack.ts';
import { type MailSettings, smtpHostOf } from './smtp.ts';
import { webhookChannel } from './webhook.ts';

const ID_DIGITS = 32;

/** `http` is the effect of the kind http. */
export function sendMessageActivity(
  http: ActivityHandler,
  reach: EgressPolicy,
  settings: MailSettings,
  inbox: InboxWriter | undefined,
): ActivityHandler {
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
    if (send === undefined) throw invalidConfig('channel', `one of ${Object.keys(channels).join(', ')}`);
    const credentials = MESSAGE_CREDENTIALS[name as MessageChannel];
    demandPlaces(name as MessageChannel, context);
    const message = wordsScrubbed(written, credentials, context);
    const id = deliveryId(context.input.idempotencyKey);
    return { data: { id, channel: name, ...(await send({ id, message, context })) } };
  };
}

/**
 * The checker sees to it where the channel is written; a template may make another one of it. What this channel does not
 * take goes nowhere. @throws ActivityError `secret_not_allowed`
 */
function demandPlaces(channel: MessageChannel, { input }: ActivityContext): void {
  for (const { path, parts } of input.secrets) {
    const member = String(path[0]);
    if (!MESSAGE_MEMBERS[channel].includes(member) || MESSAGE_CREDENTIALS[channel].includes(member)) continue;
    const isSecret = parts.some((part) => typeof part !== 'string' && 'secret' in part);
    if (!isSecret && MESSAGE_WORDS.includes(member)) continue;
    throw new ActivityError(
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
  { scrubSecrets }: ActivityContext,
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
  (input: ActivityInput): string | undefined => {
    const config = isObject(input.config) ? input.config : {};
    // What the inbox keeps goes to no host, whatever its text looks like.
    if (config['channel'] === 'webhook' || config['channel'] === 'slack') return hostOf(input, 'to');
    return config['channel'] === 'email' ? smtpHostOf(config, settings) : undefined;
  };

const deliveryId = (idempotencyKey: string): string =>
  `msg_${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, ID_DIGITS)}`;
