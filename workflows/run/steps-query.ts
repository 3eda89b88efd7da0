/** The query `steps`: the steps in the state. The trace has more, since the state drops outputs without references. */
import type { RunState } from '../../src/engine/state/state.ts';
import { asJson, type Json } from '../../src/json/json.ts';

/**
 * `[{stepSlug, stepType, frame, status, output}]` for outputs, then `[{path, stepSlug, frame, status, startedAt}]` for
 * open visits: `waiting` for a person, a message or the clock, else `running`. `frame` is its id; the root's is empty.
 */
export function stepsOf(state: RunState): Json {
  const ended: Json[] = [];
  const open: Json[] = [];
  for (const [frame, { entries, visit }] of Object.entries(state.frames)) {
    for (const [stepSlug, { stepType, output }] of Object.entries(entries)) {
      ended.push({ stepSlug, stepType, frame, status: 'completed', output: asJson(output) });
    }
    if (visit !== undefined) {
      open.push({
        path: visit.path,
        stepSlug: visit.slug,
        frame,
        status: visit.waiting === undefined ? 'running' : 'waiting',
        startedAt: new Date(visit.startedAt).toISOString(),
      });
    }
  }
  return [...ended, ...open];
}
