/** Which webhook an address means: `/webhooks/:org/:path`, or `/webhooks/:path` of `default`; a path may have parts. */
import type { Request } from 'express';
import { keepsHook } from '../client/definitions.ts';
import { readHook } from '../client/hooks.ts';
import type { HookConfig, HookState } from '../definition/actors.ts';
import { DEFAULT_ORGANIZATION } from '../engine/start.ts';
import type { Gateway } from './context.ts';
import { checked, nameText } from './door.ts';

/** A hook whose definition is written. While its trigger is disabled it starts nothing. */
export interface Place {
  readonly org: string;
  readonly path: string;
  readonly owner: NonNullable<HookState['owner']>;
  readonly config: HookConfig;
}

/** The hook of the request's address: first as `org/path`, then as a path of `default`; one that is enabled before others. */
export async function placeOf(gateway: Gateway, req: Request): Promise<Place | undefined> {
  const { org, path } = req.params;
  const parts = [org ?? [], path].flat().map((part) => checked(nameText(200), part, 'path'));
  const [first = '', ...rest] = parts;
  const candidates = [
    { org: first, path: rest.join('/') },
    { org: DEFAULT_ORGANIZATION, path: parts.join('/') },
  ];
  let disabled: Place | undefined;
  for (const { org, path } of candidates) {
    const hook = path === '' ? undefined : await readHook(gateway.access, org, path);
    if (hook?.owner == null || hook.config == null) continue;
    const { owner, config } = hook;
    if (owner.api === undefined && !(await keepsHook(gateway.access, org, path, owner))) continue;
    const place = { org, path, owner, config };
    if (place.config.enabled) return place;
    disabled ??= place;
  }
  return disabled;
}

/** The address of a webhook's path. */
export const webhookUrl = (gateway: Gateway, org: string, path: string): string =>
  `${gateway.publicUrl()}/webhooks/${org === DEFAULT_ORGANIZATION ? '' : `${encodeURIComponent(org)}/`}${path}`;
