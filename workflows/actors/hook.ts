/**
 * The actor `hook.{org}.{path}`: which trigger answers at a webhook path, and how its deliveries are checked and read
 * (ARCHITECTURE.md §4). A path belongs to one workflow's definition, or to one trigger that was made through the API; freed, it rests a day before another workflow may take it, so that
 * deliveries meant for the former do not start the latter. An actor that nobody owns ends after that rest.
 */
import { allHandlersFinished, condition, upsertMemo } from '@temporalio/workflow';
import {
  type ClaimHook,
  type ConfigureHook,
  type FreeHook,
  HOOK_CLAIM_MS,
  HOOK_REST_MS,
  type HookOwner,
  type HookStart,
  type HookState,
} from '../../src/contract/actors.ts';
import { becomeNew, isFull, refuse, stored, writes } from './actor.ts';

export function hook(start: HookStart): Promise<void> {
  return stored(() => keepHook(start));
}

async function keepHook(start: HookStart): Promise<void> {
  let state: HookState = start.carried?.hook ?? {
    path: start.path,
    owner: null,
    revision: 0,
    config: null,
    freed: null,
  };
  const taken = writes(start.carried?.answers ?? []);
  const become = (next: HookState): HookState => {
    state = next;
    upsertMemo({ hook: state });
    return state;
  };

  const isHeld = () => state.owner !== null && (state.config !== null || Date.now() < state.owner.at + HOOK_CLAIM_MS);
  const ownerOf = (request: ClaimHook) => ({ ...namedOwner(request), trigger: request.trigger, at: Date.now() });
  /** Revisions count within one owner: another one that takes the path begins anew. */
  const revisionOf = (request: HookOwner) => (isSame(state.owner ?? state.freed, request) ? state.revision : 0);
  const mayTake = (request: ClaimHook) => {
    if (state.owner !== null && !isSame(state.owner, request) && isHeld()) {
      refuse(
        'path_taken',
        `The webhook path ${start.path} belongs to workflow ${state.owner.workflow}. Choose another path.`,
      );
    }
    const { freed } = state;
    if (
      state.owner === null &&
      freed !== null &&
      freed.workflow !== request.workflow &&
      Date.now() < freed.at + HOOK_REST_MS
    ) {
      const until = new Date(freed.at + HOOK_REST_MS).toISOString();
      refuse(
        'path_resting',
        `The webhook path ${start.path} was given up by workflow ${freed.workflow} and rests until ${until}.`,
      );
    }
  };

  taken.on<ClaimHook, HookState>('claim', mayTake, (request) => {
    const owner = ownerOf(request);
    const revision = revisionOf(request);
    const config = isSame(state.owner, request) ? state.config : null;
    return become({ ...state, owner, revision, config });
  });

  taken.on<ConfigureHook, HookState>('configure', mayTake, (request) => {
    if (request.revision < revisionOf(request)) return state;
    const owner = ownerOf(request);
    return become({ ...state, owner, revision: request.revision, config: request.config, freed: null });
  });

  taken.on<FreeHook, HookState>(
    'free',
    () => undefined,
    (request) => {
      if (!isSame(state.owner, request)) return state;
      // A claim that never answered is taken back as if it had not been made.
      if (state.config === null) return become({ ...state, owner: null });
      if (request.revision < state.revision) return state;
      const freed = { ...namedOwner(request), at: Date.now() };
      return become({ ...state, owner: null, revision: request.revision, config: null, freed });
    },
  );

  for (;;) {
    const owned = () => state.owner !== null;
    const moved = await (owned()
      ? condition(() => !owned() || isFull(start.historyLimit)).then(() => true)
      : condition(() => owned() || isFull(start.historyLimit), HOOK_REST_MS));
    if (!moved || isFull(start.historyLimit)) break;
  }
  await condition(allHandlersFinished);
  if (!isFull(start.historyLimit) && state.owner === null) return;
  await becomeNew<typeof hook>({ ...start, carried: { hook: state, answers: taken.answers() } });
}

const isSame = (owner: HookOwner | null, other: HookOwner): boolean =>
  owner !== null && owner.workflow === other.workflow && owner.api === other.api;

const namedOwner = ({ workflow, api }: HookOwner): HookOwner => (api === undefined ? { workflow } : { workflow, api });
