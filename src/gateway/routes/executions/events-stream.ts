/**
 * `GET /api/executions/:id/events`: what happens in a run, as Server-Sent Events: `step`, `status`, and `end` when it has
 * ended. Whoever is cut off goes on after its Last-Event-ID; one that has seen the end is told 204, and comes no more.
 */
import type { Writable } from 'node:stream';
import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import type { Keyring } from '../../../client/organization/keyring.ts';
import { followRun, type Happening } from '../../../client/runs/event-stream.ts';
import { describeRun } from '../../../client/runs/run-read.ts';
import { isOpen } from '../../../client/temporal/run-status.ts';
import { whoAsks } from '../../http/auth.ts';
import { callerGone } from '../../http/caller-gone.ts';
import type { Gateway } from '../../http/context.ts';
import { type Principal, principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { resource } from '../../http/resource.ts';
import { checked, nameText, pathText, queryAs } from '../../validation/validation.ts';
import { type NamedEvent, namesOf002 } from './event-names-002.ts';

/** Each holds a request open at Temporal. So many in all, of one organization, and with one key. */
const MOST_STREAMS = { all: 1_000, organization: 500, key: 200 } as const;
/** Proxies close what is silent for a minute. */
const HEARTBEAT_MS = 15_000;
const RECONNECT_MS = 1_000;
/** A stream whose key was revoked ends after this. */
const RECHECK_MS = 2_000;

export const eventsQuery = z.strictObject({
  names: z
    .literal('002')
    .optional()
    .describe(
      '002: events have the names of document 002, such as execution.started, step.completed, approval.required.',
    ),
});

/** Who follows how many runs. */
export class Streams {
  readonly #open = new Map<string, number>();

  /**
   * Counts one more; what is answered is to be called when it has ended.
   * @throws HttpProblem `too_many_streams`.
   */
  enter({ organizationId, keyId, id }: Principal): () => void {
    const counted = [
      { name: '', most: MOST_STREAMS.all, who: 'This gateway' },
      { name: `organization ${organizationId}`, most: MOST_STREAMS.organization, who: 'Your organization' },
      // While there are no keys, everybody is one.
      ...(keyId === undefined && id === undefined
        ? []
        : [{ name: `key ${organizationId} ${keyId ?? id}`, most: MOST_STREAMS.key, who: 'Your key' }]),
    ];
    for (const { name, most, who } of counted) {
      if ((this.#open.get(name) ?? 0) < most) continue;
      throw new HttpProblem(
        'too_many_streams',
        `${who} follows ${most} runs already. Try again shortly, or ask for /result?wait=60 instead.`,
        { headers: { 'retry-after': '5' } },
      );
    }
    for (const { name } of counted) this.#add(name, 1);
    return () => {
      for (const { name } of counted) this.#add(name, -1);
    };
  }

  #add(name: string, by: 1 | -1): void {
    const count = (this.#open.get(name) ?? 0) + by;
    if (count > 0) this.#open.set(name, count);
    else this.#open.delete(name);
  }
}

export function eventStreamRoutes(router: Router, gateway: Gateway, keyring: Keyring): void {
  const streams = new Streams();
  resource(router, '/api/executions/:id/events', {
    GET: async (req, res) => {
      const { names } = queryAs(req, eventsQuery);
      const id = pathText(req, 'id');
      const description = await describeRun(gateway.access, principalOf(req).organizationId, id);
      const leave = streams.enter(principalOf(req));
      const gone = callerGone(res);
      const recheck = setInterval(() => void unlessLeftOut(req, () => gone.abort()), RECHECK_MS);
      const signal = AbortSignal.any([gone.signal, gateway.closing]);
      try {
        const happenings = await followRun(gateway.access, id, signal, lastEventId(req));
        // What has ended is all there: then it is known at once whether there is anything to tell.
        const first = isOpen(description.status.name) ? undefined : await happenings.next();
        if (first?.done === true) {
          res.status(204).end();
          return;
        }
        await stream(
          req,
          res,
          first?.value,
          happenings,
          names === '002' ? namesOf002(id, lastEventId(req) === undefined) : asItIs,
        );
      } finally {
        clearInterval(recheck);
        leave();
        gone.abort();
      }
    },
  });

  async function unlessLeftOut(req: Request, leave: () => void): Promise<void> {
    try {
      await whoAsks(req, gateway.config, keyring);
    } catch (error) {
      // While it cannot be known, who was let in stays.
      if (error instanceof HttpProblem) leave();
    }
  }

  async function stream(
    req: Request,
    res: Response,
    first: Happening | undefined,
    rest: AsyncGenerator<Happening>,
    named: (happening: Happening) => readonly NamedEvent[],
  ): Promise<void> {
    res.status(200).setHeader('content-type', 'text/event-stream; charset=utf-8');
    // Proxies that gather answers are told not to.
    res.setHeader('x-accel-buffering', 'no');
    if (req.method === 'HEAD') {
      res.end();
      return;
    }
    res.write(`retry: ${RECONNECT_MS}\n\n`);
    const heartbeat = setInterval(() => res.write(':\n\n'), HEARTBEAT_MS);
    try {
      if (first !== undefined) await tell(res, first.id, named(first));
      for await (const happening of rest) await tell(res, happening.id, named(happening));
    } catch (error) {
      // Headers are out; who listens comes back with its last id.
      gateway.log.warn({ requestId: res.locals['requestId'], err: String(error) }, 'A stream of events was cut off.');
    } finally {
      clearInterval(heartbeat);
      res.end();
    }
  }
}

/** Waits where the listener is slow. */
async function tell(res: Response, id: string, events: readonly NamedEvent[]): Promise<void> {
  // Of several, the last one has the id: whoever is cut off between them hears them all again.
  const text = events.map(
    ({ event, data }, n) =>
      `${n === events.length - 1 ? `id: ${id}\n` : ''}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
  );
  if (res.destroyed || res.write(text.join(''))) return;
  await drained(res);
}

const asItIs = ({ event, data }: Happening): NamedEvent[] => [{ event, data }];

/** Resolves when the stream takes more, or never will; leaves no listener behind, however often a stream is waited for. */
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
  return id === undefined || id === '' ? undefined : checked(nameText(100), id, 'header');
}
