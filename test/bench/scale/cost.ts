/**
 * What the start of a run costs Temporal, by the kind of the start and by how many definitions, limits and
 * organizations there are. It is counted, not timed: calls at the gateway's connection, and writes in the histories of
 * all workflows, whoever made them.
 */
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { eachConcurrently } from '../../../src/client/concurrency/each-concurrently.ts';
import { connect } from '../../../src/client/temporal/connect.ts';
import { GRPC } from '../../../src/client/temporal/grpc.ts';
import { startGateway } from '../../../src/gateway/serve.ts';
import type { Json } from '../../../src/json/json.ts';
import { type TestServer, workflowsOf } from '../../support/temporal.ts';
import { runConcurrently } from '../contenders/contender.ts';
import { type Call, noting, quiet } from './calls.ts';

export const KINDS = ['manual', 'keyed', 'webhook'] as const;
export type Kind = (typeof KINDS)[number];

export interface Layout {
  readonly kind: Kind;
  /** Of each organization. */
  readonly definitions: number;
  readonly organizations: number;
  /** Active runs that an organization allows; 0 for no limit. */
  readonly limit: number;
}

/** All figures are for one start, but `starts` and `seconds`. */
export interface StartCost extends Layout {
  readonly starts: number;
  readonly seconds: number;
  /** Calls of the gateway to Temporal. */
  readonly calls: number;
  /** Writes to the run itself. */
  readonly runWrites: number;
  /** Writes to all actors together. */
  readonly actorWrites: number;
  /** Writes to the actor that has the most. */
  readonly busiestWrites: number;
  readonly busiest?: string;
  /** Calls of the gateway to the actor that it calls the most, over all starts. */
  readonly mostCalls: number;
  readonly mostCalled?: string;
}

const AT_ONCE = 8;
const KNOWN_MS = 30_000;
/** Runs whose histories are read. */
const SAMPLE = 10;

interface Address {
  readonly slug: string;
  readonly path: string;
  readonly headers: { readonly authorization: string };
}

/** A gateway whose calls are counted. */
export interface CountedGateway {
  /** Stores the layout, starts the runs, and counts until all have ended. */
  cost(layout: Layout, starts: number): Promise<StartCost>;
  close(): Promise<void>;
}

