/** Converts a step of agent-ops to its canonical kind. Some messages are those of that product's compiler. */

import { didYouMean } from '../../definition/document/names.ts';
import {
  type ImportContext,
  type MemberTypes,
  memberNames,
  renameMembers,
} from '../../definition/import/import-context.ts';
import { importRetry, retryOrigins } from '../../definition/import/retry.ts';
import { isObject, type Json, type JsonObject, typeName } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { childPointer } from '../../json/pointer.ts';
import type { AgentOpsNames } from './variable-names.ts';

const TYPES = [
  'agent',
  'agent_message',
  'tool',
  'bash',
  'conditional',
  'loop',
  'parallel',
  'subworkflow',
  'approval',
] as const;
type Type = (typeof TYPES)[number];

const COMMON_MEMBERS = memberNames('id type name description outputVariable retry timeoutMs onError then else steps');
const OWN_MEMBERS: { readonly [type in Type]: readonly string[] } = {
  agent: ['content', 'message', 'goal', 'model', 'systemPrompt', 'tools', 'maxSteps', 'outputSchema'],
  agent_message: ['content', 'message', 'goal', 'to', 'interrupt', 'await_response', 'await_timeout_ms'],
  tool: ['tool', 'arguments', 'server'],
  bash: ['command', 'cwd', 'env', 'timeout'],
  conditional: ['condition'],
  loop: ['items', 'over', 'while', 'until', 'maxIterations', 'batchSize'],
  parallel: [],
  subworkflow: ['workflow', 'workflowId', 'workflow_id', 'slug', 'version', 'input', 'variables', 'arguments', 'wait'],
  approval: ['prompt', 'message', 'approvers', 'timeout', 'defaultAction', 'summary'],
};
const STEP_LISTS: { readonly [type in Type]?: readonly string[] } = {
  conditional: ['then', 'else'],
  parallel: ['steps'],
  loop: ['steps'],
};

interface Converted {
  readonly type: string;
  readonly step: JsonObject;
  /** The port by which the step continues. */
  readonly port: string;
  /** Members that hold lists of steps. */
  readonly lists: readonly string[];
}

/** The types of members whose other types would be lost, or that databases hold as JSON texts. */
const STEP_TYPES: MemberTypes = { retry: 'object', while: 'string', until: 'string' };

export function agentOpsStep(
  given: JsonObject,
  slug: string,
  at: string,
  context: ImportContext,
  names: AgentOpsNames,
): Converted {
  const written = context.withTypes(given, at, STEP_TYPES);
  const writtenType = typeof written['type'] === 'string' ? written['type'].trim() : '';
  const type = TYPES.find((one) => one === writtenType);
  const base: JsonObject = {};
  context.mapOrigins(slug, at, [
    ['/config', ''],
    ['/stepType', '/type'],
    ['/nextSteps', ''],
    ['/timeout', '/timeoutMs'],
    ...retryOrigins(isObject(written['retry']) ? written['retry'] : {}, '/retry', '/retry'),
  ]);
  if (type !== undefined) context.mapOrigins(slug, at, memberOrigins(written, type));
  for (const member of ['name', 'description', 'outputVariable', 'onError'] as const) {
    const value = written[member];
    if (value !== undefined && value !== null) base[member] = value;
  }
  if (isObject(written['retry'])) base['retry'] = importRetry(written['retry'], childPointer(at, 'retry'), context);
  if (type === undefined) {
    const message =
      writtenType === ''
        ? 'Step type is required.'
        : `Unknown step type "${writtenType.slice(0, 80)}". Valid types: ${TYPES.join(', ')}.`;
    context.addProblem(
      childPointer(at, 'type'),
      writtenType === '' ? 'missing_member' : 'unknown_kind',
      message,
      didYouMean(writtenType, TYPES),
    );
    return {
      type: writtenType,
      step: { ...base, stepType: 'removed', config: { replaces: writtenType === '' ? 'nothing' : writtenType } },
      port: 'success',
      lists: ['then', 'else', 'steps'],
    };
  }
  context.warnUnknownMembers(written, at, new Set([...COMMON_MEMBERS, ...OWN_MEMBERS[type]]));
  const { stepType, config, port = 'success' } = kinds[type](written, at, context, names);
  const rendered = type === 'conditional' || type === 'loop' ? config : names.templates(config);
  const { timeoutMs } = written;
  if (timeoutMs !== undefined && EFFECTS.has(type)) base['timeout'] = timeoutMs;
  else if (timeoutMs !== undefined && !TIMEOUT_IN_CONFIG.has(type))
    context.warnDropped(
      childPointer(at, 'timeoutMs'),
      `A step of type ${type} has no timeout of an attempt; timeoutMs is left out.`,
    );
  return {
    type,
    step: {
      ...base,
      stepType,
      ...(isObject(rendered) && Object.keys(rendered).length > 0 ? { config: rendered } : {}),
    },
    port,
    lists: STEP_LISTS[type] ?? [],
  };
}

