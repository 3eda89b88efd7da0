import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  CancellationScope,
  defineSignal,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { ACTOR_DIVISION, DIVISION_ATTRIBUTE, SET_APART_SIGNAL } from '../../src/contract/division.ts';

const DIVISION = defineSearchAttributeKey(DIVISION_ATTRIBUTE, SearchAttributeType.KEYWORD);

/**
 * Runs a workflow that stores something: a cancellation does not end it. The signal `setApart` gives the search
 * attribute that sets actors apart from runs to one that was started without it.
 */
export function stored<Result>(keep: () => Promise<Result>): Promise<Result> {
  setHandler(defineSignal(SET_APART_SIGNAL), () => {
    if (workflowInfo().typedSearchAttributes.get(DIVISION) === undefined)
      upsertSearchAttributes([{ key: DIVISION, value: ACTOR_DIVISION }]);
  });
  return CancellationScope.nonCancellable(keep);
}
