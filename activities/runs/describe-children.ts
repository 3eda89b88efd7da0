/**
 * The activity `describeChildren`: the state of children that have not reported, such as terminated ones
 * (ARCHITECTURE.md §3).
 */
import type { OpenChild } from '../../src/contract/run/children.ts';
import { asJson, isObject } from '../../src/json/json.ts';
import { requireService } from '../runtime/failure.ts';
import type { ActivityHandler } from '../runtime/wrap-activity.ts';
import type { RunReader } from './run-reader.ts';

/** Config `{children: [{id, executionId}]}`; data `{ended: [{id, output | error}], more}`. */
export function describeChildrenActivity(reader: RunReader | undefined): ActivityHandler {
  return async (config, { input }) => {
    const runs = requireService(reader, { code: 'runs_unavailable', lacking: 'cannot read runs' });
    const children = isObject(config) && Array.isArray(config['children']) ? config['children'] : [];
    const { organizationId } = input.execution;
    return { data: asJson(await runs.describeChildren(organizationId, children as unknown as readonly OpenChild[])) };
  };
}
