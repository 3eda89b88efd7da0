/**
 * The roots that an expression reads in a frame (LANGUAGE.md §3, "Roots"). Values are built only when they are read.
 */
import { traitsOf } from '../../compat/traits.ts';
import { isObject, type Json } from '../../json/json.ts';
import type { Locals } from '../../steps/kind.ts';
import { loopVars } from '../../steps/loop-state.ts';
import type { Program } from '../../steps/program-types.ts';
import { LazyObject, LiveRecord, type Scope } from '../../template/types.ts';
import type { Entry, Frame, LoopRecord, RunState } from '../state/state.ts';

export class FrameScope implements Scope {
  readonly #program: Program;
  readonly #state: RunState;
  readonly #frame: Frame;
  readonly #path: string;
  readonly #locals: Locals | undefined;

  constructor(program: Program, state: RunState, frame: Frame, path: string, locals?: Locals) {
    this.#program = program;
    this.#state = state;
    this.#frame = frame;
    this.#path = path;
    this.#locals = locals;
  }

  root(name: string): unknown {
    if (this.#locals !== undefined && Object.hasOwn(this.#locals, name)) return this.#locals[name];
    const state = this.#state;
    switch (name) {
      case 'steps':
        return stepsOf(state, this.#frame);
      case 'input':
        return state.genesis.input;
      case 'lastOutput':
        return this.#frame.lastOutput;
      case 'loop':
        return loopOf(state, this.#frame);
      case 'item':
        return itemOf(state, this.#frame)?.value;
      case 'index':
        return itemOf(state, this.#frame)?.index;
      case 'state':
        return new LiveRecord(state.state);
      case 'variables':
        return new LiveRecord(state.variables);
      case 'outputs':
        return new LiveRecord(state.outputs);
      case 'organizationId':
        return state.genesis.organizationId;
      case 'execution':
        return executionOf(this.#program, state, this.#path);
      case 'error':
        return errorOf(state, this.#frame);
      case 'now':
        return new Date(state.now).toISOString();
      case 'nowMs':
        return state.now;
      default:
        return lookupBareName(this.#program, state, this.#frame, name);
    }
  }
}

/** §3.4: the entries of the frame, then of its ancestors, never of a sibling. */
function stepsOf(state: RunState, frame: Frame): unknown {
  if (frame.parent === undefined) return new LiveRecord(frame.entries);
  return new LazyObject(
    (slug) => entryOf(state, frame, slug),
    () => {
      const slugs = new Set<string>();
      for (let at: Frame | undefined = frame; at !== undefined; at = parentOf(state, at))
        for (const slug of Object.keys(at.entries)) slugs.add(slug);
      return [...slugs];
    },
  );
}

function entryOf(state: RunState, frame: Frame, slug: string): Entry | undefined {
  for (let at: Frame | undefined = frame; at !== undefined; at = parentOf(state, at)) {
    if (Object.hasOwn(at.entries, slug)) return at.entries[slug];
  }
  return undefined;
}

function parentOf(state: RunState, frame: Frame): Frame | undefined {
  return frame.parent === undefined ? undefined : state.frames[frame.parent];
}

/** §3.7: the innermost open record of this frame, else of the nearest ancestor; if none is open, the last one left. */
function loopOf(state: RunState, frame: Frame): unknown {
  for (let at: Frame | undefined = frame; at !== undefined; at = parentOf(state, at)) {
    if (at.loops.length > 0) return varsOf(state, at, at.loops.length - 1);
  }
  for (let at: Frame | undefined = frame; at !== undefined; at = parentOf(state, at)) {
    if (at.lastLoop !== undefined) return loopVars(at.lastLoop.state, undefined);
  }
  return undefined;
}

function varsOf(state: RunState, frame: Frame, depth: number): unknown {
  const record: LoopRecord = frame.loops[depth]!;
  return loopVars(record.state, () => {
    if (depth > 0) return varsOf(state, frame, depth - 1);
    for (let at = parentOf(state, frame); at !== undefined; at = parentOf(state, at)) {
      if (at.loops.length > 0) return varsOf(state, at, at.loops.length - 1);
    }
    return undefined;
  });
}

function itemOf(state: RunState, frame: Frame): Frame['item'] {
  for (let at: Frame | undefined = frame; at !== undefined; at = parentOf(state, at))
    if (at.item !== undefined) return at.item;
  return undefined;
}

function errorOf(state: RunState, frame: Frame): unknown {
  for (let at: Frame | undefined = frame; at !== undefined; at = parentOf(state, at))
    if (at.error !== null) return at.error;
  return null;
}

/** Names that are not roots: an iteration's `as`, the run's variables, and for some dialects the input's keys. */
function lookupBareName(program: Program, state: RunState, frame: Frame, name: string): unknown {
  for (let at: Frame | undefined = frame; at !== undefined; at = parentOf(state, at))
    if (at.item?.as === name) return at.item.value;
  if (Object.hasOwn(state.variables, name)) return state.variables[name];
  if (traitsOf(program.definition.dialect).readsInputKeys) {
    const input: Json = state.genesis.input;
    if (isObject(input) && Object.hasOwn(input, name)) return input[name];
  }
  return undefined;
}

function executionOf(program: Program, state: RunState, path: string): unknown {
  const { genesis } = state;
  const { trigger } = genesis;
  return {
    id: genesis.executionId,
    path,
    workflow: program.definition.slug,
    version: program.definition.version ?? null,
    hash: genesis.hash ?? null,
    startedAt: new Date(genesis.startedAt).toISOString(),
    parentId: genesis.parentId ?? null,
    trigger: { type: trigger.type, id: trigger.id ?? null, metadata: trigger.metadata ?? null },
  };
}