/** The members of a config by their canonical names. Of several spellings the first one is taken. */
const ALTERNATIVE_SPELLINGS: { readonly [type in Type]: { readonly [canonical: string]: readonly string[] } } = {
  agent: { userPrompt: ['content', 'message', 'goal'] },
  agent_message: { content: ['content', 'message', 'goal'] },
  tool: { toolName: ['tool'], input: ['arguments'] },
  bash: { timeoutMs: ['timeoutMs', 'timeout'] },
  conditional: { expression: ['condition'], variable: ['condition'], equals: ['condition'] },
  loop: { items: ['items', 'over'] },
  parallel: {},
  subworkflow: {
    workflow: ['workflow', 'workflowId', 'workflow_id', 'slug'],
    input: ['input', 'variables', 'arguments'],
  },
  approval: { message: ['prompt', 'message', 'summary', 'name'], timeout: ['timeout', 'timeoutMs'] },
};

function* memberOrigins(written: JsonObject, type: Type): Iterable<readonly [string, string]> {
  if (type === 'tool' && String(written['tool']).trim() === 'bash') {
    yield ['/config', '/arguments'];
    return;
  }
  for (const [canonical, spellings] of Object.entries(ALTERNATIVE_SPELLINGS[type])) {
    const spelling = spellings.find((member) => written[member] !== undefined);
    if (spelling !== undefined) yield [`/config/${canonical}`, `/${spelling}`];
  }
  const { condition } = written;
  if (type !== 'conditional' || !isObject(condition)) return;
  const isPath = condition['equals'] === undefined;
  yield [isPath ? '/config/expression' : '/config/variable', '/condition/variable'];
  yield ['/config/equals', '/condition/equals'];
}

const BASH: ReadonlySet<string> = new Set(['command', 'cwd', 'env', 'timeout', 'timeoutMs']);
const EFFECTS: ReadonlySet<string> = new Set(['agent', 'agent_message', 'tool', 'subworkflow']);
/** Types whose timeoutMs is part of the config. */
const TIMEOUT_IN_CONFIG: ReadonlySet<string> = new Set(['bash', 'approval']);

interface Kind {
  readonly stepType: string;
  readonly config: JsonObject;
  readonly port?: string;
}
type Convert = (written: JsonObject, at: string, context: ImportContext, names: AgentOpsNames) => Kind;

const kinds: { readonly [type in Type]: Convert } = {
  agent(written, at, context) {
    const content = contentOf(written, at, context, 'agent');
    return {
      stepType: 'agent',
      config: {
        ...content,
        ...renameMembers(written, {
          model: 'model',
          systemPrompt: 'systemPrompt',
          tools: 'tools',
          maxSteps: 'maxSteps',
          outputSchema: 'outputSchema',
        }),
      },
    };
  },
  agent_message(written, at, context) {
    const { userPrompt } = contentOf(written, at, context, 'agent_message');
    const config: JsonObject = {
      ...omitUndefined({ content: userPrompt }),
      ...renameMembers(written, { to: 'to' }),
    };
    for (const member of ['interrupt', 'await_response'] as const) {
      const value = written[member];
      if (value === undefined) continue;
      if (typeof value === 'boolean') config[member] = value;
      else
        context.addProblem(
          childPointer(at, member),
          'wrong_type',
          `agent_message.${member} must be a boolean, got ${typeName(value)}.`,
        );
    }
    const wait = written['await_timeout_ms'];
    if (typeof wait === 'number' && wait >= 1000) config['await_timeout_ms'] = wait;
    else if (wait !== undefined)
      context.addProblem(
        childPointer(at, 'await_timeout_ms'),
        'invalid_value',
        'agent_message.await_timeout_ms must be a number >= 1000.',
      );
    return { stepType: 'agent_message', config };
  },
  tool(written, at, context) {
    const { tool, server } = written;
    const input = context.readJsonText(written['arguments'] ?? null, childPointer(at, 'arguments'));
    if (typeof tool !== 'string' || tool.trim() === '') {
      context.addProblem(
        childPointer(at, 'tool'),
        'missing_member',
        'tool step requires a "tool" field (string).',
        'For bash commands, prefer type: "bash" with a "command" field instead.',
      );
      return { stepType: 'removed', config: { replaces: 'tool' } };
    }
    if (tool.trim() === 'bash') {
      const held = context.withTypes(written, at, { arguments: 'object' })['arguments'];
      const given = isObject(held) ? held : {};
      context.warnUnknownMembers(given, childPointer(at, 'arguments'), BASH);
      return bash(given, childPointer(at, 'arguments'), context);
    }
    return {
      stepType: 'tool',
      config: {
        toolName: tool.trim(),
        ...omitUndefined({ server }),
        ...(input === null ? {} : { input }),
      },
    };
  },
  bash: (written, at, context) => bash(written, at, context),
  conditional: (written, at, context, names) => ({
    stepType: 'condition',
    config: conditionOf(written['condition'], childPointer(at, 'condition'), context, names),
  }),
  parallel: () => ({ stepType: 'parallel', config: {} }),
  loop(written, at, context, names) {
    const config: JsonObject = renameMembers(written, { maxIterations: 'maxIterations', batchSize: 'batchSize' });
    const items = context.firstSpelling(written, at, ['items', 'over']);
    if (items !== undefined)
      config['items'] = names.templates(typeof items === 'string' && !items.includes('{{') ? `{{ ${items} }}` : items);
    for (const member of ['while', 'until'] as const) {
      const value = written[member];
      if (typeof value === 'string') config[member] = names.expression(value);
    }
    if (items === undefined && config['while'] === undefined && config['until'] === undefined) {
      context.warnDropped(
        at,
        'This loop has no items and no condition. Like the original product, the run skips it.',
        'Add items, while or until.',
      );
      return { stepType: 'removed', config: { replaces: 'loop' } };
    }
    return { stepType: 'loop', config };
  },
  subworkflow(written, at, context) {
    const workflow = context.firstSpelling(written, at, ALTERNATIVE_SPELLINGS.subworkflow['workflow'] ?? []);
    if (workflow === undefined) {
      context.warnDropped(
        at,
        'This subworkflow names no workflow. Like the original product, the run skips it.',
        'Add workflow.',
      );
      return { stepType: 'removed', config: { replaces: 'subworkflow' } };
    }
    const input = context.firstSpelling(written, at, ALTERNATIVE_SPELLINGS.subworkflow['input'] ?? []);
    return {
      stepType: 'run_workflow',
      config: {
        workflow,
        ...renameMembers(written, { version: 'version', wait: 'wait' }),
        ...omitUndefined({ input }),
      },
    };
  },
  approval(written, at, context) {
    const message =
      context.firstSpelling(written, at, ['prompt', 'message', 'summary']) ?? written['name'] ?? 'Approve?';
    const config: JsonObject = { message, onReject: 'cancel', ...renameMembers(written, { approvers: 'approvers' }) };
    const timeout = context.firstSpelling(written, at, ['timeout', 'timeoutMs']);
    if (timeout !== undefined) config['timeout'] = timeout;
    const fallback = written['defaultAction'];
    if (fallback === 'approve' || fallback === 'approved') config['onTimeout'] = 'approved';
    else if (fallback === 'deny' || fallback === 'denied' || fallback === 'reject') config['onTimeout'] = 'rejected';
    else if (fallback !== undefined)
      context.warnDropped(
        childPointer(at, 'defaultAction'),
        'Expected approve or deny; the default action is left out.',
      );
    return { stepType: 'approval', config, port: 'approved' };
  },
};

