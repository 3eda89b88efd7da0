import { apiKey } from './api-key.ts';
import { github } from './github.ts';
import { genericHmac } from './hmac.ts';
import { none } from './none.ts';
import type { Scheme } from './scheme.ts';
import { slack } from './slack.ts';
import { standard } from './standard.ts';
import { stripe } from './stripe.ts';

/** Every scheme that a webhook may name. */
const schemes: readonly Scheme[] = [github, stripe, slack, standard, genericHmac, apiKey, none];

export const schemeOf = (name: string): Scheme | undefined => schemes.find((scheme) => scheme.name === name);
