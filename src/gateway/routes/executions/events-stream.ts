/**
 * `GET /api/executions/:id/events`: follows a run by Server-Sent Events: `step`, `status`, and `end` when it has ended.
 * A caller that was disconnected continues after its Last-Event-ID. A caller that has seen the end gets 204, and then
 * does not reconnect.
 */
import type { Writable } from 'node:stream';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { followRun, type StreamEvent } from '../../../client/runs/event-stream.ts';
import { describeRun } from '../../../client/runs/run-read.ts';
import { isOpen } from '../../../client/temporal/run-status.ts';
import { agentOpsEventNames, agentOpsNames, type NamedEvent } from '../../../compat/agent-ops/server/event-names.ts';
import { text } from '../../answers/named.ts';
import { abortOnDisconnect } from '../../http/abort-on-disconnect.ts';
import { authenticateCaller } from '../../http/auth.ts';
import { perGateway } from '../../http/context.ts';
import { type Incoming, route, SENT } from '../../http/route.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { checked, commaSeparated, nameText, pathName } from '../../validation/validation.ts';
import { StreamLimiter } from './stream-limiter.ts';

/** Proxies close connections that are silent for a minute. */
const HEARTBEAT_MS = 15_000;
const RECONNECT_MS = 1_000;
const eventId = nameText(100);
/** How often a stream checks its key. A stream ends once its key is revoked. */
const RECHECK_MS = 500;

const EXCLUDED = ['input', 'output'] as const;

const eventsQuery = z.strictObject({
  after: eventId
    .optional()
    .describe('Begins after this event: the `lastEventId` of a summary. The header Last-Event-ID has priority.'),
  exclude: commaSeparated(EXCLUDED)
    .optional()
    .describe('Members of events to leave out, separated by commas: input, output.'),
  names: agentOpsNames
    .optional()
    .describe('002: events have the names of agent-ops, such as execution.started, step.completed, approval.required.'),
});

function withoutMembers(events: readonly NamedEvent[], exclude: readonly string[]): readonly NamedEvent[] {
  if (exclude.length === 0) return events;
  return events.map(({ event, data }) => ({
    event,
    data: Object.fromEntries(Object.entries(data).filter(([member]) => !exclude.includes(member))),
  }));
}

const streamsOf = perGateway(() => new StreamLimiter());

export const eventStreamRoutes = [
  route({
    method: 'GET',
    path: '/api/executions/:id/events',
    role: 'viewer',
    id: 'followExecution',
    summary: 'Follows a run, as Server-Sent Events.',
    description:
      '`step` when a visit begins or ends, `status` when the run begins to wait or goes on, `end` with the ' +
      'result; then the stream ends. `unreadable` if the rest of the history cannot be read. From the ' +
      'beginning, or after `after` or Last-Event-ID. `attempt` when an attempt has failed. With names=002: ' +
      'execution.started, step.started, step.completed, step.failed, step.cancelled, approval.required, ' +
      'approval.approved, approval.denied, execution.resumed, execution.finished, and status for other changes.',
    params: { id: pathName },
    query: eventsQuery,
    headers: { 'Last-Event-ID': 'The last event that was seen.' },
    answers: {
      200: { text: 'The events.', schema: text, media: ['text/event-stream'] },
      204: { text: 'The run has ended, and the caller has seen every event.' },
    },
    problems: ['not_found', 'invalid_cursor', 'too_many_streams'],
    handle: async ({ principal, params: { id }, query: { names, after, exclude = [] }, ...incoming }) => {
      const { gateway, access, req, res } = incoming;
      const description = await describeRun(access, principal.organizationId, id);
      const seen = lastEventId(req) ?? after;
      const release = streamsOf(gateway).acquire(principal);
      const controller = abortOnDisconnect(res, gateway.closing);
      const recheck = setInterval(() => void disconnectIfRevoked(incoming, () => controller.abort()), RECHECK_MS);
      try {
        const events = await followRun(access, id, controller.signal, seen);
        // An ended run has all of its events, so it is known whether any is left to send.
        const first = isOpen(description.status.name) ? undefined : await events.next();
        if (first?.done === true) return { status: 204 };
        const named = names === undefined ? originalNames : agentOpsEventNames(id, seen === undefined);
        await stream(incoming, first?.value, events, (event) => withoutMembers(named(event), exclude));
        return SENT;
      } finally {
        clearInterval(recheck);
        release();
        controller.abort();
      }
    },
  }),
];

async function disconnectIfRevoked({ gateway, keyring, req }: Incoming, disconnect: () => void): Promise<void> {
  try {
    await authenticateCaller(req, gateway, keyring);
  } catch (error) {
    // While the key cannot be checked, an accepted caller keeps its stream.
    if (error instanceof HttpProblem) disconnect();
  }
}

async function stream(
  { gateway, req, res }: Incoming,
  first: StreamEvent | undefined,
  rest: AsyncGenerator<StreamEvent>,
  named: (event: StreamEvent) => readonly NamedEvent[],
): Promise<void> {
  res.status(200).setHeader('content-type', 'text/event-stream; charset=utf-8');
  // Tells proxies not to buffer the answer.
  res.setHeader('x-accel-buffering', 'no');
  if (req.method === 'HEAD') {
    res.end();
    return;
  }
  res.write(`retry: ${RECONNECT_MS}\n\n`);
  const heartbeat = setInterval(() => res.write(':\n\n'), HEARTBEAT_MS);
  try {
    if (first !== undefined) await writeEvents(res, first.id, named(first));
    for await (const event of rest) await writeEvents(res, event.id, named(event));
  } catch (error) {
    // The headers are sent already. The listener reconnects with its last id.
    gateway.log.warn({ requestId: res.locals['requestId'], err: String(error) }, 'A stream of events was cut off.');
  } finally {
    clearInterval(heartbeat);
    res.end();
  }
}

/** Writes events, and waits while the listener is slow. */
async function writeEvents(res: Response, id: string, events: readonly NamedEvent[]): Promise<void> {
  // Only the last of several events has the id, so a caller disconnected between them gets all of them again.
  const text = events.map(
    ({ event, data }, n) =>
      `${n === events.length - 1 ? `id: ${id}\n` : ''}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
  );
  if (res.destroyed || res.write(text.join(''))) return;
  await drained(res);
}

const originalNames = ({ event, data }: StreamEvent): NamedEvent[] => [{ event, data }];

/** Resolves when the stream accepts more data or has closed. Removes its listeners. */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}

function lastEventId(req: Request): string | undefined {
  const id = req.get('last-event-id');
  return id === undefined || id === '' ? undefined : checked(eventId, id, 'header');
}
