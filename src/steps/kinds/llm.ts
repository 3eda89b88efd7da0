import { z } from 'zod';
import type { NoState, StepKind } from '../kind.ts';
import { MODEL_HEARTBEAT_MS, MODEL_TIMEOUT_MS, modelSchema, planModel } from './model-config.ts';
import { oneActivity } from './one-activity.ts';

export const llm: StepKind<NoState> = {
  type: 'llm',
  class: 'effect',
  summary: 'Asks a language model.',
  description: `Sends one prompt to a model and ends with its answer. Models are stored for the organization with \`PUT /api/models/:name\`; \`model\` names one of
them, and without it the default is asked. What a prompt holds, and what a model answers, is text and never evaluated.

- **JSON.** With \`outputFormat: json\` the answer is parsed; with \`outputSchema\`, a payload format, it must fit as well. An answer that does not is sent back
  once with what is wrong; if the next does not either, or an answer was cut at \`maxTokens\`, the step fails with \`model_output_invalid\`, and the problems in
  its details.
- **Costs.** Tokens and USD, by the model's prices, stand in \`meta.usage\` and are summed in the run's \`costs\`; what was used in vain counts too.
- **Errors.** \`model_status\` with the provider's status and answer: 408, 425, 429 and 5xx are tried again, after \`Retry-After\` where the provider says so.
  \`model_connect\`, \`model_cut\` (the answer ended in the middle), \`model_idle\` (it says nothing any more) and \`model_answer\` (it makes no sense) are tried again too. A model that is not stored is \`model_not_found\`;
  one that refuses, or whose provider lets nothing of the answer through, is \`model_refused\`. A text that was cut at \`maxTokens\` has \`meta.finishReason\` length.
- **Where to.** As for http: private addresses only where the host allows them.`,
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
    'The text, or the JSON value. `meta` is `{model, finishReason, usage, llm: {model, provider, temperature?, maxTokens?}}`: `model` as the organization calls it, `llm.model` as the provider does.',
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
