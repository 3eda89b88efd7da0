/**
 * Without keys the gateway serves this machine only. A web page in the user's browser must not use it. So Host must be
 * a name of this machine, which the name of a page that DNS points here is not; and Origin, where a browser sends it,
 * must be the gateway's own.
 */
import type { Request } from 'express';
import { HttpProblem } from '../validation/http-problem.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;

export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

const trusted = new WeakSet<Request>();

/** Marks a request that its own check allows from a page of another origin. */
export function trustOrigin(req: Request): void {
  trusted.add(req);
}

/** Headers that, as a rule, only proxies add to a request. A proxy may add none of them. */
const FORWARDING = new RegExp(
  `^(${[
    'forwarded|via|x-forwarded(-.+)?|x-original-(forwarded-.+|host|url)|x-envoy-.+|x-proxyuser-ip',
    'x-(real|client|cluster-client|remote)-(ip|addr)|(cf-connecting|true-client|fastly-client)-ip(v6)?',
  ].join('|')})$`,
);

/** Whether a proxy adds the header (lower case). */
export const isForwarding = (header: string): boolean => FORWARDING.test(header);

const forwardingHeader = (req: Pick<Request, 'headers'>): string | undefined =>
  Object.keys(req.headers).find(isForwarding);

/** Whether SIGNALBOX_PUBLIC_URL says that callers come from other machines. */
export const isNonLoopbackUrl = (publicUrl: string | undefined): boolean =>
  publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname);

/** Whether a request came through a proxy that says so in its headers. */
export const isForwarded = (req: Pick<Request, 'headers'>): boolean => forwardingHeader(req) !== undefined;

/**
 * A gateway without keys treats every caller as an admin, and a proxy lets callers of other machines reach it. Not
 * every proxy shows in the headers, so with a public URL of another name the API is refused altogether.
 * @throws HttpProblem `proxy_without_keys`.
 */
export function demandNoProxy(req: Request, publicUrl: string | undefined): void {
  if (isNonLoopbackUrl(publicUrl) && !/^\/(docs|openapi\.json|schema\.json|console)(\/|$)/.test(req.path))
    throw new HttpProblem(
      'proxy_without_keys',
      'SIGNALBOX_PUBLIC_URL is not an address of this machine, and this gateway has no keys, so it cannot tell its ' +
        'callers apart. Make an API key first: give SIGNALBOX_ADMIN_KEY, or run `npx signalbox keys create`.',
    );
  const header = forwardingHeader(req);
  if (header === undefined) return;
  throw new HttpProblem(
    'proxy_without_keys',
    `The request came through a proxy (it has the header ${header}), and this gateway has no keys, so it cannot ` +
      'tell its callers apart. Make an API key first: give SIGNALBOX_ADMIN_KEY, or POST /api/keys from this ' +
      'machine without the proxy.',
  );
}

/**
 * Webhooks, callbacks and links are not guarded: their callers come from anywhere.
 * @throws HttpProblem `host_not_allowed`, `origin_not_allowed`.
 */
export function demandLoopback(req: Request): void {
  const host = (req.get('host') ?? '').toLowerCase();
  if (!isLoopback(hostnameOf(host))) {
    throw new HttpProblem(
      'host_not_allowed',
      'This gateway has no keys, so it answers to names of this machine only, such as localhost.',
    );
  }
  const origin = req.get('origin')?.toLowerCase();
  if (origin !== undefined && originHost(origin) !== host && !trusted.has(req)) {
    throw new HttpProblem('origin_not_allowed', 'This gateway has no keys, so pages of other origins may not call it.');
  }
}

/** The name in a Host header. */
export const hostnameOf = (host: string): string => host.replace(/:\d+$/, '');

/** The host of an Origin header. `null`, or a text that is not a URL, has none. */
export function originHost(origin: string): string | undefined {
  return /^https?:\/\/([^/?#@]+)$/.exec(origin)?.[1];
}
