/**
 * Every member that accepts a secret (LANGUAGE.md §3), as a step that uses one there. A new kind that accepts secrets
 * adds its cases here; the canary tests run them all and search for the values everywhere.
 */

import type { StepDefinition } from '../../../src/definition/document/types.ts';
import type { Json, JsonObject } from '../../../src/json/json.ts';

export interface Receivers {
  /**
   * Repeats each request in its response, with 503 first and then 200. `/refused` always answers 418, `/redirect`
   * redirects, `/mcp` is an MCP server with the tool `echo`.
   */
  readonly url: string;
  readonly smtpPort: number;
}

export interface CanaryCase {
  /** Where the secret stands. */
  readonly at: string;
  /** The secret's value, which contains the marker; default: the marker among signs that must be escaped. */
  readonly value?: (marker: string, to: Receivers) => string;
  /** `secret` is the reference to it. */
  readonly step: (secret: string, to: Receivers) => StepDefinition;
  /** What is stored first: a path of the API and a body. `name` is the secret's in the organization's store. */
  readonly store?: (name: string, to: Receivers) => readonly [path: string, body: JsonObject];
  /** The value itself is not sent to a receiver. */
  readonly isKept?: true;
}

const http = (config: { [member: string]: Json }): StepDefinition => ({ stepType: 'http', config });
const message = (config: { [member: string]: Json }): StepDefinition => ({ stepType: 'send_message', config });
const bash = (command: string, secret: string): StepDefinition => ({
  stepType: 'bash',
  config: { command, env: { K: secret } },
});
const action = (type: string, parameters: { [member: string]: Json }): StepDefinition => ({
  stepType: 'action',
  config: { type, parameters },
});
const plain = (marker: string): string => `${marker} =`;
/** 60,000 letters and digits, more than a regular expression takes. */
const long = (marker: string): string => marker + 'a1B2'.repeat(15_000);
const mail = (smtp: { [member: string]: Json }, { smtpPort }: Receivers): StepDefinition =>
  message({
    channel: 'email',
    from: 'a@example.com',
    to: 'b@example.com',
    subject: 'Hi',
    text: 'Hi',
    smtp: { host: '127.0.0.1', port: smtpPort, encryption: 'none', username: 'ann', password: 'wrong', ...smtp },
  });

