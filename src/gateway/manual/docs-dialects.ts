// biome-ignore-all lint/suspicious/noThenProperty: `then` is a member of document 002, and nothing here is awaited.
/** The manual's page on documents of other systems (LANGUAGE.md §9): how they are told, and what becomes of what they say. */

import { stringify } from 'yaml';
import type { Dialect } from '../../definition/dialects/dialects.ts';
import type { JsonObject } from '../../json/json.ts';
import { code, type Page, table } from './schema-words.ts';

interface OtherSystem {
  readonly dialect: Exclude<Dialect, 'canonical'>;
  readonly toldBy: string;
  readonly document: JsonObject;
  /** What it says, and what that becomes. */
  readonly rows: readonly (readonly [written: string, here: string])[];
}

export function dialectsPage(): Page {
  return {
    name: 'dialects',
    title: 'Documents of other systems',
    summary: 'Four other ways to write a definition, and what becomes of them.',
    markdown: `${INTRODUCTION}

${table(
  ['Dialect', 'Told by'],
  OTHER_SYSTEMS.map(({ dialect, toldBy }) => [code(dialect), toldBy]),
)}

${OTHER_SYSTEMS.map(section).join('\n\n')}
`,
  };
}

const INTRODUCTION = `Wherever a definition is taken, in files and in bodies, a document of one of four other systems is taken too. It becomes a definition in the form of [this
manual](/docs/definition), and is kept and run as that. Which system it is of is told by its outer members, or said: \`--dialect 002\` on the command line, \`?dialect=002\` at
\`POST /api/workflows\`. \`signalbox import FILE --from 002\` prints what becomes of a document, as YAML, and \`signalbox run FILE --dry\` walks it without any effect.

What cannot be carried over is a warning, \`not_carried_over\`, with its place in the document; problems stand at the places where the document has them. Steps whose names cannot be
slugs are renamed (\`step[0].then[1]\` becomes \`step_0_then_1\`) and keep their own as \`name\`; in 000 they are refused.`;

const section = ({ dialect, document, rows }: OtherSystem): string => `## ${dialect}

\`\`\`yaml
${stringify(document, { lineWidth: 120 }).trimEnd()}
\`\`\`

${table(['In the document', 'Here'], rows)}`;

