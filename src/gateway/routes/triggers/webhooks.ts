/** `/webhooks/:org/:path`, and `/webhooks/:path` for `default`: deliveries that start runs (ARCHITECTURE.md §5). */

import type { Request, Response } from 'express';
import { z } from 'zod';
import { ClientError, hasCode } from '../../../client/errors.ts';
import { readSecret } from '../../../client/organization/secrets.ts';
import { type RequestKey, type StartResult, startRun } from '../../../client/starts/start.ts';
import type { StartedRun } from '../../../client/starts/start-prepared-run.ts';
import type { Access, WriteAccess } from '../../../client/temporal/access.ts';
import { sha256Hex } from '../../../client/temporal/ids.ts';
import { firingOf, firingRefusalOf, recordFiring } from '../../../client/triggers/trigger-records.ts';
import { triggerIdOf } from '../../../client/triggers/triggers.ts';
import type { HookConfig } from '../../../contract/actors.ts';
import type { TriggerRequest } from '../../../definition/document/trigger-mapping.ts';
import type { Json, JsonObject } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { webhookDeliveries } from '../../../observe/metrics.ts';
import { parseDuration } from '../../../template/duration.ts';
import { started, webhookAnswer } from '../../answers/executions.ts';
import { keyInitiatorOf } from '../../http/auth.ts';
import { isUtf8, mediaOf, ONLY_UTF8, rawBody } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { capitalized, METHODS } from '../../http/method.ts';
import { asProblem } from '../../http/problem.ts';
import { type Incoming, type OutcomeOf, ok, type Route, rawRoute } from '../../http/route.ts';
import { bodyOfMethod } from '../../http/route-body.ts';
import { methodNotAllowed } from '../../http/router.ts';
import { paramsToFields, readForm } from '../../input/form-fields.ts';
import { awaitResult, startedAnswer } from '../../input/starts.ts';
import { resolveWebhook, type WebhookAddress } from '../../input/webhook-path.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { checkKeys, parseJson, parseJsonText } from '../../validation/json-guard.ts';
import { BODY_PROBLEMS, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { nameText, slugText } from '../../validation/validation.ts';
import type { Delivery, Scheme } from '../../webhook-signatures/scheme.ts';
import { schemeOf } from '../../webhook-signatures/table.ts';

/** How long a body's hash identifies a delivery whose sender gives no id. */
const DEFAULT_REPLAY_WINDOW_MS = 5 * 60 * 1000;
const NO_WEBHOOK = 'No webhook answers at this address.';
const UNVERIFIABLE =
  'Deliveries to this address cannot be verified at the moment, since its secret cannot be read: its owner must ' +
  'look at the trigger. Send it again later.';
/** How long `respond: result` waits. */
const RESULT_MS = 30_000;
/** Content types of senders that send JSON without declaring it. */
const FORM = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i;
const UNDECLARED_JSON_TYPE = /^(text\/(plain|json)\s*(;.*)?)?$/i;
/** Headers that carry credentials with any scheme. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-api-key']);

const startedOrDebounced = z.union([
  started,
  z.object({
    debounced: z.literal(true),
    until: z.iso.datetime().describe('When the run starts if no further payload arrives.'),
  }),
]);
const answers = {
  202: {
    text: 'Started, or delayed by debouncing; with `respond: result`, the run did not end in time.',
    schema: startedOrDebounced,
  },
  200: {
    text:
      "The same delivery again; or with `respond: result`, the result; or, to Slack's `url_verification`, its " +
      'challenge.',
    schema: webhookAnswer,
  },
};
type DeliveryOutcome = OutcomeOf<typeof answers>;

/** A webhook accepts only the method of its trigger. */
const deliveryRoutes = (path: string, suffix: string, params: Route['params']): Route[] =>
  METHODS.map((method) =>
    rawRoute({
      method,
      path,
      role: 'public',
      callers: 'anywhere',
      writes: true,
      id: `deliver${capitalized(method)}${suffix}`,
      summary: 'Delivers a webhook, which starts a run.',
      description:
        "`path` is the trigger's; slashes in it stay slashes. Without an organization it is one of `default`. " +
        'Every query parameter is accepted, as a member of `query` in the payload. The trigger determines the ' +
        'method, the signature and the headers. If the request also has an API key, its holder is the initiator.',
      params,
      ...bodyOfMethod(method, ['application/json', 'application/x-www-form-urlencoded']),
      answers,
      problems: [
        ...WRITE_PROBLEMS,
        'not_found',
        'method_not_allowed',
        'required_header_missing',
        'signature_missing',
        'signature_invalid',
        'signature_expired',
        ...BODY_PROBLEMS,
        'payload_too_large',
        'invalid_input',
        'invalid_mapping',
        'idempotency_conflict',
        'limit_reached',
        'queue_full',
        'workflow_disabled',
        'request_in_flight',
        'workflow_not_found',
        'version_not_found',
        'version_missing',
        'webhook_unverifiable',
      ],
      handle: async (incoming) => {
        const { gateway, access, req } = incoming;
        const webhook = await resolveWebhook(gateway, access, req);
        if (webhook === undefined) throw new HttpProblem('not_found', NO_WEBHOOK);
        const { scheme } = webhook.config;
        await incoming.takeBody(webhook.org);
        try {
          return await deliver(incoming, webhook);
        } catch (error) {
          webhookDeliveries.inc({ scheme, verdict: asProblem(error).code });
          // A disabled trigger answers only for runs that it has started; it does not explain other refusals.
          const isRefusal = error instanceof HttpProblem || firingRefusalOf(error) !== undefined;
          throw isRefusal && !webhook.config.enabled ? new HttpProblem('not_found', NO_WEBHOOK) : error;
        }
      },
    }),
  );

/** As long as the path of a trigger may be. */
const hookPath = nameText(200);

export const webhookRoutes = [
  ...deliveryRoutes('/webhooks/:path', 'ToDefault', { path: hookPath }),
  ...deliveryRoutes('/webhooks/:org/*path', '', { org: slugText, path: hookPath }),
];

async function deliver(incoming: Incoming, { org, path, owner, config }: WebhookAddress): Promise<DeliveryOutcome> {
  const { gateway, access, req, res } = incoming;
  if (req.method !== config.method) throw methodNotAllowed(req.method, config.method);
  const scheme = schemeOf(config.scheme);
  if (scheme === undefined)
    throw new HttpProblem('internal_error', `The scheme ${config.scheme} of this webhook is not known here.`);
  const delivery: Delivery = { raw: rawBody(req), header: (name) => req.get(name), now: Date.now() };
  const triggerId = owner.api ?? triggerIdOf(owner.workflow, owner.trigger);
  const secrets = await secretsOf(access, org, owner.workflow, config).catch((error: unknown) => {
    if (!hasCode(error, 'secret_not_found', 'secret_not_allowed', 'secret_unreadable')) throw error;
    const refused = firingRefusalOf(error);
    if (refused !== undefined && config.enabled) recordFiring(access, org, triggerId, refused);
    // The sender is unknown, so the reason is recorded at the trigger, where its owner sees it.
    throw new HttpProblem('webhook_unverifiable', UNVERIFIABLE, { cause: error, headers: { 'retry-after': '60' } });
  });
  const verdict = scheme.verify(delivery, secrets, config.options);
  if (!verdict.ok) throw new HttpProblem(verdict.code, verdict.message);
  const answer = config.enabled ? scheme.handshake?.(bodyOf(req)) : undefined;
  if (answer !== undefined) {
    webhookDeliveries.inc({ scheme: config.scheme, verdict: 'handshake' });
    return ok(answer);
  }
  demandHeaders(req, config);

  const parts: TriggerRequest = {
    body: bodyOf(req),
    query: queryOf(req),
    headers: headersOf(req, scheme, config),
    params: { org, path },
    now: delivery.now,
  };
  let started: StartResult;
  try {
    const sender = { triggerId, initiator: await keyInitiatorOf(incoming, org) };
    started = await startDelivered(access, scheme, delivery, parts, { org, path, owner, config }, sender);
  } catch (error) {
    const refused = firingRefusalOf(error);
    if (refused !== undefined && config.enabled) recordFiring(access, org, triggerId, refused);
    throw error;
  }
  webhookDeliveries.inc({ scheme: config.scheme, verdict: started.outcome });
  recordFiring(access, org, triggerId, firingOf(started));
  if (started.outcome === 'debounced') return { status: 202, body: { debounced: true, until: started.until } };
  return config.respond === 'result' ? resultOf(gateway, org, res, started) : deliveredAnswer(started);
}

/** 202 for a new run, 200 for the run that the same delivery started before. */
function deliveredAnswer(started: StartedRun): DeliveryOutcome {
  const answer = startedAnswer(started);
  return answer.status === 201 ? { ...answer, status: 202 } : answer;
}

/** Starts one run for each delivery. */
function startDelivered(
  access: WriteAccess,
  scheme: Scheme,
  delivery: Delivery,
  parts: TriggerRequest,
  address: WebhookAddress,
  { triggerId, initiator }: { readonly triggerId: string; readonly initiator: string | undefined },
): Promise<StartResult> {
  const { org, path, owner, config } = address;
  const { mapping, targetState } = config;
  const id = deliveryIdOf(scheme, delivery);
  return startRun(access, org, {
    ...omitUndefined({ initiator }),
    key: keyOf(scheme, delivery, parts, address, id),
    trigger: { type: 'webhook', id: triggerId, metadata: { path, ...omitUndefined({ deliveryId: id }) } },
    debounces: true,
    run: {
      definitionRef: { workflow: owner.workflow },
      owner: config.owner ?? '',
      parts,
      ...omitUndefined({ mapping, targetState }),
      ...(config.enabled ? {} : { refusal: new ClientError('not_found', NO_WEBHOOK) }),
    },
  });
}

/** The sender's id of the delivery, or the `Idempotency-Key` of one that is not signed. */
function deliveryIdOf({ deliveryId, acceptsIdempotencyKey }: Scheme, delivery: Delivery): string | undefined {
  const id = acceptsIdempotencyKey === true ? delivery.header('Idempotency-Key') : deliveryId?.(delivery);
  return id === '' ? undefined : id;
}

/** Recognizes a repeated delivery by its id, else by its signed content, or by the request where nothing is signed. */
function keyOf(
  scheme: Scheme,
  { raw, now }: Delivery,
  { query }: TriggerRequest,
  { path, config }: WebhookAddress,
  id: string | undefined,
): RequestKey {
  // A query is not signed, so it does not distinguish signed deliveries.
  const hash = sha256Hex(raw, ...(scheme.acceptsIdempotencyKey === true ? ['\n', JSON.stringify(query)] : []));
  const content = { path, hash, now, windowMs: replayWindowOf(scheme, config) };
  const key = `id ${id}`;
  const byId =
    id === undefined
      ? undefined
      : { scope: `webhook ${path}`, key, fingerprint: scheme.acceptsIdempotencyKey === true ? hash : key };
  if (scheme.deliveryId !== undefined && scheme.replayWindowMs?.(config.options) !== undefined)
    return { as: 'unsigned', id: byId, ...content };
  return byId === undefined ? { as: 'content', ...content } : { as: 'id', ...byId };
}

function replayWindowOf(scheme: Scheme, { options }: HookConfig): number {
  const written = options['replayWindow'];
  const ms = written === undefined ? undefined : parseDuration(written)?.ms;
  return ms ?? scheme.replayWindowMs?.(options) ?? DEFAULT_REPLAY_WINDOW_MS;
}

/** The secrets that can be read: while one is rotated there are two, and one of them may be deleted. */
async function secretsOf(access: Access, org: string, workflow: string, config: HookConfig): Promise<string[]> {
  if (config.secrets.length === 0) return [];
  const read = await Promise.allSettled(config.secrets.map((name) => readSecret(access, org, name, { workflow })));
  const values = read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const [failed] = read.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  if (values.length === 0 && failed !== undefined) throw failed;
  return values;
}

function demandHeaders(req: Request, config: HookConfig): void {
  for (const [name, wanted] of Object.entries(config.headers)) {
    const value = req.get(name);
    if (value === undefined || (wanted !== '' && wanted !== '*' && value !== wanted)) {
      throw new HttpProblem(
        'required_header_missing',
        `A delivery needs the header ${name} with the value that the trigger asks for.`,
      );
    }
  }
}

/** Parses JSON, also with a text type or without one, or a form. An absent body is an empty object. */
function bodyOf(req: Request): Json {
  const bytes = rawBody(req);
  if (bytes.length === 0) return {};
  const type = req.get('content-type') ?? '';
  const isForm = FORM.test(type);
  const sent = isForm ? readForm(bytes, type) : undefined;
  if (sent !== undefined) {
    // GitHub and Slack can send their JSON as one field of a form.
    const payload = sent.getAll('payload').at(-1);
    return payload?.startsWith('{') === true ? parseJsonText(payload, 'texts') : paramsToFields(sent);
  }
  if (isForm || (mediaOf(req) !== 'json' && !UNDECLARED_JSON_TYPE.test(type)))
    throw new HttpProblem(
      'unsupported_media_type',
      isUtf8(type)
        ? 'Send the delivery as JSON, with the header Content-Type: application/json, or as a form.'
        : ONLY_UTF8,
    );
  return parseJson(bytes, 'texts');
}

function queryOf(req: Request): JsonObject {
  const query: JsonObject = {};
  for (const [name, value] of Object.entries(req.query)) {
    if (!nameText(200).safeParse(name).success)
      throw new HttpProblem('invalid_name', 'A parameter of the query has a name that cannot be used.');
    query[name] = value as Json;
  }
  checkKeys(query);
  return query;
}

function headersOf(req: Request, scheme: Scheme, config: HookConfig): JsonObject {
  const hidden = new Set([...CREDENTIALS, ...scheme.privateHeaders(config.options)]);
  const headers: JsonObject = {};
  for (const [name, value] of Object.entries(req.headers)) {
    if (!hidden.has(name) && value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

async function resultOf(gateway: Gateway, org: string, res: Response, started: StartedRun): Promise<DeliveryOutcome> {
  const { executionId } = started;
  const { ended, ...result } = await awaitResult({ gateway, res }, org, executionId, RESULT_MS);
  return ended ? { status: 200, body: { executionId, ...result } } : deliveredAnswer(started);
}
