import { z } from 'zod';
import {
  MESSAGE_CHANNELS,
  MESSAGE_CONTENT_MEMBERS,
  MESSAGE_CREDENTIALS,
  MESSAGE_MEMBERS,
  type MessageChannel,
  SMTP_ENCRYPTIONS,
} from '../../contract/run/activity-options.ts';
import type { JsonObject } from '../../json/json.ts';
import { isAbsent } from '../config/read.ts';
import { anyValue, configSchema, nameList, templated, textTemplate } from '../config/schema.ts';
import { ConfigError, type NoState, type Parse, type RunSpec, type StepContext, type StepKind } from '../kind.ts';
import { oneActivity, planMembers } from './one-activity.ts';

/** One attempt, with a margin for the connection. */
const TIMEOUT_MS = 45_000;
/** An activity learns that it was cancelled from its heartbeats. */
const HEARTBEAT_MS = 15_000;
export const sendMessage: StepKind<NoState> = {
  type: 'send_message',
  class: 'effect',
  summary: 'Sends a message to people or to another program.',
  description: `\`channel\` selects how to send, \`to\` names the recipient, and \`subject\` and \`text\` are the
message.

- **webhook**: \`to\` is one URL. It receives a POST with \`{id, subject, text, data}\` as JSON and the headers of
  Standard Webhooks. With \`secret\` (\`whsec_…\`, or any text; a list of two during a rotation) it is signed in
  \`webhook-signature\`.
- **slack**: \`to\` is the one URL of an incoming webhook, best kept as a secret:
  \`https://hooks.slack.com/services/{{ secrets.SLACK_HOOK }}\`. \`blocks\` are Slack's Block Kit blocks.
- **email**: \`to\`, \`cc\` and \`bcc\` are one address or a list. \`smtp\` names the server; without it the host's
  server is used (SIGNALBOX_SMTP_URL). The sender is then the host's too (SIGNALBOX_MAIL_FROM), unless the host allows
  the one in \`from\` (SIGNALBOX_MAIL_FROM_ALLOW). A password is sent over an encrypted connection only, unless
  \`encryption\` says otherwise.
- **inbox**: the message is kept for people, who read it at \`GET /api/inbox\`. \`to\` names them: \`ann\`,
  \`role:finance\`.

**Idempotency.** The message id is the same in all attempts, so a receiver can recognize a repeat: \`webhook-id\`,
\`Idempotency-Key\`, or the e-mail's \`Message-ID\`. An inbox accepts each id once. Failures that may pass are retried:
no response, 408, 425, 429, 5xx, and SMTP's 4xx.

\`{{ secrets.NAME }}\` is allowed in \`to\`, \`headers\` and \`secret\` of a webhook, in \`to\` of slack, and in
\`smtp\` of an e-mail. The recipients of an e-mail or inbox message, and the text of any message, are shown in traces
and cannot hold secrets. Where a template names the channel, this is checked when the message is sent. A secret's value
that is in the text anyway is sent as \`[secret]\`. Destinations are limited as for the kind \`http\`.

\`{{ callback('slug') }}\` is allowed in \`text\`, \`subject\`, \`html\`, \`blocks\` and \`data\`: it is the URL of the
next visit of that wait_callback step. No trace shows it. The inbox shows it to those who may send messages to the run
(runners).`,
  example: {
    stepType: 'send_message',
    config: {
      channel: 'slack',
      to: 'https://hooks.slack.com/services/{{ secrets.SLACK_HOOK }}',
      text: 'Order {{ input.orderId }} is paid.',
    },
    retry: { maxAttempts: 5 },
    nextSteps: { success: 'done', error: 'ask' },
  },
  output:
    '`{id, channel}`, for webhook and slack also `status`, for e-mail `messageId`, `accepted`, `rejected` ' +
    '(addresses) and `response`.',
  schema: messageSchema,
  ports: () => ({ normal: 'success', names: ['success'] }),
  plan(config, parse) {
    const message = planMessage(config, parse);
    return oneActivity(message);
  },
};

/** Whether a list of recipients is written for a channel that has one. The schemas of messages refuse it. */
export const hasOneRecipient = ({ channel, to }: { readonly channel: unknown; readonly to?: unknown }): boolean =>
  !((channel === 'webhook' || channel === 'slack') && Array.isArray(to));
