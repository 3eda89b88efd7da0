/** Decisions of approvals: in the trace, and as values by which lists find the run. */

import type { MadeDecision } from '../../contract/run.ts';
import { addDecision, decidedResource, deciderValue, verdictValue } from '../../contract/search-attributes.ts';
import { jsonBytes } from '../../json/bytes.ts';
import type { Core } from '../state/core.ts';
import { charge } from '../state/space.ts';

export function recordDecision(core: Core, path: string, decision: MadeDecision): void {
  core.trace?.({ t: 'decided', path, decision });
  if (!core.program.isMarked('decided')) return;
  const { state } = core;
  const { status, voters, resourceType, resourceId } = decision;
  const before = state.decided ?? [];
  const after = addDecision(before, [
    verdictValue(status),
    ...voters.map(deciderValue),
    ...(resourceType === undefined ? [] : [decidedResource(resourceType, resourceId)]),
  ]);
  if (after === before) return;
  charge(core, jsonBytes([...after.slice(before.length)]) + NAME_BYTES);
  state.decided = after;
}

/** `"decided":[],` */
const NAME_BYTES = 13;
