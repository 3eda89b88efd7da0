/** Usage of models by a run, summed by kind of key as activities end. */
import { addUsage, type Cost, usageIn } from '../../contract/organization/models.ts';
import type { Event } from './protocol.ts';
import type { RunState } from './state.ts';

/** Models by which lists find one run. */
const MAX_MODELS = 20;
const NOTHING = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, usd_cost: 0 };

/** Adds the usage that an activity reports. A failed activity may report usage too. */
export function countUsage(state: RunState, event: Event): void {
  const usage =
    event.type === 'completed'
      ? usageIn(event.result.meta)
      : event.type === 'failed'
        ? usageIn(event.error.details)
        : undefined;
  if (usage === undefined) return;
  const { key_type, model } = usage;
  const costs = state.costs ?? [];
  const known = costs.find((cost) => cost.key_type === key_type);
  const sum: Cost = { key_type, ...addUsage(known ?? NOTHING, usage) };
  state.costs = known === undefined ? [...costs, sum] : costs.map((cost) => (cost === known ? sum : cost));
  const usedModels = state.models ?? (state.model === undefined ? [] : [state.model]);
  if (usedModels.length > 0 && !usedModels.includes(model) && usedModels.length < MAX_MODELS)
    state.models = [...usedModels, model];
  state.model = model;
}

/** Tokens in and out, as lists filter by them. */
export function tokensOf(costs: readonly Cost[]): number {
  return costs.reduce((sum, cost) => sum + cost.input_tokens + cost.output_tokens, 0);
}