/** `server` has an admin key (SIGNALBOX_ADMIN_KEY), since without one there is one organization only. */
export async function countedGateway(server: TestServer, unique: (name: string) => string): Promise<CountedGateway> {
  let calls: Call[] = [];
  const temporal = await connect(server.config, [noting((call) => calls.push(call))]);
  const gateway = await startGateway(server.config, { temporal });
  const admin = { authorization: `Bearer ${server.config.adminKey ?? ''}` };

  const send = async (method: string, path: string, headers: object, json: Json): Promise<{ executionId: string }> => {
    const answer = await fetch(`${gateway.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(json),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { executionId: string };
  };

  /** Resolves once the gateway has read the new key. */
  async function known(headers: { readonly authorization: string }): Promise<void> {
    for (const deadline = Date.now() + KNOWN_MS; Date.now() < deadline; ) {
      const answer = await fetch(`${gateway.url}/api/limits`, { headers });
      await answer.text();
      if (answer.ok) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('The gateway does not know its new key.');
  }

  async function store({ definitions, organizations, limit }: Layout): Promise<Address[]> {
    const all = await eachConcurrently([...Array(organizations).keys()], async () => {
      const organization = unique('scale');
      const made = await send('POST', '/api/keys', admin, { name: 'bench', role: 'admin', organization });
      const headers = { authorization: `Bearer ${(made as unknown as { key: string }).key}` };
      await known(headers);
      if (limit > 0) await send('PUT', '/api/limits/organization', headers, { limit, overflow: 'queue' });
      return eachConcurrently([...Array(definitions).keys()], async (): Promise<Address> => {
        const [slug, path] = [unique('scale'), unique('scale')];
        const triggers = [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }];
        await send('PUT', `/api/workflows/${slug}`, headers, { name: slug, slug, triggers, steps: STEPS });
        return { slug, path: `/webhooks/${organization}/${path}`, headers };
      });
    });
    return all.flat();
  }

  function start(kind: Kind, { slug, path, headers }: Address, n: number): Promise<{ executionId: string }> {
    if (kind === 'webhook') return send('POST', path, {}, { n });
    const key = kind === 'keyed' ? { 'idempotency-key': unique('key') } : {};
    return send('POST', '/api/triggers/manual/run', { ...headers, ...key }, { workflowId: slug, input: { n } });
  }

  async function cost(layout: Layout, starts: number): Promise<StartCost> {
    const { client } = server;
    // What was measured before must not be counted here.
    await quiet(() => calls.length);
    const addresses = await store(layout);
    const ended = async (ids: readonly string[]): Promise<void> => {
      await eachConcurrently(ids, (id) => client.workflow.getHandle(id).result());
    };
    // The first start of each definition, and of each limiter, costs more.
    const first = await eachConcurrently(addresses, (address) => start(layout.kind, address, -1));
    await ended(first.map(({ executionId }) => executionId));
    const before = await writesOfActors(client, server.taskQueue);
    const ids: string[] = [];
    const begun = performance.now();
    calls = [];
    await runConcurrently(starts, AT_ONCE, async (n) => {
      ids.push((await start(layout.kind, addresses[n % addresses.length]!, n)).executionId);
    });
    await ended(ids);
    // Readings in regular use are refreshed later, too.
    const made = calls;
    calls = [];
    const seconds = (performance.now() - begun) / 1_000;
    const callsOf = new Map<string, number>();
    for (const { workflowId } of made)
      if (workflowId !== undefined && !workflowId.startsWith('run.'))
        callsOf.set(workflowId, (callsOf.get(workflowId) ?? 0) + 1);
    const after = await writesOfActors(client, server.taskQueue, [...callsOf.keys()]);
    const written = [...after].map(([id, writes]) => ({ id, writes: writes - (before.get(id) ?? 0) }));
    written.sort((a, b) => b.writes - a.writes);
    const [busiest] = written;
    const sample = await eachConcurrently(ids.slice(0, SAMPLE), (id) => writesOf(client, id));
    const [called] = [...callsOf].sort(([, a], [, b]) => b - a);
    return {
      ...layout,
      starts,
      seconds,
      calls: made.length / starts,
      runWrites: sum(sample) / sample.length,
      actorWrites: sum(written.map(({ writes }) => writes)) / starts,
      busiestWrites: (busiest?.writes ?? 0) / starts,
      ...(busiest === undefined || busiest.writes === 0 ? {} : { busiest: busiest.id }),
      mostCalls: called?.[1] ?? 0,
      ...(called === undefined ? {} : { mostCalled: called[0] }),
    };
  }

  return {
    cost,
    close: async () => {
      await gateway.close();
      await temporal.close();
    },
  };
}

/** Three steps that need nothing from outside. */
const STEPS: Json = {
  one: { stepType: 'set', config: { values: { a: '{{ input.n }}' } }, nextSteps: { success: 'two' } },
  two: { stepType: 'set', config: { values: { b: '{{ a }}' } }, nextSteps: { success: 'end' } },
  end: { stepType: 'finish', config: { output: '{{ b }}' } },
};

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/** Writes of the actors that are open, and of `others`, by id. Lists lag, so they are asked until two agree. */
async function writesOfActors(
  client: Client,
  taskQueue: string,
  others: readonly string[] = [],
): Promise<Map<string, number>> {
  const query = `${workflowsOf(taskQueue)} AND TemporalNamespaceDivision = 'signalbox' AND ExecutionStatus = 'Running'`;
  const list = async (): Promise<Set<string>> => {
    const ids = new Set(others);
    for await (const { workflowId } of client.workflow.list({ query })) ids.add(workflowId);
    return ids;
  };
  let ids = await list();
  for (let before = -1; ids.size !== before; ) {
    before = ids.size;
    await new Promise((resolve) => setTimeout(resolve, 500));
    ids = await list();
  }
  return new Map(await eachConcurrently([...ids], async (id) => [id, await writesOf(client, id)] as const));
}

const { EventType } = proto.temporal.api.enums.v1;
/** Events that begin what the server commits together. The others are commands of a task that ends. */
const BEGINNINGS: ReadonlySet<number> = new Set([
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
  EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
  EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT,
  EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
  EventType.EVENT_TYPE_TIMER_FIRED,
]);

/**
 * How often the server has written the history: for an event from outside, for a task that begins, and for a task that
 * ends, with its commands.
 */
async function writesOf(client: Client, id: string): Promise<number> {
  const { events } = await client.workflow
    .getHandle(id)
    .fetchHistory()
    .catch((error: unknown) => {
      // The gateway has looked for it, and it does not exist.
      if ((error as { code?: number }).code === GRPC.NOT_FOUND) return { events: [] };
      throw error;
    });
  return (events ?? []).filter(({ eventType }) => BEGINNINGS.has(eventType ?? 0)).length;
}
