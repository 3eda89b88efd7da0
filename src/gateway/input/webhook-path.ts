/** Which webhook an address means: `/webhooks/:org/:path`, or `/webhooks/:path` of `default`; a path may have parts. */
import type { Request } from 'express';
import { checkHookOwner } from '../../client/definitions/definitions.ts';
import { isOrganization } from '../../client/organization/organizations.ts';
import type { WriteAccess } from '../../client/temporal/access.ts';
import { readHook } from '../../client/triggers/hooks.ts';
import type { HookConfig, HookState } from '../../contract/actors.ts';
import { DEFAULT_ORGANIZATION } from '../../contract/organization/organization.ts';
import type { TriggerDefinition } from '../../definition/document/types.ts';
import { type Gateway, perGateway } from '../http/context.ts';
import { checked, nameText } from '../validation/validation.ts';
import { AddressLookupLimiter } from './address-lookup-limiter.ts';

/** A webhook whose definition is stored. While its trigger is disabled it starts no runs. */
export interface WebhookAddress {
  readonly org: string;
  readonly path: string;
  readonly owner: NonNullable<HookState['owner']>;
  readonly config: HookConfig;
}

/**
 * The hook of the request's address. An address that begins with the name of an organization belongs to it; every other
 * address is a path of `default`.
 * @throws HttpProblem `gateway_busy` while many made-up addresses are called.
 */
export async function resolveWebhook(
  gateway: Gateway,
  access: WriteAccess,
  req: Request,
): Promise<WebhookAddress | undefined> {
  const parts = [req.params['org'] ?? [], req.params['path']]
    .flat()
    .map((part) => checked(nameText(200), part, 'path'));
  const [first = '', ...rest] = parts;
  const isNamed = rest.length > 0 && (await isOrganization(access, first));
  const org = isNamed ? first : DEFAULT_ORGANIZATION;
  const path = (isNamed ? rest : parts).join('/');
  return lookupLimiterOf(gateway).find(JSON.stringify([org, path]), () => webhookAt(access, org, path));
}

const lookupLimiterOf = perGateway(() => new AddressLookupLimiter());

async function webhookAt(access: WriteAccess, org: string, path: string): Promise<WebhookAddress | undefined> {
  const hook = await readHook(access, org, path);
  if (hook?.owner == null || hook.config == null) return undefined;
  const { owner, config } = hook;
  if (owner.api === undefined && !(await checkHookOwner(access, org, path, owner))) return undefined;
  return { org, path, owner, config };
}

/** The address of a trigger, if it is a webhook. */
export function webhookUrlOf(
  gateway: Gateway,
  org: string,
  { type, config }: Pick<TriggerDefinition, 'type' | 'config'>,
): { webhookUrl?: string } {
  if (type !== 'webhook') return {};
  const organizationPrefix = org === DEFAULT_ORGANIZATION ? '' : `${encodeURIComponent(org)}/`;
  return { webhookUrl: `${gateway.publicUrl()}/webhooks/${organizationPrefix}${config?.['path']}` };
}
