/** The tools that an agent offers its model. */

import { z } from 'zod';
import { type AgentCall, namesOfCall, type OfferedTools, type OfferedWorkflow } from '../../../contract/run/agent.ts';
import { isObject, type Json, type JsonObject } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { isAbsent, list, names, optionalText, text } from '../../config/read.ts';
import { nameList, templated, textTemplate } from '../../config/schema.ts';
import type { Parse, StepContext } from '../../kind.ts';
import { actionOf } from '../built-in-actions.ts';

/** Members of the config's schema. */
export function toolsSchema(): z.ZodRawShape {
  const workflow = z.strictObject({
    workflow: textTemplate().describe('The slug of the workflow.'),
    version: textTemplate().optional().describe('Its hash or version. Default: the current one.'),
    name: textTemplate().optional().describe('The name that the model sees. Default: the slug.'),
    description: textTemplate().optional().describe("The description that the model sees. Default: the definition's."),
  });
  return {
    mcpServerIds: nameList().optional().describe('MCP servers whose tools are offered.'),
    tools: templated(z.array(z.union([z.string().min(1), z.looseObject({ name: z.string().min(1) })])))
      .optional()
      .describe("Of their tools only these: 'tool' or 'server/tool'; the name of an action offers that action."),
    actions: nameList().optional().describe('Actions of the host that are offered.'),
    workflows: z
      .union([nameList(), z.array(z.union([textTemplate(), workflow]))])
      .optional()
      .describe('Workflows that are offered; each call is a run of its own.'),
  };
}

export function planTools(config: JsonObject, parse: Parse): (visit: StepContext) => OfferedTools {
  const template = (member: string) => parse.template(config[member], `/${member}`);
  const [mcpServerIds, tools] = [template('mcpServerIds'), template('tools')];
  const [actions, workflows] = [template('actions'), template('workflows')];
  return (visit) => {
    const named = toolNames(visit.render(tools));
    const namedActions = named?.filter((name) => actionOf(name) !== undefined) ?? [];
    const namedTools = named?.filter((name) => actionOf(name) === undefined);
    const servers = serversOf(visit.render(mcpServerIds), namedTools);
    return {
      ...omitUndefined({ servers }),
      ...(namedTools === undefined || namedTools.length === 0 ? {} : { only: namedTools }),
      actions: [
        ...new Set(
          [...names(visit.render(actions), 'actions'), ...namedActions].map((name) => actionOf(name)?.type ?? name),
        ),
      ],
      workflows: workflowsOf(visit.render(workflows)),
    };
  };
}

/**
 * Whether a name matches the call: a tool, 'server/tool', a workflow, or an action by any of its names.
 */
export function isNamed(call: AgentCall, written: readonly Json[]): boolean {
  const callNames = namesOfCall(call);
  return written.some(
    (name) =>
      typeof name === 'string' && (callNames.includes(name) || callNames.includes(actionOf(name)?.type ?? name)),
  );
}

/** The named servers, else the servers of the named tools; undefined (all servers) where a tool names none. */
function serversOf(written: Json, only: readonly string[] | undefined): string[] | undefined {
  const servers = names(written, 'mcpServerIds');
  if (servers.length > 0) return servers;
  const nameParts = (only ?? []).map((name) => name.split('/'));
  if (nameParts.some(({ length }) => length === 1)) return undefined;
  return [...new Set(nameParts.map(([server]) => server!))];
}

function toolNames(written: Json): string[] | undefined {
  if (isAbsent(written)) return undefined;
  return list(written, 'tools').map((entry, i) => text(isObject(entry) ? entry['name'] : entry, `tools[${i}]`));
}

function workflowsOf(written: Json): OfferedWorkflow[] {
  if (isAbsent(written)) return [];
  return (Array.isArray(written) ? written : [written]).map((entry, i) => {
    if (!isObject(entry)) return { workflow: text(entry, `workflows[${i}]`) };
    const version = optionalText(entry['version'], `workflows[${i}].version`);
    const name = optionalText(entry['name'], `workflows[${i}].name`);
    const description = optionalText(entry['description'], `workflows[${i}].description`);
    return {
      workflow: text(entry['workflow'], `workflows[${i}].workflow`),
      ...omitUndefined({ version, name, description }),
    };
  });
}