function contentOf(written: JsonObject, at: string, context: ImportContext, type: string): JsonObject {
  const given = context.withTypes(written, at, { content: 'string', message: 'string', goal: 'string' });
  const nonBlank = Object.entries(given).filter(([, value]) => typeof value !== 'string' || value.trim() !== '');
  const content = context.firstSpelling(
    Object.fromEntries(nonBlank),
    at,
    ALTERNATIVE_SPELLINGS.agent['userPrompt'] ?? [],
  );
  if (content === undefined) {
    context.addProblem(at, 'missing_member', `${type} step requires content (content, message, or goal).`);
    return {};
  }
  return { userPrompt: content };
}

function bash(written: JsonObject, at: string, context: ImportContext): Kind {
  const { command } = written;
  if (typeof command !== 'string' || command.trim() === '') {
    context.addProblem(
      childPointer(at, 'command'),
      'missing_member',
      'bash step requires a "command" field (string).',
      'Example: { "type": "bash", "command": "echo hello" }.',
    );
    return { stepType: 'removed', config: { replaces: 'bash' } };
  }
  const timeoutMs = context.firstSpelling(written, at, ['timeoutMs', 'timeout']);
  return {
    stepType: 'bash',
    config: {
      command,
      ...renameMembers(written, { cwd: 'cwd', env: 'env' }),
      ...omitUndefined({ timeoutMs }),
    },
  };
}

/** `{variable, equals}`, an expression, or a constant. */
function conditionOf(
  condition: Json | undefined,
  at: string,
  context: ImportContext,
  names: AgentOpsNames,
): JsonObject {
  if (typeof condition === 'boolean') return { expression: String(condition) };
  if (typeof condition === 'string' && condition.trim() !== '') return { expression: names.expression(condition) };
  if (isObject(condition) && typeof condition['variable'] === 'string') {
    const { variable, equals, ...rest } = condition;
    context.warnUnknownMembers(rest, at, new Set());
    const path = names.path(variable);
    return equals === undefined ? { expression: path } : { variable: path, equals: names.templates(equals) };
  }
  if (condition === undefined || condition === null) {
    context.addWarning(
      at,
      'missing_member',
      'This step has no condition, and always takes else.',
      'Write {variable, equals} or an expression.',
    );
    return { expression: 'false' };
  }
  context.addProblem(at, 'invalid_config', `Expected {variable, equals} or an expression, got ${typeName(condition)}.`);
  return { expression: 'false' };
}
