/**
 * The models of an organization and the cost of their use: the contract between their store, the activities and the
 * runs.
 */

export const MODEL_PROVIDERS = ['openai', 'anthropic', 'google', 'openai-compatible'] as const;
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

/** In USD for a million tokens. */
interface ModelPrices {
  readonly input: number;
  readonly output: number;
  /** The price of cached input. Default: `input`. */
  readonly cachedInput?: number;
}

/** A stored model. */
export interface ModelEntry {
  readonly provider: ModelProvider;
  /** The provider's name for the model. */
  readonly model: string;
  /** The address of the provider's API. Default: the provider's own. An openai-compatible provider has no default. */
  readonly baseUrl?: string;
  /** The name of the organization's secret that holds the API key. */
  readonly apiKeySecret?: string;
  readonly prices?: ModelPrices;
  /** ISO 8601. The model that was made the default last is the default. */
  readonly defaultSince?: string;
  /** ISO 8601. */
  readonly updatedAt: string;
}

/** The usage of calls. `key_type` is the provider. A model without prices costs 0. */
export type Usage = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The cached part of the input tokens. */
  readonly cached_input_tokens: number;
  readonly usd_cost: number;
};

/** A run's costs for one kind of key. */
export interface Cost extends Usage {
  readonly key_type: string;
}

/** The usage that an activity reports, in `meta.usage` of its result or `usage` in the details of its failure. */
export interface ModelUsage extends Cost {
  /** The model's name in the organization. */
  readonly model: string;
}

/** Precision of USD amounts, which are sums of many small ones. */
const USD_DIGITS = 1e9;

/** The sum of both. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    usd_cost: usd(a.usd_cost + b.usd_cost),
  };
}

/** The amount in USD, rounded to nine decimal places. */
export function usd(amount: number): number {
  return Math.round(amount * USD_DIGITS) / USD_DIGITS;
}

/** Reads the usage from a result's meta or a failure's details. Undefined where it is absent or has another shape. */
export function usageIn(value: unknown): ModelUsage | undefined {
  const usage = memberOf(value, 'usage');
  const { key_type, model, input_tokens, output_tokens, cached_input_tokens, usd_cost } = (usage ?? {}) as ModelUsage;
  if (typeof key_type !== 'string' || typeof model !== 'string') return undefined;
  const numbers = [input_tokens, output_tokens, cached_input_tokens, usd_cost];
  if (!numbers.every((number) => Number.isFinite(number) && number >= 0)) return undefined;
  return { key_type, model, input_tokens, output_tokens, cached_input_tokens, usd_cost };
}

function memberOf(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined;
  return (value as { readonly [name: string]: unknown })[name];
}
