/** Document 004's ways to start a stored workflow: the public trigger, the private one, and the run of an organization. */

import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { ClientError } from '../../../client/errors.ts';
import type { Keyring } from '../../../client/organization/keyring.ts';
import { organizationOfPublicKey, readPublicKey, renewPublicKey } from '../../../client/organization/public-key.ts';
import { acceptedState } from '../../../client/starts/accepted-input.ts';
import { type PreparedRun, prepareRun } from '../../../client/starts/prepare-run.ts';
import { type StartRequest, type StartResult, startRun } from '../../../client/starts/start.ts';
import type { RunOrigin } from '../../../contract/run.ts';
import { defined } from '../../../json/defined.ts';
import type { Json } from '../../../json/json.ts';
import { whoAsks } from '../../http/auth.ts';
import { bodyAs, isUtf8, jsonBody, mediaOf, rawBody, readBody } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { demandOrganization, principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { requestKey } from '../../http/request-key.ts';
import { resource } from '../../http/resource.ts';
import { fingerprintOf } from '../../http/starts.ts';
import { fieldsOf } from '../../input/form-fields.ts';
import { decodeText } from '../../validation/json-guard.ts';
import { anyJson, demandNoQuery, nameText, pathSlug, pathText } from '../../validation/validation.ts';

/** What document 004 tells of a run; its names are taken as they are. */
export const orgRunBody = z.strictObject({
  payload: anyJson.optional().describe("The run's input. Default: {}."),
  state: z.record(nameText(200), anyJson).optional().describe('What the declared state begins with.'),
  conversation_id: nameText(200).optional().describe('What the run belongs to, for lists.'),
  channel: nameText(200).optional().describe('Where it came from, for lists.'),
  ai_employee_id: nameText(200).optional().describe('The employee it is of, for lists.'),
  conversation_title: nameText(200).optional().describe('For people.'),
});

/** @throws ClientError `public_start_not_allowed`. */
function demandPublicStart({ definition }: PreparedRun): void {
  if (definition.config?.publicStart === true) return;
  throw new ClientError(
    'public_start_not_allowed',
    `The workflow '${definition.slug}' is not open to public starts. Its owner allows them by publicStart: true in its config.`,
  );
}

export function publicTriggerRoutes(router: Router, gateway: Gateway, keyring: Keyring): void {
  const { access, config } = gateway;

  /** Who has the public key and starts by it, where the request shows a key of the same organization as well. */
  const callerOf = async (req: Request, org: string): Promise<string | undefined> => {
    if (req.get('authorization') === undefined) return undefined;
    const caller = await whoAsks(req, config, keyring).catch((error: unknown) => {
      // What else the header may hold is no matter of this door.
      if (error instanceof HttpProblem) return undefined;
      throw error;
    });
    return caller?.organizationId === org ? caller.id : undefined;
  };

  resource(router, '/api/public/trigger/:publicApiKey/:workflowId', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const org = await organizationOfPublicKey(access, pathText(req, 'publicApiKey'));
      if (org === undefined)
        throw new HttpProblem(
          'public_key_invalid',
          'The key in the address is none, or no longer one. Ask for the present one.',
        );
      const workflow = pathSlug(req, 'workflowId');
      await readBody(req, res);
      const body = payloadOf(req);
      const triggerUrl = `${gateway.publicUrl()}/api/public/trigger/…/${workflow}`;
      const start = startOf(req, `public ${workflow}`, body, { triggerUrl }, await callerOf(req, org));
      const started = await startRun(access, org, {
        ...start,
        workflows: [workflow],
        debounces: true,
        prepare: async () => {
          const prepared = await prepareRun(access, org, { workflow, parts: partsOf(body) });
          demandPublicStart(prepared);
          return prepared;
        },
      });
      answer(res, workflow, started);
    },
  });

  resource(router, '/api/private/trigger/:workflowId', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const { organizationId, id } = principalOf(req);
      const workflow = pathSlug(req, 'workflowId');
      const body = payloadOf(req);
      const triggerUrl = `${gateway.publicUrl()}/api/private/trigger/${workflow}`;
      const start = startOf(req, `private ${workflow}`, body, { triggerUrl }, id);
      const started = await startRun(access, organizationId, {
        ...start,
        workflows: [workflow],
        prepare: () => prepareRun(access, organizationId, { workflow, parts: partsOf(body) }),
      });
      answer(res, workflow, started);
    },
  });

  resource(router, '/api/organizations/:org/workflows/:slug/runs', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const { organizationId, id } = demandOrganization(req, pathText(req, 'org'));
      const workflow = pathSlug(req);
      const body = bodyAs(req, orgRunBody);
      const start = startOf(req, `manual ${workflow}`, body as Json, originOf(body), id);
      const started = await startRun(access, organizationId, {
        ...start,
        workflows: [workflow],
        prepare: async () => {
          const parts = partsOf(body.payload === undefined ? {} : body.payload);
          const prepared = await prepareRun(access, organizationId, { workflow, parts, at: '/payload' });
          return { ...prepared, state: acceptedState(prepared.definition, body.state ?? {}) };
        },
      });
      answer(res, workflow, started);
    },
  });

  resource(router, '/api/public-key', {
    GET: async (req, res) => {
      demandNoQuery(req);
      res.json(shownKey(gateway, await readPublicKey(access, principalOf(req).organizationId)));
    },
    POST: async (req, res) => {
      demandNoQuery(req);
      res.status(201).json(shownKey(gateway, await renewPublicKey(access, principalOf(req).organizationId)));
    },
  });
}

