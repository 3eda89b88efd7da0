/** Starts a child run (ARCHITECTURE.md §3), with the memo and attributes that lists show before its first task. */

import { TypedSearchAttributes } from '@temporalio/common';
import { type ChildWorkflowHandle, type ChildWorkflowOptions, startChild } from '@temporalio/workflow';
import { RUN_WORKFLOW, type RunInput, type RunMemo } from '../../src/contract/run/run.ts';
import { attributeValue, attributeValues } from '../../src/contract/search-attributes.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import type { ResolvedWorkflow } from '../../src/engine/state/child-run.ts';
import type { Command } from '../../src/engine/state/protocol.ts';
import type { Json } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { runAttributeKeys } from './visibility.ts';

/** Temporal takes 400 bytes of a summary. */
const SUMMARY_LENGTH = 190;

export type ChildCommand = Extract<Command, { type: 'child' }>;

type Run = (input: RunInput) => Promise<Json>;

/** The run that starts the child. */
export interface Parent {
  readonly executionId: string;
  readonly organizationId: string;
  readonly depth: number;
  /** Limiters at which the parent and its ancestors hold a lease. */
  readonly within: readonly string[];
  readonly initiator?: string;
  readonly requesters?: readonly string[];
}

/**
 * Starts the child, and resolves when it runs. The handle resolves when the child closes, if this execution still runs
 * then. The child is abandoned: it outlives this execution, and reports by a signal.
 */
export function startChildRun(
  parent: Parent,
  command: ChildCommand,
  { definition, hash, light, input: accepted = command.input }: ResolvedWorkflow,
): Promise<ChildWorkflowHandle<Run>> {
  const trigger = { type: 'subworkflow', id: parent.executionId, metadata: { path: command.id } } as const;
  const input: RunInput = {
    definition,
    input: accepted,
    organizationId: parent.organizationId,
    trigger,
    hash,
    parentId: parent.executionId,
    depth: parent.depth + 1,
    ...(parent.within.length === 0 ? {} : { within: parent.within }),
    ...omitUndefined({ initiator: parent.initiator, requesters: parent.requesters, light }),
    ...(command.wait === false ? {} : { notify: { workflowId: parent.executionId, path: command.id } }),
  };
  const options: ChildWorkflowOptions = {
    workflowId: command.executionId,
    parentClosePolicy: 'ABANDON',
    cancellationType: 'ABANDON',
    // After a retry or a reset of this run, a child that runs or has completed is not started again.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
    memo: memoOf(input, definition),
    typedSearchAttributes: attributesOf(parent, definition, trigger),
    staticSummary: definition.name.slice(0, SUMMARY_LENGTH),
  };
  return startChild<Run>(RUN_WORKFLOW, { ...options, args: [input] });
}

function memoOf(input: RunInput, definition: Definition): Record<string, unknown> {
  const memo: Omit<RunMemo, 'startedAt'> = {
    workflow: definition.slug,
    ...omitUndefined({ version: definition.version, hash: input.hash }),
    organizationId: input.organizationId ?? '',
    status: 'pending',
    waitingFor: [],
    unread: 0,
    trigger: { type: 'subworkflow', ...omitUndefined({ id: input.parentId }) },
    ...omitUndefined({ initiator: input.initiator, parentId: input.parentId }),
  };
  return { ...memo };
}

function attributesOf(
  parent: Parent,
  definition: Definition,
  trigger: { readonly type: string; readonly id: string },
): TypedSearchAttributes {
  const tags = attributeValues(definition.tags ?? []);
  return new TypedSearchAttributes([
    { key: runAttributeKeys.org, value: attributeValue(parent.organizationId) },
    { key: runAttributeKeys.workflow, value: attributeValue(definition.slug) },
    { key: runAttributeKeys.status, value: 'pending' },
    { key: runAttributeKeys.triggerType, value: trigger.type },
    { key: runAttributeKeys.trigger, value: attributeValue(trigger.id) },
    { key: runAttributeKeys.started, value: new Date() },
    // An employee's workflow runs in its name.
    ...(definition.type === 'employee'
      ? [{ key: runAttributeKeys.employee, value: attributeValue(definition.slug) }]
      : []),
    ...(tags.length === 0 ? [] : [{ key: runAttributeKeys.tags, value: tags }]),
  ]);
}
