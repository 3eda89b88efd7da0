/** The activity `sendMessage`, with one file per channel. src/steps/kinds/send-message.ts documents the step. */
import { createHash } from 'node:crypto';
import type { ActivityInput } from '../../src/contract/run/activity.ts';
import {
  MESSAGE_CONTENT_MEMBERS,
  MESSAGE_CREDENTIALS,
  MESSAGE_MEMBERS,
  type MessageChannel,
} from '../../src/contract/run/activity-options.ts';
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

/** `http` is the handler of the activity `http`. */
export function sendMessageActivity(
  http: ActivityHandler,
  policy: EgressPolicy,
  settings: MailSettings,
  inbox: InboxWriter | undefined,
): ActivityHandler {
  const channels: { readonly [name: string]: Channel } = {
    webhook: webhookChannel(http),
    slack: slackChannel(http),
    email: emailChannel(policy, settings),
    inbox: inboxChannel(inbox),
  };
  return async (config, context) => {
    const written = isObject(config) ? config : {};
    const name = String(written['channel']);
    const send = Object.hasOwn(channels, name) ? channels[name] : undefined;
    if (send === undefined) throw invalidConfig('channel', `one of ${Object.keys(channels).join(', ')}`);
    const credentials = MESSAGE_CREDENTIALS[name as MessageChannel];
    checkSecretMembers(name as MessageChannel, context);
    const message = scrubReadableMembers(written, credentials, context);
    const id = deliveryId(context.input.idempotencyKey);
    return { data: { id, channel: name, ...(await send({ id, message, context })) } };
  };
}

/**
 * Secrets may only be in the channel's credentials. The checker verifies this for a literal channel; a template may
 * evaluate to another one. @throws ActivityError `secret_not_allowed`
 */
function checkSecretMembers(channel: MessageChannel, { input }: ActivityContext): void {
  for (const { path, parts } of input.secrets) {
    const member = String(path[0]);
    if (!MESSAGE_MEMBERS[channel].includes(member) || MESSAGE_CREDENTIALS[channel].includes(member)) continue;
    const isSecret = parts.some((part) => typeof part !== 'string' && 'secret' in part);
    if (!isSecret && MESSAGE_CONTENT_MEMBERS.includes(member)) continue;
    const what = isSecret ? 'secret' : 'callback';
    const credentials = MESSAGE_CREDENTIALS[channel].join(', ');
    const remedy = credentials === '' ? 'It accepts no secrets.' : `It accepts secrets in ${credentials}.`;
    throw new ActivityError(
      'secret_not_allowed',
      `The channel '${channel}' accepts no ${what} in config.${member}, which others can read. ${remedy}`,
    );
  }
}

/** Scrubs secrets from the members that others can read. */
function scrubReadableMembers(
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

/** The host that receives the credentials of a message; undefined if it is not known without them. */
export const messageHostOf =
  (settings: MailSettings) =>
  (input: ActivityInput): string | undefined => {
    const config = isObject(input.config) ? input.config : {};
    // An inbox message goes to no host, even if `to` looks like a URL.
    if (config['channel'] === 'webhook' || config['channel'] === 'slack') return hostOf(input, 'to');
    return config['channel'] === 'email' ? smtpHostOf(config, settings) : undefined;
  };

const deliveryId = (idempotencyKey: string): string =>
  `msg_${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, ID_DIGITS)}`;