export const OTHER_SYSTEMS: readonly OtherSystem[] = [
  {
    dialect: '000',
    toldBy: '`stepsConfig` or `workflowConfig`',
    document: {
      workflowConfig: { name: 'Greet customers', config: { variables: { greeting: 'Hello' } } },
      stepsConfig: [
        step('start', 'trigger', 1, { type: 'manual', inputs: { customers: 'array' } }, { success: 'each' }),
        step(
          'each',
          'loop',
          2,
          { items: '{{ customers }}', itemVariable: 'customer' },
          { loop: 'active', done: 'sum' },
        ),
        step(
          'active',
          'condition',
          3,
          { expression: '{{ customer.status }} == "active"' },
          { true: 'greet', false: 'each' },
        ),
        step(
          'greet',
          'action',
          4,
          {
            type: 'http.request',
            parameters: {
              url: 'https://example.com/greet',
              method: 'POST',
              body: '{{ greeting }}, {{ customer.name }}',
            },
          },
          { success: 'each' },
        ),
        step('sum', 'output', 5, { mapping: { greeted: '{{ loop.state.iterations }}' } }),
      ],
    },
    rows: [
      [
        '`start`, `output`',
        'the kinds `trigger` and `finish`; what a trigger says of a schedule, a webhook or an event is made a trigger of the definition',
      ],
      [
        'names of variables, and keys of the input, as such',
        'read so: `{{ greeting }}`; where a name is both, the variable wins, and a warning says so',
      ],
      ['`{{ x }}` in an expression', '`x`'],
      ['`itemVariable`', '`loop.item`, and `loop.parent.item` in a loop within'],
      ['a step in a loop’s body that leads nowhere, and the target `noop`', '`$end`: the run ends, as it did there'],
      ['the port `failure`; `continueOnError`', 'the port `error`; `onError: continue`, of a loop: the next tick'],
      ['`maxRetries`, `backoffMs`', '`retry: {maxAttempts, initialInterval}`; attempts count the first one'],
      ['the action `set_variables`', 'the kind `set`, one value after the other'],
      ['`llm` with tools', 'the kind `agent`'],
      ['`secrets` with values', 'taken out, stored encrypted, and named'],
    ],
  },
  {
    dialect: '001',
    toldBy: 'a list of `steps` that have a `name` or an `action`, and no `type`',
    document: {
      name: 'Create a user',
      steps: [
        {
          name: 'validate',
          action: { code: 'export default function (input) { return { ok: input.email !== undefined }; }' },
          input: { email: '@input.email' },
        },
        {
          name: 'stop',
          when: { ref: '@validate.ok', eq: false },
          action: { return: true },
          input: { error: 'Email required' },
        },
        {
          name: 'create',
          when: { ref: '@validate.ok' },
          action: { toolName: 'CREATE_USER' },
          input: { email: '@input.email', note: 'for @input.name' },
          config: { maxAttempts: 3, backoffMs: 500 },
        },
      ],
    },
    rows: [
      ['the steps', '`flow: dag`: each runs as soon as the steps that it refers to have ended'],
      [
        '`@input.x`, `@step.x`, `@item`, `@index`',
        '`{{ input.x }}`, `{{ steps.step.output.data.x }}`, `{{ item }}`, `{{ index }}`; as a whole text it keeps its type. Braces mean nothing',
      ],
      ['`toolName`, `code`, `return`', 'the kinds `tool`, `run_code`, `return`'],
      [
        '`when`, `forEach`, `bail`',
        'the modifiers of that name; `@item` has a value in the input of a step, not in these',
      ],
      ['`config {maxAttempts, backoffMs, timeoutMs, onError}`', '`retry`, `timeout`, `onError`'],
    ],
  },
  {
    dialect: '002',
    toldBy: 'any other list of `steps`',
    document: {
      name: 'Deploy',
      variables: { environment: { type: 'string', default: 'staging' } },
      steps: [
        { id: 'build', type: 'bash', command: 'make build', outputVariable: 'built' },
        {
          type: 'conditional',
          condition: { variable: 'environment', equals: 'production' },
          then: [{ type: 'approval', prompt: 'Deploy {{ built.stdout }}?', timeout: 3600000, defaultAction: 'deny' }],
        },
        {
          type: 'parallel',
          steps: [
            { id: 'push', type: 'bash', command: 'make push ENV={{ variables.environment }}' },
            { id: 'tell', type: 'agent_message', content: 'Deploying to {{ environment }}' },
          ],
        },
      ],
      runtime: { policy: { maxSteps: 100 } },
    },
    rows: [
      ['a list', 'one step after the other; `then`, `else` and the body of a `loop` come back to what follows'],
      [
        '`conditional`, `parallel`, `loop`, `subworkflow`',
        'the kinds `condition`, `parallel` (each step a branch), `loop`, `run_workflow`',
      ],
      ['`tool: bash`', 'the kind `bash`'],
      ['a name', 'the output of that `outputVariable`, else what the run was given, else the default of the variable'],
      ['an approval that is denied', 'cancels the run (`onReject: cancel`)'],
      ['`runtime.policy.maxSteps`', '`config.maxSteps`: 50 if left out'],
    ],
  },
  {
    dialect: '004',
    toldBy: '`starting_step_id`, or a `flow` that is a map or a list of nodes',
    document: {
      name: 'Triage',
      starting_step_id: 'received',
      payload_format: { subject: { type: 'string', description: 'Of the mail.' } },
      state_definition: { urgency: 'string' },
      flow: {
        received: { type: 'starting_step', next_step_id: 'sort' },
        sort: {
          type: 'llm',
          config: { model: 'small', user_prompt: 'How urgent is {{input.subject}}?' },
          saveToState: 'urgency',
          next_step_id: 'urgent',
        },
        urgent: {
          type: 'condition',
          branches: [{ name: 'yes', condition: '{{state.urgency}} == "high"', next_step_id: 'ask' }],
          default_next_step_id: 'done',
        },
        ask: {
          type: 'user_input',
          config: { prompt: 'Who takes it?', fields: { who: 'string' } },
          next_step_id: 'done',
        },
        done: { type: 'finish', config: { output: '{{state.urgency}}' } },
      },
      mode: 'restart',
      debounce_key: 'customer.id',
      debounce_seconds: 30,
    },
    rows: [
      ['`payload_format`, `state_definition`', '`input`, `state`'],
      [
        '`{{input.x}}`',
        'the output of the step right before; of several that of the one that the walk came from, and each must declare `x` if it declares anything',
      ],
      ['`next_step_id`, `branches`, `default_next_step_id`', '`nextSteps`, a port for each branch and `default`'],
      [
        '`tool`',
        'the kind `action`: `http.http_request` is `http.request`, others are [actions of the host](/docs/actions)',
      ],
      ['`system_prompt`, `workflow_id`, `timeout_ms`, …', '`systemPrompt`, `workflow`, `timeoutMs`, …'],
      ['`mode`, `debounce_key`, `debounce_seconds`', '`config.mode`, `config.debounce`'],
      ['`send_message` without a `channel`', '`channel: inbox`: people read it at `GET /api/inbox`'],
    ],
  },
];

function step(
  stepSlug: string,
  stepType: string,
  order: number,
  config: JsonObject,
  nextSteps: JsonObject = {},
): JsonObject {
  return { stepSlug, name: stepSlug, stepType, order, config, nextSteps };
}
