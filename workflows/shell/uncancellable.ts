import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  CancellationScope,
  defineSignal,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import {
  ACTOR_NAMESPACE_DIVISION,
  NAMESPACE_DIVISION_ATTRIBUTE,
  SET_DIVISION_SIGNAL,
} from '../../src/contract/namespace-division.ts';

const DIVISION_KEY = defineSearchAttributeKey(NAMESPACE_DIVISION_ATTRIBUTE, SearchAttributeType.KEYWORD);

/**
 * Runs a workflow that stores something: a cancellation does not end it. The signal `setApart` gives the search
 * attribute that sets actors apart from runs to one that was started without it.
 */
export function runUncancellable<Result>(run: () => Promise<Result>): Promise<Result> {
  setHandler(defineSignal(SET_DIVISION_SIGNAL), () => {
    if (workflowInfo().typedSearchAttributes.get(DIVISION_KEY) === undefined)
      upsertSearchAttributes([{ key: DIVISION_KEY, value: ACTOR_NAMESPACE_DIVISION }]);
  });
  return CancellationScope.nonCancellable(run);
}
