/**
 * The search attribute that separates actors from runs (ARCHITECTURE.md §4). Temporal's own schedules use it for their
 * workflows. Lists, counts and batches leave out workflows with the attribute unless the query names it.
 */

import { DEFINITION_WORKFLOW, HOOK_WORKFLOW, ORGANIZATION_WORKFLOW, VERSION_WORKFLOW } from './actors.ts';
import { SYNC_WORKFLOW } from './definitions/sync.ts';
import { LIMITER_WORKFLOW } from './limits/limiter.ts';
import { AUDIT_WORKFLOW } from './organization/audit.ts';
import { INBOX_WORKFLOW } from './organization/inbox.ts';
import { DEBOUNCE_WORKFLOW } from './triggers/debounce.ts';
import { TRIGGER_WORKFLOW } from './triggers/trigger.ts';

export const NAMESPACE_DIVISION_ATTRIBUTE = 'TemporalNamespaceDivision';
export const ACTOR_NAMESPACE_DIVISION = 'signalbox';

/** Signal: an actor that was started without the attribute takes it on. */
export const SET_DIVISION_SIGNAL = 'setApart';

/** Actors that store something. They ignore cancellation, and know the signal. */
export const STORED_WORKFLOWS = [
  DEFINITION_WORKFLOW,
  VERSION_WORKFLOW,
  TRIGGER_WORKFLOW,
  HOOK_WORKFLOW,
  LIMITER_WORKFLOW,
  ORGANIZATION_WORKFLOW,
  AUDIT_WORKFLOW,
  INBOX_WORKFLOW,
  SYNC_WORKFLOW,
  DEBOUNCE_WORKFLOW,
] as const;
