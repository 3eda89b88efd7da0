import { apiKey } from './api-key.ts';
import { github } from './github.ts';
import { genericHmac } from './hmac.ts';
import { OK, type Scheme } from './scheme.ts';
import { slack } from './slack.ts';
import { standard } from './standard.ts';
import { stripe } from './stripe.ts';

/** Accepts any caller: for paths that another system protects, or that do no harm. */
const none: Scheme = { name: 'none', verify: () => OK, acceptsIdempotencyKey: true, privateHeaders: () => [] };

/** Every scheme that a webhook may name. */
const schemes: readonly Scheme[] = [github, stripe, slack, standard, genericHmac, apiKey, none];

export const schemeOf = (name: string): Scheme | undefined => schemes.find((scheme) => scheme.name === name);