export const ONE_RECIPIENT = {
  path: ['to'],
  error: 'expected one URL: a message to a webhook or to Slack goes to one address; write another one for each further',
};

function messageSchema(): z.ZodType {
  const addresses = () => nameList();
  const message = configSchema({
    channel: templated(z.enum(MESSAGE_CHANNELS)).describe('How it is sent.'),
    to: nameList().optional().describe('A URL, an address, or whom it is for; addresses and names may be a list.'),
    subject: textTemplate().optional().describe('An e-mail needs one.'),
    text: textTemplate().optional().describe('The message in words; in Slack its mrkdwn.'),
    data: anyValue().optional().describe('webhook, inbox: anything for programs.'),
    headers: templated(z.record(z.string(), z.union([z.string(), z.number(), z.null()])))
      .optional()
      .describe('webhook: request headers.'),
    secret: z
      .union([textTemplate(), z.array(textTemplate()).min(1).max(2)])
      .optional()
      .describe('webhook: what it is signed with.'),
    blocks: templated(z.array(anyValue())).optional().describe('slack: Block Kit blocks; `text` is then the fallback.'),
    html: textTemplate().optional().describe('email: the message as HTML, beside or instead of `text`.'),
    from: textTemplate().optional().describe('email: the sender.'),
    cc: addresses().optional().describe('email: who else gets it.'),
    bcc: addresses().optional().describe('email: who gets it without being named.'),
    replyTo: textTemplate().optional().describe('email: where answers go.'),
    smtp: z
      .strictObject({
        host: textTemplate().describe('Its name.'),
        port: templated(z.number().int().min(1).max(65_535))
          .optional()
          .describe('Default: 587, or 465 with implicit encryption.'),
        encryption: z
          .enum(SMTP_ENCRYPTIONS)
          .optional()
          .describe(
            'implicit (TLS from the start; default on port 465), starttls (default with a password), ' +
              'optional (default without), none.',
          ),
        username: textTemplate().optional().describe('The login, if the server wants one.'),
        password: textTemplate().optional().describe('Best as `{{ secrets.NAME }}`.'),
      })
      .optional()
      .describe('email: the server.'),
  });
  return message.refine(hasOneRecipient, ONE_RECIPIENT);
}

function planMessage(config: JsonObject, parse: Parse): (visit: StepContext) => RunSpec {
  const channel = channelOf(config);
  if (channel !== 'inbox' && isAbsent(config['to']))
    throw new ConfigError('/to', 'Expected whom the message goes to: a URL or an address.');
  if (isAbsent(config['text']) && ['html', 'blocks', 'data'].every((member) => isAbsent(config[member])))
    throw new ConfigError('/text', 'Expected the text of the message.');
  if (channel === 'email' && isAbsent(config['subject']))
    throw new ConfigError('/subject', 'Expected a subject: an e-mail needs one.');
  const known = [...new Set(Object.values(MESSAGE_MEMBERS).flat())];
  const channelMembers = channel === undefined ? known : MESSAGE_MEMBERS[channel];
  const credentials = channel === undefined ? Object.values(MESSAGE_CREDENTIALS).flat() : MESSAGE_CREDENTIALS[channel];
  const parserOf = (member: string): Parse['template'] => {
    if (credentials.includes(member)) return parse.secretTemplate;
    return MESSAGE_CONTENT_MEMBERS.includes(member) ? parse.callbackTemplate : parse.template;
  };
  const unsupported = known.find((member) => !channelMembers.includes(member) && !isAbsent(config[member]));
  if (unsupported !== undefined)
    throw new ConfigError(
      `/${unsupported}`,
      `The channel '${channel}' takes no ${unsupported}; it takes ${channelMembers.slice(1).join(', ')}.`,
    );
  const render = planMembers(config, channelMembers, '', parserOf);
  return (visit) => ({
    activity: 'sendMessage',
    config: render(visit),
    timeoutMs: TIMEOUT_MS,
    heartbeatMs: HEARTBEAT_MS,
  });
}

/** Undefined where a template makes the channel. */
function channelOf({ channel }: JsonObject): MessageChannel | undefined {
  const known = MESSAGE_CHANNELS.find((one) => one === channel);
  if (known === undefined && !(typeof channel === 'string' && channel.includes('{{')))
    throw new ConfigError('/channel', `Expected one of ${MESSAGE_CHANNELS.join(', ')}.`);
  return known;
}
