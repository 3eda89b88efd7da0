/**
 * The activity `describeChildren`: the state of children that have not reported, such as terminated ones
 * (ARCHITECTURE.md §3).
 */
import type { OpenChild } from '../../src/contract/children.ts';
import { asJson, isObject } from '../../src/json/json.ts';
import { ActivityError } from '../runtime/failure.ts';
import type { ActivityHandler } from '../runtime/wrap-activity.ts';
import type { RunReader } from './run-reader.ts';

/** Config `{children: [{id, executionId}]}`; data `{ended: [{id, output | error}], more}`. */
export function describeChildrenActivity(reader: RunReader | undefined): ActivityHandler {
  return async (config, { input }) => {
    if (reader === undefined)
      throw new ActivityError('runs_unavailable', 'This worker cannot read runs. Start it with the master key.');
    const children = isObject(config) && Array.isArray(config['children']) ? config['children'] : [];
    const described = await reader.describeChildren(
      input.execution.organizationId,
      children as unknown as readonly OpenChild[],
    );
    return { data: asJson(described) };
  };
}
