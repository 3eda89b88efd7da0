/** Actions as tools of agents. */
import { z } from 'zod';
import type { HostActions } from '../../src/actions/load.ts';
import type { JsonObject } from '../../src/json/json.ts';
import type { ActionTool } from './agent-tools.ts';

const ANY_INPUT: JsonObject = { type: 'object', properties: {} };

/** A schema that has no JSON Schema becomes any object; the action validates its input. */
export function actionTool(type: string, description: string, input: z.ZodType): ActionTool {
  try {
    const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
    return { type, description, inputSchema: inputSchema as JsonObject };
  } catch {
    return { type, description, inputSchema: ANY_INPUT };
  }
}

export function hostActionTools(actions: HostActions): ActionTool[] {
  return [...actions.values()].map(({ type, summary, description, input }) =>
    actionTool(type, description === undefined ? summary : `${summary}\n\n${description}`, input),
  );
}