/** The whole body as document 004 takes it: JSON, the fields of a form, or a text as it stands. */
function payloadOf(req: Request): Json {
  const bytes = rawBody(req);
  if (bytes.length === 0) return {};
  const media = mediaOf(req);
  if (media === 'form') return fieldsOf(new URLSearchParams(decodeText(bytes)));
  const type = req.get('content-type') ?? 'text/plain';
  if (media === undefined && /^text\//i.test(type) && isUtf8(type)) return decodeText(bytes);
  const body = jsonBody(req);
  return body === undefined ? {} : body;
}

const shownKey = (gateway: Gateway, publicApiKey: string): object => ({
  publicApiKey,
  url: `${gateway.publicUrl()}/api/public/trigger/${publicApiKey}/{workflowId}`,
});

const partsOf = (body: Json) => ({ body, query: {}, headers: {}, params: {}, now: Date.now() });

function startOf(
  req: Request,
  scope: string,
  content: Json,
  origin: RunOrigin,
  initiator?: string,
): Omit<StartRequest, 'workflows' | 'prepare'> {
  const key = requestKey(req);
  const caller = initiator === undefined ? scope : `${scope} ${initiator}`;
  return {
    trigger: { type: 'manual', metadata: { via: scope.split(' ')[0] ?? scope } },
    origin,
    ...defined({ initiator }),
    ...(key === undefined ? {} : { key: { scope: caller, key, fingerprint: fingerprintOf({ content }) } }),
  };
}

function originOf(body: z.infer<typeof orgRunBody>): RunOrigin {
  const { conversation_id, channel, ai_employee_id, conversation_title } = body;
  return defined({
    conversationId: conversation_id,
    channel,
    employeeId: ai_employee_id,
    conversationTitle: conversation_title,
  });
}

/** In document 004's envelope. */
function answer(res: Response, workflow: string, started: StartResult): void {
  if (started.outcome === 'debounced') {
    res.status(202).json({ success: true, data: { debounced: true, until: started.until } });
    return;
  }
  const { outcome, executionId, status } = started;
  res.setHeader('location', `/api/executions/${encodeURIComponent(executionId)}`);
  res.status(outcome === 'started' ? 201 : 200).json({
    success: true,
    data: { run_id: executionId, workflow_id: workflow, executionId, status },
  });
}
