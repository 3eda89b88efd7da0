/**
 * The audit of requests. Before a request changes anything, the audit records the change with the caller; the outcome
 * follows. A request that changes nothing, or is refused before the change, leaves no record.
 */
import type { Request, Response } from 'express';
import type { AnnouncedChange, AuditTrail } from '../../client/organization/audit.ts';
import { type Access, accessWithAudit, type WriteAccess } from '../../client/temporal/access.ts';
import type { AuditOutcome } from '../../contract/organization/audit.ts';
import { isObject, type JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { principalOf } from './principal.ts';

/** Members of answers that name a new thing. Bodies are not recorded, because they may hold secrets. */
const NAMES = ['slug', 'id', 'executionId', 'name'] as const;
/** Members of a decision: the visit, the decision, and whether it was a vote. */
const DECISION_MEMBERS = ['path', 'decision', 'recorded', 'comments'] as const;
const MAX_TEXT_LENGTH = 200;

/**
 * The access of a request: its change is recorded before it is made, and its outcome afterwards. `path` is the route's.
 */
export function auditedAccess(
  access: Access,
  trail: AuditTrail,
  req: Request,
  res: Response,
  path: string,
): WriteAccess {
  let announced: AnnouncedChange | undefined;
  const named = namesIn(res);
  const { organizationId, id, keyId } = principalOf(req);
  const requestId: unknown = res.locals['requestId'];
  res.once('close', () => {
    if (announced === undefined) return;
    const status = res.statusCode;
    const outcome = res.writableFinished ? outcomeOf(status) : 'unknown';
    const target = named();
    trail.conclude(announced, { outcome, status, ...omitUndefined({ target }) });
  });
  return accessWithAudit(access, async () => {
    announced = await trail.announce(organizationId, {
      ...omitUndefined({ by: id, keyId }),
      action: `${req.method} ${path}`,
      target: textsOf(req.params),
      ...(typeof requestId === 'string' ? { requestId } : {}),
    });
  });
}

function outcomeOf(status: number): AuditOutcome {
  if (status < 400) return 'done';
  return status < 500 ? 'refused' : 'unknown';
}

/** The names in the JSON of a successful answer. */
function namesIn(res: Response): () => JsonObject | undefined {
  let names: JsonObject | undefined;
  const json = res.json.bind(res);
  res.json = (body: unknown) => {
    if (isObject(body) && res.statusCode < 400)
      names = textsOf(Object.fromEntries(namesOf(body).flatMap((name) => (name in body ? [[name, body[name]]] : []))));
    return json(body);
  };
  return () => names;
}

const namesOf = (body: JsonObject): readonly string[] => ('decision' in body ? [...NAMES, ...DECISION_MEMBERS] : NAMES);

function textsOf(members: { readonly [name: string]: unknown }): JsonObject {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value.slice(0, MAX_TEXT_LENGTH)]] : [],
    ),
  );
}
