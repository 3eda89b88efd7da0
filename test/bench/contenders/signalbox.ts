/** Signalbox as `npm start` runs it, driven through its gateway. The effect is an action of the host. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../src/cli/start/project-root.ts';
import type { Definition, StepDefinition } from '../../../src/definition/document/types.ts';
import { omitUndefined } from '../../../src/json/omit-undefined.ts';
import { dataFolder, startStack } from '../../support/stack.ts';
import { type Contender, post } from './contender.ts';

const ACTIONS = `import { defineAction } from 'signalbox/action';
import { z } from 'zod';
const of = (type, light) => defineAction({
  type, light, summary: 'Does nothing.', input: z.object({}), output: z.number(), run: () => 1,
});
export const regular = of('bench.regular', false);
export const light = of('bench.light', true);
`;

/** Two contenders on one stack: the action is light, or not. */
export async function signalbox(
  temporalAddress: string,
  serverPids: readonly number[],
): Promise<{ readonly regular: Contender; readonly light: Contender; stop(): Promise<void> }> {
  const data = dataFolder();
  const actions = join(data.path, 'actions');
  mkdirSync(join(data.path, 'node_modules'));
  mkdirSync(actions);
  symlinkSync(projectRoot(), join(data.path, 'node_modules/signalbox'));
  symlinkSync(join(projectRoot(), 'node_modules/zod'), join(data.path, 'node_modules/zod'));
  writeFileSync(join(actions, 'bench.mjs'), ACTIONS);
  const stack = await startStack(data.path, {
    SIGNALBOX_ACTIONS: actions,
    SIGNALBOX_TASK_QUEUE: 'bench-signalbox',
    TEMPORAL_ADDRESS: temporalAddress,
  });
  const url = stack.note.gateway?.url ?? '';
  const contender = async (name: string, type: string, worker?: number): Promise<Contender> => {
    const step: StepDefinition = { stepType: 'action', config: { type, parameters: {} } };
    const known = new Set<string>();
    const store = async (slug: string, steps: Definition['steps']): Promise<string> => {
      if (known.has(slug)) return slug;
      const answer = await fetch(`${url}/api/workflows/${slug}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: slug, slug, steps }),
      });
      if (!answer.ok) throw new Error(await answer.text());
      known.add(slug);
      return slug;
    };
    const kind = type.replace('.', '-');
    const start = async (slug: string, wait = 0): Promise<{ readonly executionId: string; readonly status: string }> =>
      (await post(`${url}/api/triggers/manual/run?wait=${wait}`, { workflowId: slug, input: {} })) as never;
    const result = async (id: string): Promise<void> => {
      for (;;) {
        const answer = await fetch(`${url}/api/executions/${id}/result?wait=30`);
        const body = (await answer.json()) as { status: string };
        if (body.status === 'completed') return;
        if (answer.status !== 202) throw new Error(JSON.stringify(body));
      }
    };
    return {
      name,
      settings: 'Temporal dev server with SQLite (WAL, synchronous=NORMAL); a gateway and a worker',
      sequence: async (count) => {
        const slug = await store(`${kind}-${count}`, count > MAX_STEPS ? loop(count, step) : chain(count, step));
        const { executionId, status } = await start(slug, 30);
        if (status !== 'completed') await result(executionId);
      },
      park: async () => {
        const slug = await store(`${kind}-approval`, {
          ask: { stepType: 'approval', config: { message: 'Go on?' }, nextSteps: { approved: 'go' } },
          go: step,
        });
        return (await start(slug)).executionId;
      },
      approve: async (id) => {
        const answer = await post(`${url}/api/executions/${id}/approve?wait=30`, { approve: true });
        if ((answer as { result?: { status: string } }).result?.status !== 'completed') await result(id);
      },
      signal: async (id) => {
        const handle = stack.client.workflow.getHandle(id);
        await handle.signal('approve', {});
        await handle.result();
      },
      processes: [stack.child.pid ?? 0, ...serverPids],
      ...omitUndefined({ worker }),
      stop: async () => undefined,
    };
  };
  return {
    regular: await contender('Signalbox', 'bench.regular', stack.note.worker?.pid),
    light: await contender('Signalbox, light steps', 'bench.light'),
    stop: async () => {
      await stack.end('SIGTERM');
      data.remove();
    },
  };
}

/** Longer sequences are loops, as people would write them. */
const MAX_STEPS = 100;

function chain(count: number, step: StepDefinition): Definition['steps'] {
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `s${n}`,
      n + 1 < count ? { ...step, nextSteps: { success: `s${n + 1}` } } : step,
    ]),
  );
}

function loop(count: number, step: StepDefinition): Definition['steps'] {
  return {
    each: {
      stepType: 'loop',
      config: { while: `loop.index < ${count}`, maxIterations: count + 1 },
      nextSteps: { loop: 'call' },
    },
    call: { ...step, nextSteps: { success: 'each' } },
  };
}
