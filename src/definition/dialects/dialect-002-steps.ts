/** Converts a step of agent-ops to its canonical kind. Some messages are those of that product's compiler. */

import { defined } from '../../json/defined.ts';
import { isObject, type Json, type JsonObject, typeName } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { didYouMean } from '../document/names.ts';
import type { Names002 } from './dialect-002-names.ts';
import { type Import, type MemberTypes, memberNames, renamed } from './import.ts';
import { importRetry, retryPlaces } from './import-retry.ts';

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

const COMMON = memberNames('id type name description outputVariable retry timeoutMs onError then else steps');
const OWN: { readonly [type in Type]: readonly string[] } = {
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
const LISTS: { readonly [type in Type]?: readonly string[] } = {
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

export function step002(given: JsonObject, slug: string, at: string, into: Import, names: Names002): Converted {
  const written = into.typed(given, at, STEP_TYPES);
  const said = typeof written['type'] === 'string' ? written['type'].trim() : '';
  const type = TYPES.find((one) => one === said);
  const base: JsonObject = {};
  into.moved(slug, at, [
    ['/config', ''],
    ['/stepType', '/type'],
    ['/nextSteps', ''],
    ['/timeout', '/timeoutMs'],
    ...retryPlaces(isObject(written['retry']) ? written['retry'] : {}, '/retry', '/retry'),
  ]);
  if (type !== undefined) into.moved(slug, at, movedIn(written, type));
  for (const member of ['name', 'description', 'outputVariable', 'onError'] as const) {
    const value = written[member];
    if (value !== undefined && value !== null) base[member] = value;
  }
  if (isObject(written['retry'])) base['retry'] = importRetry(written['retry'], childPointer(at, 'retry'), into);
  if (type === undefined) {
    const message =
      said === ''
        ? 'Step type is required.'
        : `Unknown step type "${said.slice(0, 80)}". Valid types: ${TYPES.join(', ')}.`;
    into.problem(
      childPointer(at, 'type'),
      said === '' ? 'missing_member' : 'unknown_kind',
      message,
      didYouMean(said, TYPES),
    );
    return {
      type: said,
      step: { ...base, stepType: 'removed', config: { replaces: said === '' ? 'nothing' : said } },
      port: 'success',
      lists: ['then', 'else', 'steps'],
    };
  }
  into.lostMembers(written, at, new Set([...COMMON, ...OWN[type]]));
  const { stepType, config, port = 'success' } = kinds[type](written, at, into, names);
  const rendered = type === 'conditional' || type === 'loop' ? config : names.templates(config);
  const { timeoutMs } = written;
  if (timeoutMs !== undefined && EFFECTS.has(type)) base['timeout'] = timeoutMs;
  else if (timeoutMs !== undefined && !TIMED.has(type))
    into.lost(
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
    lists: LISTS[type] ?? [],
  };
}

/** The members of a config by their canonical names. Of several spellings the first one is taken. */
const SPELT: { readonly [type in Type]: { readonly [canonical: string]: readonly string[] } } = {
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

function* movedIn(written: JsonObject, type: Type): Iterable<readonly [string, string]> {
  if (type === 'tool' && String(written['tool']).trim() === 'bash') {
    yield ['/config', '/arguments'];
    return;
  }
  for (const [canonical, spellings] of Object.entries(SPELT[type])) {
    const said = spellings.find((member) => written[member] !== undefined);
    if (said !== undefined) yield [`/config/${canonical}`, `/${said}`];
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
const TIMED: ReadonlySet<string> = new Set(['bash', 'approval']);

interface Kind {
  readonly stepType: string;
  readonly config: JsonObject;
  readonly port?: string;
}
type Convert = (written: JsonObject, at: string, into: Import, names: Names002) => Kind;

const kinds: { readonly [type in Type]: Convert } = {
  agent(written, at, into) {
    const content = contentOf(written, at, into, 'agent');
    return {
      stepType: 'agent',
      config: {
        ...content,
        ...renamed(written, {
          model: 'model',
          systemPrompt: 'systemPrompt',
          tools: 'tools',
          maxSteps: 'maxSteps',
          outputSchema: 'outputSchema',
        }),
      },
    };
  },
  agent_message(written, at, into) {
    const { userPrompt } = contentOf(written, at, into, 'agent_message');
    const config: JsonObject = {
      ...defined({ content: userPrompt }),
      ...renamed(written, { to: 'to' }),
    };
    for (const member of ['interrupt', 'await_response'] as const) {
      const value = written[member];
      if (value === undefined) continue;
      if (typeof value === 'boolean') config[member] = value;
      else
        into.problem(
          childPointer(at, member),
          'wrong_type',
          `agent_message.${member} must be a boolean, got ${typeName(value)}.`,
        );
    }
    const wait = written['await_timeout_ms'];
    if (typeof wait === 'number' && wait >= 1000) config['await_timeout_ms'] = wait;
    else if (wait !== undefined)
      into.problem(
        childPointer(at, 'await_timeout_ms'),
        'invalid_value',
        'agent_message.await_timeout_ms must be a number >= 1000.',
      );
    return { stepType: 'agent_message', config };
  },
  tool(written, at, into) {
    const { tool, server } = written;
    const input = into.read(written['arguments'] ?? null, childPointer(at, 'arguments'));
    if (typeof tool !== 'string' || tool.trim() === '') {
      into.problem(
        childPointer(at, 'tool'),
        'missing_member',
        'tool step requires a "tool" field (string).',
        'For bash commands, prefer type: "bash" with a "command" field instead.',
      );
      return { stepType: 'removed', config: { replaces: 'tool' } };
    }
    if (tool.trim() === 'bash') {
      const held = into.typed(written, at, { arguments: 'object' })['arguments'];
      const given = isObject(held) ? held : {};
      into.lostMembers(given, childPointer(at, 'arguments'), BASH);
      return bash(given, childPointer(at, 'arguments'), into);
    }
    return {
      stepType: 'tool',
      config: {
        toolName: tool.trim(),
        ...defined({ server }),
        ...(input === null ? {} : { input }),
      },
    };
  },
  bash: (written, at, into) => bash(written, at, into),
  conditional: (written, at, into, names) => ({
    stepType: 'condition',
    config: conditionOf(written['condition'], childPointer(at, 'condition'), into, names),
  }),
  parallel: () => ({ stepType: 'parallel', config: {} }),
  loop(written, at, into, names) {
    const config: JsonObject = renamed(written, { maxIterations: 'maxIterations', batchSize: 'batchSize' });
    const items = into.first(written, at, ['items', 'over']);
    if (items !== undefined)
      config['items'] = names.templates(typeof items === 'string' && !items.includes('{{') ? `{{ ${items} }}` : items);
    for (const member of ['while', 'until'] as const) {
      const value = written[member];
      if (typeof value === 'string') config[member] = names.expression(value);
    }
    if (items === undefined && config['while'] === undefined && config['until'] === undefined) {
      into.lost(
        at,
        'This loop has no items and no condition. Like the original product, the run skips it.',
        'Add items, while or until.',
      );
      return { stepType: 'removed', config: { replaces: 'loop' } };
    }
    return { stepType: 'loop', config };
  },
  subworkflow(written, at, into) {
    const workflow = into.first(written, at, SPELT.subworkflow['workflow'] ?? []);
    if (workflow === undefined) {
      into.lost(
        at,
        'This subworkflow names no workflow. Like the original product, the run skips it.',
        'Add workflow.',
      );
      return { stepType: 'removed', config: { replaces: 'subworkflow' } };
    }
    const input = into.first(written, at, SPELT.subworkflow['input'] ?? []);
    return {
      stepType: 'run_workflow',
      config: {
        workflow,
        ...renamed(written, { version: 'version', wait: 'wait' }),
        ...defined({ input }),
      },
    };
  },
  approval(written, at, into) {
    const message = into.first(written, at, ['prompt', 'message', 'summary']) ?? written['name'] ?? 'Approve?';
    const config: JsonObject = { message, onReject: 'cancel', ...renamed(written, { approvers: 'approvers' }) };
    const timeout = into.first(written, at, ['timeout', 'timeoutMs']);
    if (timeout !== undefined) config['timeout'] = timeout;
    const fallback = written['defaultAction'];
    if (fallback === 'approve' || fallback === 'approved') config['onTimeout'] = 'approved';
    else if (fallback === 'deny' || fallback === 'denied' || fallback === 'reject') config['onTimeout'] = 'rejected';
    else if (fallback !== undefined)
      into.lost(childPointer(at, 'defaultAction'), 'Expected approve or deny; the default action is left out.');
    return { stepType: 'approval', config, port: 'approved' };
  },
};

function contentOf(written: JsonObject, at: string, into: Import, type: string): JsonObject {
  const given = into.typed(written, at, { content: 'string', message: 'string', goal: 'string' });
  const said = Object.entries(given).filter(([, value]) => typeof value !== 'string' || value.trim() !== '');
  const content = into.first(Object.fromEntries(said), at, SPELT.agent['userPrompt'] ?? []);
  if (content === undefined) {
    into.problem(at, 'missing_member', `${type} step requires content (content, message, or goal).`);
    return {};
  }
  return { userPrompt: content };
}

function bash(written: JsonObject, at: string, into: Import): Kind {
  const { command } = written;
  if (typeof command !== 'string' || command.trim() === '') {
    into.problem(
      childPointer(at, 'command'),
      'missing_member',
      'bash step requires a "command" field (string).',
      'Example: { "type": "bash", "command": "echo hello" }.',
    );
    return { stepType: 'removed', config: { replaces: 'bash' } };
  }
  const timeoutMs = into.first(written, at, ['timeoutMs', 'timeout']);
  return {
    stepType: 'bash',
    config: {
      command,
      ...renamed(written, { cwd: 'cwd', env: 'env' }),
      ...defined({ timeoutMs }),
    },
  };
}

/** `{variable, equals}`, an expression, or a constant. */
function conditionOf(condition: Json | undefined, at: string, into: Import, names: Names002): JsonObject {
  if (typeof condition === 'boolean') return { expression: String(condition) };
  if (typeof condition === 'string' && condition.trim() !== '') return { expression: names.expression(condition) };
  if (isObject(condition) && typeof condition['variable'] === 'string') {
    const { variable, equals, ...rest } = condition;
    into.lostMembers(rest, at, new Set());
    const path = names.path(variable);
    return equals === undefined ? { expression: path } : { variable: path, equals: names.templates(equals) };
  }
  if (condition === undefined || condition === null) {
    into.warn(
      at,
      'missing_member',
      'This step has no condition, and always takes else.',
      'Write {variable, equals} or an expression.',
    );
    return { expression: 'false' };
  }
  into.problem(at, 'invalid_config', `Expected {variable, equals} or an expression, got ${typeName(condition)}.`);
  return { expression: 'false' };
}
