/** Checks tools of MCP servers, as far as they are known: that they exist, and that their input matches the schema. */

import type { McpTool } from '../contract/organization/mcp.ts';
import { didYouMean } from '../definition/document/names.ts';
import { validatePayload } from '../definition/payload/format.ts';
import { isObject, type Json } from '../json/json.ts';
import { childPointer } from '../json/pointer.ts';
import type { Needs } from '../steps/kind.ts';
import { type Analysis, type Findings, problem } from './analysis.ts';

/** The organization's servers by name; undefined for a server whose tools have not been listed. */
export type KnownTools = ReadonlyMap<string, readonly McpTool[] | undefined>;

export function checkTools({ steps }: Analysis, known: KnownTools | undefined, findings: Findings): void {
  if (known === undefined) return;
  for (const { at, kind, written } of steps.values()) {
    if (written.preset !== undefined) continue;
    const { mcpServers, mcpTool } = kind?.needs?.(written.config ?? {}) ?? {};
    if (mcpServers !== undefined) checkServers(mcpServers.names, `${at}/config${mcpServers.at}`, known, findings);
    if (mcpTool !== undefined) checkToolCall(mcpTool, `${at}/config`, known, findings);
  }
}

function checkToolCall(
  { server, tool: toolName, input }: NonNullable<Needs['mcpTool']>,
  at: string,
  known: KnownTools,
  findings: Findings,
): void {
  if (!isConstant(toolName)) return;
  const callable = callableTools(server, known);
  if (callable === undefined) return;
  const named = callable.filter(({ name }) => name === toolName);
  const [tool, ...others] = named;
  if (tool === undefined) {
    const hint = didYouMean(
      toolName,
      callable.map(({ name }) => name),
    );
    const message = `There is no tool "${toolName.slice(0, 80)}" on the MCP servers of this step.`;
    findings.problems.add(`${at}/toolName`, 'unknown_tool', message, hint);
  } else if (others.length === 0) findings.problems.push(...inputProblems(tool, input, `${at}/input`));
}

/** The tools that the step can call; undefined if not all of them are known. */
function callableTools(server: Json | undefined, known: KnownTools): McpTool[] | undefined {
  if (server !== undefined) return isConstant(server) ? known.get(server)?.slice() : undefined;
  const lists = [...known.values()];
  return lists.some((list) => list === undefined) ? undefined : lists.flatMap((list) => list ?? []);
}

/** The problems of the input that no value of its templates can mend. */
function inputProblems({ name, inputSchema }: McpTool, input: Json, at: string) {
  const templatePointers: string[] = [];
  if (!isObject(input) || !collectTemplatePointers(input, '', templatePointers)) return [];
  return validatePayload(inputSchema, input)
    .filter(({ pointer }) => !templatePointers.some((place) => pointer === place || pointer.startsWith(`${place}/`)))
    .map(({ pointer, message }) =>
      problem(
        `${at}${pointer}`,
        'invalid_config',
        `The input does not match the schema of the tool ${name}: ${message}`,
      ),
    );
}

/** Collects the pointers of templates. False if a template produces keys, so that the object is not known. */
function collectTemplatePointers(value: Json, at: string, templatePointers: string[]): boolean {
  if (typeof value === 'string') {
    if (!isConstant(value)) templatePointers.push(at);
    return true;
  }
  if (Array.isArray(value))
    return value.every((item, i) => collectTemplatePointers(item, childPointer(at, i), templatePointers));
  if (!isObject(value)) return true;
  return Object.entries(value).every(
    ([key, member]) => isConstant(key) && collectTemplatePointers(member, childPointer(at, key), templatePointers),
  );
}

/** Warns only: a server may be stored after the definitions that use it. */
function checkServers(written: Json | undefined, at: string, known: KnownTools, { warnings }: Findings): void {
  for (const [i, name] of (Array.isArray(written) ? written : [written]).entries()) {
    if (!isConstant(name) || known.has(name)) continue;
    const place = Array.isArray(written) ? childPointer(at, i) : at;
    const message = `There is no MCP server "${name.slice(0, 80)}".`;
    const hint = didYouMean(name, [...known.keys()]) ?? 'Store it with PUT /api/mcp-servers/NAME.';
    warnings.add(place, 'unknown_server', message, hint);
  }
}

function isConstant(value: Json | undefined): value is string {
  return typeof value === 'string' && !value.includes('{{');
}
