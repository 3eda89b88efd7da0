// biome-ignore-all lint/suspicious/noThenProperty: `then` is a member of agent-ops, and nothing here is awaited.
/** Documents of each dialect that hold every member that its importer reads, beside those of `dialects`. */

import { isObject, type JsonObject } from '../../src/json/json.ts';
import { CASES, TALE_DEFINITIONS } from './dialects/load.ts';

export interface Example {
  readonly name: string;
  readonly dialect: string;
  readonly document: JsonObject;
}

const taleStep = (stepSlug: string, stepType: string, config: JsonObject, more: JsonObject = {}): JsonObject => ({
  stepSlug,
  name: `The ${stepSlug}`,
  stepType,
  config,
  ...more,
});

const own: readonly Example[] = [
  {
    name: 'every member of 000',
    dialect: '000',
    document: {
      workflowConfig: {
        name: 'Orders',
        slug: 'all-orders',
        description: 'Looks at orders',
        version: '1.2.3',
        tags: ['shop'],
        enabled: true,
        triggers: [{ name: 'nightly', type: 'schedule', config: { cron: '0 2 * * *', timezone: 'Europe/Berlin' } }],
        input: { customer: 'string' },
        state: { seen: { type: 'number', searchable: true } },
        output: { count: '{{ loop.state.iterations }}' },
        constraints: { allowSelfModification: true },
        config: {
          timeout: 60_000,
          retryPolicy: { maxRetries: 2, backoffMs: 500, maxBackoffMs: 9000, backoffMultiplier: 3 },
          variables: { limit: 10, lines: [1, 2] },
          secrets: { SHOP_KEY: 'clear-secret' },
          maxSteps: 100,
          mode: 'restart',
          debounce: { key: 'customer', seconds: 5 },
          concurrency: { limit: 2, key: '{{ input.customer }}', overflow: 'queue' },
          onFailure: 'fail',
          publicStart: true,
        },
      },
      stepsConfig: [
        taleStep(
          'begin',
          'start',
          { type: 'webhook', path: 'orders', method: 'POST', secret: 'hook-secret', inputs: { customer: 'string' } },
          { order: 1, nextSteps: { success: 'each' } },
        ),
        taleStep(
          'each',
          'loop',
          { items: '{{ lines }}', itemVariable: 'line', continueOnError: true },
          { order: 2, nextSteps: { loop: 'big', done: 'ask' } },
        ),
        taleStep(
          'big',
          'condition',
          { branches: [{ name: 'large', condition: 'line > limit' }] },
          { order: 3, nextSteps: { large: 'fetch', default: 'count' } },
        ),
        taleStep(
          'fetch',
          'action',
          { type: 'http.request', parameters: { url: 'https://example.com/', method: 'GET' } },
          {
            order: 4,
            description: 'Fetches',
            nextSteps: { success: 'each', failure: 'count' },
            maxRetries: 3,
            backoffMs: 100,
            retryPolicy: { maxBackoffMs: 4000 },
            continueOnError: true,
            timeout: 1000,
            outputVariable: 'fetched',
            saveToState: { seen: 'output.data.count' },
            when: 'line > 0',
          },
        ),
        taleStep(
          'count',
          'action',
          {
            type: 'set_variables',
            parameters: { variables: [{ name: 'total', value: '{{ line }}', secure: true }] },
            description: 'Counts',
          },
          { order: 5, nextSteps: { success: 'each' } },
        ),
        taleStep(
          'ask',
          'approval',
          {
            approverMemberId: 'ann',
            title: 'Ship?',
            resourceType: 'order',
            resourceId: '5',
            priority: 'high',
            deeplink: 'https://example.com/orders/5',
          },
          { order: 6, nextSteps: { approved: 'write', rejected: 'out' } },
        ),
        taleStep(
          'write',
          'llm',
          {
            model: 'small',
            systemPrompt: 'Be brief.',
            userPrompt: 'Hello {{ customer }}',
            outputFormat: 'json',
            outputSchema: { type: 'object', properties: { text: { type: 'string' } } },
            temperature: 0.5,
            maxTokens: 100,
            tools: ['find_order'],
            mcpServerIds: ['shop'],
            maxSteps: 3,
            description: 'Writes',
          },
          { order: 7, nextSteps: { success: 'out' } },
        ),
        taleStep('out', 'output', { mapping: { total: '{{ total }}' }, description: 'Ends' }, { order: 8 }),
      ],
    },
  },
  {
    name: 'starts of 000 by schedule and event',
    dialect: '000',
    document: {
      name: 'Nightly',
      slug: 'every-night',
      description: 'Every night',
      version: '1.0.0',
      tags: ['night'],
      triggers: [{ name: 'by-hand', type: 'manual' }],
      stepsConfig: [
        taleStep('begin', 'trigger', {
          type: 'schedule',
          schedule: '0 2 * * *',
          timezone: 'UTC',
          description: 'At two',
        }),
        taleStep('other', 'trigger', { type: 'event', eventName: 'order.paid', inputSchema: { properties: {} } }),
        taleStep('again', 'trigger', { cron: '0 3 * * *', eventType: 'order.sent' }),
        taleStep('sum', 'loop', { items: [1, 2, 3], batchSize: 2, maxIterations: 5, while: 'true', until: 'false' }),
        taleStep('set', 'action', { type: 'set_variables', parameters: { variables: { a: 1, b: [2] } } }),
        taleStep('out', 'output', { output: '{{ a }}' }),
      ],
    },
  },
  {
    name: 'every member of 001',
    dialect: '001',
    document: {
      id: 'wf-1',
      title: 'Mail customers',
      slug: 'mails',
      description: 'Mails them',
      version: '1.0.0',
      tags: ['mail'],
      enabled: true,
      timeoutMs: 60_000,
      triggers: [{ name: 'by-hand', type: 'manual', enabled: true }],
      steps: [
        {
          name: 'list',
          description: 'Lists them',
          action: { toolName: 'LIST_CUSTOMERS', transformCode: 'export default (r) => r.items', connectionId: 'crm' },
          input: { page: '@input.page', filter: { active: true }, fields: ['id', 'name'] },
          config: { maxAttempts: 3, backoffMs: 100, timeoutMs: 5000, onError: 'continue' },
        },
        {
          name: 'mail',
          action: { toolName: 'SEND_EMAIL', server: 'mailer' },
          input: { to: '@item.email', text: 'Hello @item.name' },
          forEach: { ref: '@list.items', concurrency: 2 },
          when: { ref: '@list.count', gt: 0 },
          dependsOn: ['list'],
        },
        {
          name: 'sum',
          action: { code: 'export default (input) => input.n', language: 'javascript' },
          input: { n: '@list.count' },
          bail: { ref: '@list.count', eq: 0 },
          config: { maxRetries: 2, timeoutMs: 500 },
          preset: 5,
        },
        { name: 'each', action: { code: 'export default () => 1' }, forEach: { items: ['@list.a', 2] }, bail: true },
        {
          name: 'out',
          action: { return: true },
          input: { n: '@sum' },
          when: { ref: '@sum', neq: 1 },
          dependsOn: ['@mail'],
        },
        {
          name: 'again',
          action: { toolName: 'COLLECTION_WORKFLOW_EXECUTION_CREATE' },
          input: { workflow_collection_id: 'wf-1', input: { page: 2 }, version: '1.0.0' },
        },
      ],
    },
  },
  {
    name: 'every member of 002',
    dialect: '002',
    document: {
      id: 'deploy',
      name: 'Deploy',
      slug: 'deploy-it',
      description: 'Deploys it',
      version: '1.0.0',
      tags: ['ops'],
      enabled: true,
      constraints: { allowSelfModification: true },
      variables: { environment: { type: 'string', default: 'staging', description: 'Where' }, count: 3, hosts: ['a'] },
      runtime: { policy: { maxSteps: 70 } },
      config: { timeout: 5000, variables: { region: 'eu' } },
      input: { environment: { type: 'string', required: false }, count: 'number', hosts: 'array' },
      output: '{{ built.stdout }}',
      triggers: [
        {
          name: 'hook',
          enabled: true,
          config: { type: 'webhook', path: 'deploy', method: 'POST', secret: 'hook-secret', headers: { 'x-a': 'b' } },
          variableMapping: { environment: '$.env' },
        },
      ],
      steps: [
        {
          id: 'build',
          name: 'Build',
          description: 'Builds it',
          type: 'bash',
          command: 'make',
          cwd: 'src',
          env: { CI: '1' },
          timeoutMs: 5000,
          outputVariable: 'built',
          onError: 'continue',
          retry: { maxAttempts: 2, initialDelayMs: 10 },
        },
        { id: 'shell', type: 'tool', tool: 'bash', arguments: { command: 'ls', cwd: 'src', timeout: 500 } },
        {
          id: 'call',
          type: 'tool',
          tool: 'NOTIFY',
          server: 'chat',
          arguments: { text: 'Built {{ built.stdout }}', list: [1] },
          timeoutMs: 100,
        },
        {
          id: 'asked',
          type: 'conditional',
          condition: { variable: 'environment', equals: 'production' },
          then: [
            {
              id: 'gate',
              type: 'approval',
              prompt: 'Deploy?',
              approvers: { users: ['ann'] },
              timeout: 1000,
              defaultAction: 'deny',
            },
          ],
          else: [
            { id: 'tell', type: 'agent_message', message: 'No', to: 'ann', interrupt: true, await_response: true },
          ],
        },
        {
          id: 'both',
          type: 'parallel',
          steps: [
            {
              id: 'think',
              type: 'agent',
              goal: 'Think',
              model: 'small',
              systemPrompt: 'Be brief.',
              tools: ['find'],
              maxSteps: 3,
              outputSchema: { type: 'object' },
            },
            { id: 'wait', type: 'agent_message', content: 'Well?', await_response: true, await_timeout_ms: 2000 },
          ],
        },
        {
          id: 'each',
          type: 'loop',
          items: ['a', 'b'],
          batchSize: 1,
          maxIterations: 10,
          steps: [
            {
              id: 'child',
              type: 'subworkflow',
              workflow: 'push',
              input: { host: '{{ loop.item }}' },
              version: '1.0.0',
              wait: false,
            },
          ],
        },
        {
          id: 'poll',
          type: 'loop',
          while: 'count > 0',
          until: 'count < 0',
          steps: [{ id: 'look', type: 'bash', command: 'true', timeout: 10 }],
        },
        { id: 'over', type: 'loop', over: '{{ hosts }}', steps: [{ id: 'ping', type: 'bash', command: 'ping' }] },
        {
          id: 'said',
          type: 'conditional',
          condition: 'count > 2',
          then: [{ id: 'end', type: 'approval', message: 'So?' }],
        },
      ],
    },
  },
  {
    name: 'every member of 004',
    dialect: '004',
    document: {
      id: 'wf-4',
      name: 'Triage',
      slug: 'triage-mail',
      description: 'Sorts mails',
      version: '1.0.0',
      tags: ['mail'],
      enabled: true,
      type: 'agent',
      starting_step_id: 'received',
      payload_format: { subject: { type: 'string', description: 'Its subject' }, count: 'number' },
      state_definition: { urgency: 'string', seen: { type: 'boolean', default: false } },
      mode: 'restart',
      debounce_key: 'customer.id',
      debounce_seconds: 30,
      public_start: false,
      triggers: [{ name: 'by-hand', type: 'manual' }],
      flow: {
        received: {
          type: 'starting_step',
          name: 'Received',
          title: 'Start',
          description: 'Begins',
          next_step_id: 'sort',
        },
        sort: {
          type: 'llm',
          config: {
            model: 'small',
            system_prompt: 'Be brief.',
            user_prompt: 'How urgent is {{input.subject}}?',
            output_format: 'json',
            output_schema: { type: 'object', properties: { urgency: { type: 'string' } } },
            max_tokens: 50,
            temperature: 0.1,
          },
          save_to_state: { urgency: 'output.data.urgency' },
          retry: { maxAttempts: 2, initialInterval: 10 },
          on_error: 'continue',
          timeout: 1000,
          position: { x: 1, y: 2 },
          next_step_id: 'urgent',
        },
        urgent: {
          type: 'condition',
          config: { branches: [{ name: 'yes', condition: '{{state.urgency}} == "high"', next_step_id: 'ask' }] },
          default_next_step_id: 'call',
        },
        ask: {
          type: 'user_input',
          config: { prompt: 'Who?', fields: { who: 'string' }, timeout: 1000 },
          nextSteps: { submitted: 'call', timeout: 'done' },
        },
        call: {
          type: 'tool',
          data: {
            tool: 'http.http_request',
            parameters: { url: 'https://example.com/', method: 'POST', body: { a: 1 } },
          },
          onError: 'continue',
          next: 'child',
        },
        child: {
          type: 'run_workflow',
          config: { workflow_id: 'other', payload: { n: 1 }, wait: true },
          next_step: 'mate',
        },
        mate: {
          type: 'run_employee',
          config: {
            employee_id: 'bob',
            assignment: 'Do it',
            response_schema: { type: 'object' },
            attachments_json: '[]',
          },
          nextStepId: 'code',
        },
        code: {
          type: 'run_code',
          config: { language: 'javascript', code: 'export default () => 1', timeout_ms: 100, memory_mb: 32 },
          saveToState: 'urgency',
          next: 'check',
        },
        check: {
          type: 'condition',
          branches: [{ port: 'late', expression: 'state.urgency == "late"', next: 'say' }],
          default: 'done',
        },
        say: { type: 'send_message', config: { channel: 'inbox', to: 'ann', message: 'Late' }, next: 'done' },
        done: { type: 'finish', config: { output: '{{state.urgency}}' } },
      },
    },
  },
  {
    name: 'an agent of 004, with nodes as a list and no configs',
    dialect: '004',
    document: {
      name: 'Agent',
      starting_step_id: 's',
      flow: [
        { id: 's', stepType: 'starting_step', next: 'a' },
        { id: 'a', type: 'agent', model: 'small', prompt: 'Hello', max_steps: 2, mcp_server_ids: ['shop'], next: 'w' },
        { id: 'w', type: 'wait_callback', config: { timeout: 5000 }, next: 'm' },
        { id: 'm', type: 'mapping', mapping: { a: 1 }, next: 'c' },
        { id: 'c', type: 'condition', condition: 'state.x == 1', nextSteps: { true: 'f', false: 'f' } },
        { id: 'f', type: 'finish', output: { a: 1 } },
      ],
      state_definition: { x: 'number' },
    },
  },
];

/** Whole definitions. */
export const wholeExamples: readonly Example[] = TALE_DEFINITIONS.map(({ name, document }) => ({
  name: `000: ${name}`,
  dialect: '000',
  document,
}));

/** The later form of a document of tale: the members of `workflowConfig` beside the list of steps. */
export function laterTale({ workflowConfig, stepsConfig, ...rest }: JsonObject): JsonObject {
  return { ...rest, ...(isObject(workflowConfig) ? workflowConfig : {}), steps: stepsConfig ?? null };
}

const later: readonly Example[] = own
  .filter(({ dialect }) => dialect === '000')
  .map(({ name, dialect, document }) => ({
    name: `${name}, in the later form`,
    dialect,
    document: laterTale(document),
  }));

export const examples: readonly Example[] = [
  ...own,
  ...later,
  ...Object.entries(CASES).flatMap(([dialect, cases]) =>
    cases.flatMap(({ name, document }) =>
      isObject(document) ? [{ name: `${dialect}: ${name}`, dialect, document }] : [],
    ),
  ),
];
