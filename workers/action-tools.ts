import { actionTool } from '../activities/action-tools.ts';
import type { ActionTool } from '../activities/agent-tools.ts';
import { actionTypes } from '../src/steps/kinds/actions.ts';

/** The actions that every host offers, as models are told of them. */
export function actionTools(): ActionTool[] {
  return actionTypes.map(({ type, summary, schema }) => actionTool(type, summary, schema()));
}
