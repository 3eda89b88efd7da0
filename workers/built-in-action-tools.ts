import { actionTool } from '../activities/agent/action-tools.ts';
import type { ActionTool } from '../activities/agent/agent-tools.ts';
import { actionTypes } from '../src/steps/kinds/actions.ts';

/** The built-in actions as tools of agents. */
export function builtInActionTools(): ActionTool[] {
  return actionTypes.map(({ type, summary, schema }) => actionTool(type, summary, schema()));
}
