import { z } from 'zod';
import type { NoState, StepKind } from '../kind.ts';
import { MODEL_HEARTBEAT_MS, MODEL_TIMEOUT_MS, modelSchema, planModel } from './model-config.ts';
import { oneActivity } from './one-activity.ts';

export const llm: StepKind<NoState> = {
  type: 'llm',
  class: 'effect',
  summary: 'Asks a language model.',
  description: `Sends one prompt to a model and ends with its answer. Models are stored for the organization with
\`PUT /api/models/:name\`. \`model\` names one of them; without it the default model is asked. The text of a prompt and
of an answer is never evaluated.

- **JSON.** With \`outputFormat: json\` the answer is parsed. With \`outputSchema\`, a payload format, it must also
  fit. An answer that does not fit is sent back once, with the problems. If the next one does not fit either, or an
  answer was cut at \`maxTokens\`, the step fails with \`model_output_invalid\`, and the problems in its details.
- **Costs.** \`meta.usage\` has tokens and USD, by the model's prices. The run's \`costs\` sum them, failed calls
  included.
- **Errors.** \`model_status\` has the provider's status and answer: 408, 425, 429 and 5xx are retried, after
  \`Retry-After\` where the provider sends it. \`model_connect\`, \`model_cut\` (the answer ended early),
  \`model_idle\` (the provider stopped sending) and \`model_answer\` (the answer is unreadable) are retried too. A
  model that is not stored is \`model_not_found\`. A model that refuses, or whose provider blocks the whole answer, is
  \`model_refused\`. A text that was cut at \`maxTokens\` has \`meta.finishReason\` length.
- **Destinations.** As for http: private addresses only where the host allows them.`,
  example: {
    stepType: 'llm',
    config: {
      systemPrompt: 'You sort complaints.',
      userPrompt: 'Sort this: {{ input.text }}',
      outputSchema: { category: 'string', urgent: 'boolean' },
    },
    nextSteps: { success: 'route' },
  },
  output:
    'The text, or the JSON value. `meta` is `{model, finishReason, usage, llm: {model, provider, temperature?, ' +
    "maxTokens?}}`: `model` is the organization's name for it, `llm.model` the provider's.",
  schema: () => z.strictObject(modelSchema()),
  ports: () => ({ normal: 'success', names: ['success'] }),
  plan(config, parse) {
    const request = planModel(config, parse);
    return oneActivity((visit) => ({
      activity: 'llm',
      config: { value: request(visit), secrets: [] },
      timeoutMs: MODEL_TIMEOUT_MS,
      heartbeatMs: MODEL_HEARTBEAT_MS,
    }));
  },
};
