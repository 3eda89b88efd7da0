import type { WebhookScheme } from '../../contract/triggers/webhook-scheme.ts';
import { apiKey } from './api-key.ts';
import { github } from './github.ts';
import { genericHmac } from './hmac.ts';
import { OK, type Scheme } from './scheme.ts';
import { slack } from './slack.ts';
import { standard } from './standard.ts';
import { stripe } from './stripe.ts';

/** Accepts any caller: for paths that another system protects, or that do no harm. */
const none: Scheme = { verify: () => OK, acceptsIdempotencyKey: true, privateHeaders: () => [] };

const SCHEMES: { readonly [name in WebhookScheme]: Scheme } = {
  github,
  stripe,
  slack,
  standard,
  hmac: genericHmac,
  api_key: apiKey,
  none,
};

const byName: ReadonlyMap<string, Scheme> = new Map(Object.entries(SCHEMES));

/** The scheme that a webhook names. */
export const schemeOf = (name: string): Scheme | undefined => byName.get(name);
