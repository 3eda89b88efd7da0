/**
 * The actor `hook.{org}.{path}`: which trigger answers at a webhook path, and how its deliveries are checked and read
 * (ARCHITECTURE.md §4). A path belongs to one workflow's definition, or to one trigger that was made through the API.
 * After it is freed, it rests for a day before another workflow may take it, so that deliveries meant for the former
 * workflow do not start the new one. The actor ends when nobody has owned the path for that time.
 */
import {
  type ClaimHook,
  type ConfigureHook,
  type FreeHook,
  HOOK_CLAIM_MS,
  HOOK_RESERVATION_MS,
  type HookOwner,
  type HookStart,
  type HookState,
} from '../../src/contract/actors.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { type Actor, type AnsweredChange, type Operation, type Refusal, refuse } from './actor.ts';

interface Hook {
  readonly hook: HookState;
  /** Since when nobody owns the path: the start of this execution where there was no owner then. */
  readonly unownedSince: number;
}

const claim: Operation<Hook, ClaimHook, HookState> = (state, request, now) => {
  const { hook } = state;
  return (
    pathTakenRefusal(hook, request, now) ??
    updateHook(state, now, {
      owner: ownerOf(request, now),
      revision: revisionOf(hook, request),
      config: isSameOwner(hook.owner, request) ? hook.config : null,
    })
  );
};

const configure: Operation<Hook, ConfigureHook, HookState> = (state, request, now) => {
  const { hook } = state;
  const taken = pathTakenRefusal(hook, request, now);
  if (taken !== undefined) return taken;
  if (request.revision < revisionOf(hook, request)) return { state, answer: hook };
  const { revision, config } = request;
  return updateHook(state, now, { owner: ownerOf(request, now), revision, config, freed: null });
};

const free: Operation<Hook, FreeHook, HookState> = (state, request, now) => {
  const { hook } = state;
  if (!isSameOwner(hook.owner, request)) return { state, answer: hook };
  // No definition followed the claim: it counts as never made, and the path does not rest.
  if (hook.config === null) return updateHook(state, now, { owner: null });
  if (request.revision < hook.revision) return { state, answer: hook };
  const freed = { ...namesOf(request), at: now };
  return updateHook(state, now, { owner: null, revision: request.revision, config: null, freed });
};

function updateHook(state: Hook, now: number, change: Partial<HookState>): AnsweredChange<Hook, HookState> {
  const hook = { ...state.hook, ...change };
  const isFreed = hook.owner === null && state.hook.owner !== null;
  return {
    state: { hook, unownedSince: isFreed ? now : state.unownedSince },
    answer: hook,
    effects: [{ type: 'memo', fields: { hook } }],
  };
}

/** The refusal where another owner has the path, or had it less than a day ago. */
function pathTakenRefusal(
  { path, owner, config, freed }: HookState,
  request: HookOwner,
  now: number,
): Refusal | undefined {
  const isHeld = owner !== null && (config !== null || now < owner.at + HOOK_CLAIM_MS);
  if (isHeld && !isSameOwner(owner, request))
    return refuse('path_taken', `The webhook path ${path} belongs to workflow ${owner.workflow}. Choose another path.`);
  if (owner !== null || freed === null || freed.workflow === request.workflow) return undefined;
  const restsUntil = freed.at + HOOK_RESERVATION_MS;
  if (now >= restsUntil) return undefined;
  const until = new Date(restsUntil).toISOString();
  return refuse(
    'path_resting',
    `The webhook path ${path} was given up by workflow ${freed.workflow} and rests until ${until}.`,
  );
}

/** Revisions count within one owner: they begin again when another one takes the path. */
const revisionOf = ({ owner, freed, revision }: HookState, request: HookOwner): number =>
  isSameOwner(owner ?? freed, request) ? revision : 0;

const isSameOwner = (owner: HookOwner | null, other: HookOwner): boolean =>
  owner !== null && owner.workflow === other.workflow && owner.api === other.api;

const namesOf = ({ workflow, api }: HookOwner): HookOwner => omitUndefined({ workflow, api });

const ownerOf = (request: ClaimHook, now: number): NonNullable<HookState['owner']> => ({
  ...namesOf(request),
  trigger: request.trigger,
  at: now,
});

export const hookActor: Actor<HookStart, Hook> = {
  begin: ({ path, carried }, { now }) => ({
    hook: carried?.hook ?? { path, owner: null, revision: 0, config: null, freed: null },
    unownedSince: now,
  }),
  carry: ({ hook }) => ({ hook }),
  updates: { claim, configure, free },
  next: ({ hook, unownedSince }, now) => {
    if (hook.owner !== null) return 'wait';
    const at = unownedSince + HOOK_RESERVATION_MS;
    return now < at ? { at } : 'end';
  },
};
