/** What callers do to a run: approve, submit, messages, cancel, terminate (ARCHITECTURE.md §5). */

import type { Request, Response, Router } from 'express';
import { ulid } from 'ulid';
import { z } from 'zod';
import { hasCode } from '../../../client/errors.ts';
import { forkRun } from '../../../client/runs/fork.ts';
import { retryRun } from '../../../client/runs/retry.ts';
import { cancelRun, decide, recordedAs, sendMessage, submit, terminateRun } from '../../../client/runs/run-actions.ts';
import { readRun } from '../../../client/runs/run-read.ts';
import type { EndingWords } from '../../../client/temporal/termination-reason.ts';
import { isCallbackName } from '../../../contract/callbacks.ts';
import type { Standing } from '../../../contract/run.ts';
import { defined } from '../../../json/defined.ts';
import { bodyAs, jsonBody } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { idOfKey, mayBeDone } from '../../http/request-key.ts';
import { resource } from '../../http/resource.ts';
import { answerStarted, startKeyOf } from '../../http/starts.ts';
import { anyJson, checked, demandNoQuery, nameText, pathText } from '../../validation/validation.ts';

const text = z.string().max(10_000);
const step = nameText(300).describe('A slug with one open visit, or a path. It may be left out where just one fits.');

export const approveBody = z.strictObject({
  approve: z.boolean().describe('False rejects.'),
  step: step.optional(),
  resumeToken: nameText(200).optional().describe('Names the approval, as waitingFor of the run shows it.'),
  comments: text.optional().describe('For whoever reads the trace, and for `comments` of the output.'),
  data: anyJson.optional().describe("What the approval's form asks for."),
});
export const submitBody = z.strictObject({ data: anyJson.describe('What is submitted.'), step: step.optional() });
export const reasonBody = z.strictObject({
  reason: text.optional().describe("For readers: it stands in the run's error."),
});

export const nothing = z.strictObject({});
const values = z.record(nameText(200), anyJson);
export const forkBody = z.strictObject({
  from: nameText(300)
    .optional()
    .describe('The path of a visit, or the slug of a step that was visited once. Default: the first visit of the run.'),
  edits: z
    .strictObject({
      input: anyJson.optional().describe('Another input.'),
      variables: values.optional().describe('By name.'),
      state: values.optional().describe('By key.'),
      outputs: values.optional().describe('By `outputVariable`.'),
      steps: values.optional().describe('Data of outputs, by the slug of their step.'),
    })
    .optional()
    .describe('What is different: members are set, others stay.'),
  version: nameText(100).optional().describe('A hash or a number. Default: the definition that the run had.'),
});

export function executionActionRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;

  resource(router, '/api/executions/:id/approve', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const { approve, ...rest } = bodyAs(req, approveBody);
      const { organizationId } = principalOf(req);
      const id = pathText(req, 'id');
      const decision = approve ? 'approved' : 'rejected';
      const { path } = await decide(access, organizationId, id, {
        decision,
        ...defined(rest),
        ...personOf(req),
        ...keyOf(req),
      });
      const { comments } = rest;
      res.json({
        executionId: id,
        path,
        decision,
        ...(await recordedAs(access, id, path)),
        ...defined({ comments }),
      });
    },
  });

  resource(router, '/api/executions/:id/submit', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const body = bodyAs(req, submitBody);
      const { organizationId } = principalOf(req);
      const id = pathText(req, 'id');
      const { path } = await submit(access, organizationId, id, {
        data: body.data,
        ...defined({ step: body.step }),
        ...personOf(req),
        ...keyOf(req),
      });
      res.json({ executionId: id, path });
    },
  });

  resource(router, '/api/executions/:id/messages/:name', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const id = pathText(req, 'id');
      const name = checked(nameText(200), req.params['name'], 'path');
      if (isCallbackName(name))
        throw new HttpProblem(
          'invalid_name',
          'Messages of that name are callbacks: call the URL that the run gave out.',
        );
      // With an id of its own a message that is sent twice is one message.
      const messageId = idOfKey(req) ?? ulid();
      await sendMessage(access, principalOf(req).organizationId, id, {
        name,
        payload: jsonBody(req) ?? null,
        id: messageId,
      });
      res.status(202).json({ executionId: id, name, messageId });
    },
  });

  resource(router, '/api/executions/:id/cancel', {
    POST: (req, res) => end(req, res, (org, id, words) => cancelRun(access, org, id, words)),
  });
  resource(router, '/api/executions/:id/terminate', {
    POST: (req, res) => end(req, res, (org, id, words) => terminateRun(access, org, id, words)),
  });

  resource(router, '/api/executions/:id/retry', {
    POST: async (req, res) => {
      demandNoQuery(req);
      bodyAs(req, nothing);
      const { organizationId } = principalOf(req);
      const { executionId, status } = await retryRun(access, organizationId, pathText(req, 'id'), idOfKey(req));
      res.status(202).json({ executionId, status });
    },
  });

  resource(router, '/api/executions/:id/fork', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const body = bodyAs(req, forkBody);
      const { organizationId, id: initiator } = principalOf(req);
      const id = pathText(req, 'id');
      const started = await forkRun(access, organizationId, id, {
        edits: defined(body.edits ?? {}),
        ...defined({ from: body.from, version: body.version, initiator, key: startKeyOf(req, body, `fork ${id}`) }),
      });
      answerStarted(res, started);
    },
  });

  async function end(
    req: Request,
    res: Response,
    act: (org: string, id: string, words: EndingWords) => Promise<void>,
  ): Promise<void> {
    demandNoQuery(req);
    const { reason } = bodyAs(req, reasonBody);
    const { organizationId, id: by } = principalOf(req);
    const id = pathText(req, 'id');
    await act(organizationId, id, defined({ reason, by })).catch((error: unknown) => {
      // Whoever was asked before may have died when it had done it.
      if (!mayBeDone(req) || !hasCode(error, 'closed')) throw error;
    });
    const { status } = await readRun(access, organizationId, id, new Set(['input', 'output']));
    res.status(202).json({ executionId: id, status });
  }
}

/** Who asks, and what they are; nothing while there are no persons. */
function personOf(req: Request): { by?: string; as?: Standing } {
  const { id, roles, groups } = principalOf(req);
  return id === undefined ? {} : { by: id, as: { roles, groups } };
}

const keyOf = (req: Request): { key?: string } => defined({ key: idOfKey(req) });
