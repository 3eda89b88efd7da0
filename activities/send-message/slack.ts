/** A message to a Slack incoming webhook. Slack knows no delivery id: a repeat after a lost answer is shown twice. */
import type { JsonObject } from '../../src/definition/document/types.ts';
import type { Effect } from '../effect.ts';
import { invalid } from '../failure.ts';
import { type Channel, optionalText, text } from './channel.ts';
import { post } from './webhook.ts';

export function slackChannel(http: Effect): Channel {
  return ({ message, context }) => {
    const { blocks = null } = message;
    if (blocks !== null && !Array.isArray(blocks)) throw invalid('blocks', 'a list');
    const words = blocks === null ? text(message['text'], 'text') : optionalText(message['text'], 'text');
    const subject = optionalText(message['subject'], 'subject');
    const payload: JsonObject = {
      ...(words === undefined ? {} : { text: subject === undefined ? words : `*${subject}*\n${words}` }),
      ...(blocks === null ? {} : { blocks }),
    };
    return post(http, text(message['to'], 'to'), JSON.stringify(payload), {}, context);
  };
}
