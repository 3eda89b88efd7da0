import { z } from 'zod';
import type { ActionTool } from '../activities/agent-tools.ts';
import type { JsonObject } from '../src/definition/types.ts';
import { actionTypes } from '../src/steps/actions.ts';

/** The host's actions as models are told of them. */
export function actionTools(): ActionTool[] {
  return actionTypes.map(({ type, summary, schema }) => {
    const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(schema(), { io: 'input', unrepresentable: 'any' });
    return { type, description: summary, inputSchema: inputSchema as JsonObject };
  });
}
