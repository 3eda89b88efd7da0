/**
 * Posts to a Slack incoming webhook. Slack has no delivery ids: a retry after a lost response shows the message twice.
 */
import type { JsonObject } from '../../src/json/json.ts';
import { invalidConfig } from '../runtime/failure.ts';
import type { ActivityHandler } from '../runtime/wrap-activity.ts';
import { type Channel, optionalText, requireText } from './channel.ts';
import { postJson } from './webhook.ts';

export function slackChannel(http: ActivityHandler): Channel {
  return ({ message, context }) => {
    const { blocks = null } = message;
    if (blocks !== null && !Array.isArray(blocks)) throw invalidConfig('blocks', 'a list');
    const words = blocks === null ? requireText(message['text'], 'text') : optionalText(message['text'], 'text');
    const subject = optionalText(message['subject'], 'subject');
    const payload: JsonObject = {
      ...(words === undefined ? {} : { text: subject === undefined ? words : `*${subject}*\n${words}` }),
      ...(blocks === null ? {} : { blocks }),
    };
    return postJson(http, requireText(message['to'], 'to'), JSON.stringify(payload), {}, context);
  };
}
