/** Host actions that reveal everything they were given: by their result, their errors, their heartbeats. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../../src/cli/start/project-root.ts';

const SOURCE = `import { ActionFailure, defineAction } from 'signalbox/action';
import { z } from 'zod';

const parameters = { url: z.string(), k: z.string(), deep: z.array(z.string()) };
/** Posts what it was given; the first attempt is refused. */
const tell = async ({ url, ...told }, { idempotencyKey, heartbeat }) => {
  heartbeat({ told });
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'idempotency-key': idempotencyKey },
    body: JSON.stringify(told),
  });
  const text = await answer.text();
  if (!answer.ok) throw new ActionFailure('not_yet', 'Refused: ' + text, { retryable: true, details: { told, text } });
  return { told, text, [told.k]: encodeURIComponent(told.k) };
};
const common = { input: z.object(parameters), output: z.unknown(), run: tell };
export const tells = defineAction({ type: 'canary.tells', ...common });
export const light = defineAction({ type: 'canary.light', light: true, ...common });
export const throws = defineAction({
  type: 'canary.throws',
  input: z.object({ k: z.string() }),
  output: z.null(),
  run: ({ k }) => {
    throw Object.assign(new TypeError('No ' + k, { cause: new Error(k) }), { k });
  },
});
export const breaks = defineAction({
  type: 'canary.breaks',
  input: z.object({ k: z.string() }),
  output: z.object({ n: z.literal(1) }),
  run: ({ k }) => ({ n: k, [k]: k }),
});
export const narrow = defineAction({
  type: 'canary.narrow',
  input: z.strictObject({
    k: z.string().refine((k) => k === 'x', { error: ({ input }) => 'Not ' + input }),
  }),
  output: z.null(),
  run: () => null,
});
`;

/** A folder for SIGNALBOX_ACTIONS, as a developer's project has one. */
export function canaryActions(): { readonly path: string; remove(): void } {
  const project = mkdtempSync(join(tmpdir(), 'signalbox-canary-'));
  const path = join(project, 'actions');
  mkdirSync(path);
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(projectRoot(), join(project, 'node_modules/signalbox'));
  symlinkSync(join(projectRoot(), 'node_modules/zod'), join(project, 'node_modules/zod'));
  writeFileSync(join(path, 'canary.mjs'), SOURCE);
  return { path, remove: () => rmSync(project, { recursive: true, force: true }) };
}