export const CANARY_CASES: readonly CanaryCase[] = [
  { at: 'http url path', step: (secret, { url }) => http({ url: `${url}/in/${secret}/x` }) },
  { at: 'http url query', step: (secret, { url }) => http({ url: `${url}/?k=${secret}&more=1` }) },
  { at: 'http url whole', value: (marker, { url }) => `${url}/${marker}`, step: (secret) => http({ url: secret }) },
  {
    at: 'http url host',
    value: (marker) => marker.toUpperCase(),
    step: (secret) => http({ url: `http://${secret}.invalid/x` }),
    isKept: true,
  },
  { at: 'http query', step: (secret, { url }) => http({ url, query: { k: secret, many: ['a', `b ${secret}`] } }) },
  { at: 'http headers', value: plain, step: (secret, { url }) => http({ url, headers: { 'x-key': `key ${secret}` } }) },
  { at: 'http body text', step: (secret, { url }) => http({ url, body: `text ${secret}` }) },
  { at: 'http body json', step: (secret, { url }) => http({ url, body: { deep: [{ k: secret }, `and ${secret}`] } }) },
  { at: 'http body form', step: (secret, { url }) => http({ url, bodyAs: 'form', body: { k: secret } }) },
  {
    at: 'http body base64',
    value: (marker) => Buffer.from(marker).toString('base64'),
    step: (secret, { url }) => http({ url, bodyAs: 'base64', body: secret }),
    isKept: true,
  },
  {
    at: 'http auth bearer',
    value: plain,
    step: (secret, { url }) => http({ url, auth: { type: 'bearer', token: secret } }),
  },
  {
    at: 'http auth basic username',
    step: (secret, { url }) => http({ url, auth: { type: 'basic', username: secret, password: 'p' } }),
  },
  {
    at: 'http auth basic password',
    step: (secret, { url }) => http({ url, auth: { type: 'basic', username: 'u', password: secret } }),
  },
  {
    at: 'http auth key in a header',
    value: plain,
    step: (secret, { url }) => http({ url, auth: { type: 'apiKey', name: 'x-own', value: secret } }),
  },
  {
    at: 'http auth key in the query',
    step: (secret, { url }) => http({ url, auth: { type: 'apiKey', name: 'key', in: 'query', value: secret } }),
  },
  { at: 'http body, long', value: long, step: (secret, { url }) => http({ url, body: { k: secret } }) },
  { at: 'http refused, long', value: long, step: (secret, { url }) => http({ url: `${url}/refused`, body: secret }) },
  { at: 'http read as text', step: (secret, { url }) => http({ url, as: 'text', body: { k: secret } }) },
  { at: 'http read as base64', step: (secret, { url }) => http({ url, as: 'base64', body: { k: secret } }) },
  { at: 'http refused', step: (secret, { url }) => http({ url: `${url}/refused`, query: { k: secret } }) },
  { at: 'http redirected', step: (secret, { url }) => http({ url: `${url}/redirect`, query: { k: secret } }) },
  {
    at: 'action http.request',
    step: (secret, { url }) => ({
      stepType: 'action',
      config: { type: 'http.request', parameters: { url, body: [secret] } },
    }),
  },
  {
    at: 'send_message webhook to',
    step: (secret, { url }) => message({ channel: 'webhook', to: `${url}/${secret}`, text: 'Hi' }),
  },
  {
    at: 'send_message webhook headers',
    value: plain,
    step: (secret, { url }) => message({ channel: 'webhook', to: url, text: 'Hi', headers: { 'x-key': secret } }),
  },
  {
    at: 'send_message webhook secret',
    step: (secret, { url }) => message({ channel: 'webhook', to: url, text: 'Hi', secret }),
    isKept: true,
  },
  {
    at: 'send_message slack to',
    step: (secret, { url }) => message({ channel: 'slack', to: `${url}/services/${secret}`, text: 'Hi' }),
  },
  {
    at: 'send_message slack refused',
    step: (secret, { url }) => message({ channel: 'slack', to: `${url}/refused?k=${secret}`, text: 'Hi' }),
  },
  // The checker refuses it where the channel is written.
  {
    at: 'send_message inbox to',
    step: (secret) => message({ channel: "{{ 'inbox' }}", to: ['ann', secret], text: 'Hi' }),
    isKept: true,
  },
  {
    at: 'send_message inbox, where it goes nowhere',
    step: (secret) => message({ channel: "{{ 'inbox' }}", to: 'ann', text: 'Hi', headers: { 'x-key': secret } }),
    isKept: true,
  },
  { at: 'send_message smtp password', step: (secret, to) => mail({ password: secret }, to) },
  { at: 'send_message smtp username', step: (secret, to) => mail({ username: secret }, to) },
  {
    at: 'bash env',
    step: (secret) => bash('echo "$K"; echo "$K" >&2; printf %s "$K" | base64 -w0', secret),
    isKept: true,
  },
  { at: 'bash env, failing', step: (secret) => bash('env; exit 3', secret), isKept: true },
  // canary-actions.ts
  {
    at: 'a host action',
    step: (secret, { url }) => action('canary.tells', { url, k: secret, deep: [`and ${secret}`] }),
  },
  { at: 'a light host action', step: (secret, { url }) => action('canary.light', { url, k: secret, deep: [] }) },
  {
    at: 'a light host action that is no local activity',
    step: (secret, { url }) => ({ ...action('canary.light', { url, k: secret, deep: [] }), local: false }),
  },
  { at: 'a host action that throws', step: (secret) => action('canary.throws', { k: secret }), isKept: true },
  {
    at: 'a host action that gives what it may not',
    step: (secret) => action('canary.breaks', { k: secret }),
    isKept: true,
  },
  {
    at: 'a host action that takes nothing of it',
    step: (secret) => action('canary.narrow', { k: secret }),
    isKept: true,
  },
  {
    at: 'tool headers',
    value: plain,
    store: (_name, { url }) => ['/api/mcp-servers/canary', { url: `${url}/mcp` }],
    step: (secret) => ({
      stepType: 'tool',
      config: { server: 'canary', toolName: 'echo', headers: { 'x-key': secret } },
    }),
  },
  {
    at: 'the headers of an MCP server',
    value: plain,
    store: (name, { url }) => [
      '/api/mcp-servers/canary-own',
      { url: `${url}/mcp`, headers: { authorization: `Bearer {{ secrets['${name}'] }}` } },
    ],
    step: () => ({ stepType: 'tool', config: { server: 'canary-own', toolName: 'echo' } }),
  },
  {
    at: 'the headers of an MCP server that refuses',
    value: plain,
    store: (name, { url }) => [
      '/api/mcp-servers/canary-refused',
      { url: `${url}/refused`, headers: { 'x-key': `{{ secrets['${name}'] }}` } },
    ],
    step: () => ({ stepType: 'tool', config: { server: 'canary-refused', toolName: 'echo' } }),
  },
  {
    at: 'the key of a model',
    value: (marker) => marker,
    store: (name, { url }) => [
      '/api/models/canary',
      { provider: 'openai-compatible', model: 'm', baseUrl: `${url}/refused`, apiKeySecret: name },
    ],
    step: () => ({ stepType: 'llm', config: { model: 'canary', userPrompt: 'Hi' } }),
  },
];
