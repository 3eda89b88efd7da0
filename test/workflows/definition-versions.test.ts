// Which versions a definition's actor keeps for runs that name one by its hash.
import { describe, expect, it } from 'vitest';
import type { DefinitionStart, PutDefinition } from '../../src/contract/actors.ts';
import { versionDigest } from '../../src/contract/definitions/version-digest.ts';
import { type ActorSnapshot, continueAsNewStart, isRefusal } from '../../workflows/actors/actor.ts';
import { definitionActor } from '../../workflows/actors/definition.ts';
import type { DefinitionActorState } from '../../workflows/actors/definition-state.ts';

const START: DefinitionStart = { organizationId: 'o', slug: 'w', historyLimit: 100 };
const BIRTH = { now: 0, workflowId: 'def.o.w', runId: 'first' };
const hashOf = (n: number): string => `sha256:${n.toString(16).padStart(8, '0').repeat(8)}`;

function put(state: DefinitionActorState, n: number, notes?: string) {
  const request: PutDefinition = {
    key: `k${n}`,
    hash: hashOf(n),
    name: 'w',
    enabled: true,
    tags: [],
    hooks: [],
    source: 'update',
    ...(notes === undefined ? {} : { notes }),
  };
  const taken = definitionActor.updates?.['put']?.(state, request as never, n);
  if (taken === undefined || isRefusal(taken)) throw new Error('The write was refused.');
  return taken as { state: DefinitionActorState; answer: { lacksOlder?: true } };
}

const begun = (): DefinitionActorState => definitionActor.begin(START, BIRTH);
const written = (count: number, from = begun()): DefinitionActorState => {
  let state = from;
  for (let n = 0; n < count; n++) state = put(state, n).state;
  return state;
};
const holds = ({ changes, older }: DefinitionActorState, n: number): boolean =>
  changes.some(({ hash }) => hash === hashOf(n)) || older.includes(versionDigest(hashOf(n)));
const carriedOf = (state: DefinitionActorState): DefinitionStart => {
  const live: ActorSnapshot<DefinitionActorState> = { state, answers: [] };
  return JSON.parse(JSON.stringify(continueAsNewStart(definitionActor, START, live)));
};

describe("a definition's actor", () => {
  it('holds the first version after 5,001 changes, also when it has continued as new', () => {
    const state = written(5_001);
    expect(state.changes).toHaveLength(4_000);
    expect(state.changes.some(({ hash }) => hash === hashOf(0))).toBe(false);
    expect(holds(state, 0)).toBe(true);
    const next = definitionActor.begin(carriedOf(state), BIRTH);
    for (const n of [0, 1, 4_999, 5_000]) expect(holds(next, n), String(n)).toBe(true);
    expect(holds(next, 5_001)).toBe(false);
    expect(next.lacksOlder).toBe(false);
  });

  it('holds 8,000 versions of removed changes, each once, and forgets the oldest after that', () => {
    // The first hundred are written again and again: 4,200 changes are removed, of 4,100 versions.
    let state = written(4_100);
    for (let n = 0; n < 4_100; n++) state = put(state, n % 100).state;
    expect(state.older).toHaveLength(4_100);
    const many = { ...state, older: Array.from({ length: 8_000 }, (_, n) => versionDigest(hashOf(100_000 + n))) };
    const after = put(many, 5_070).state;
    expect(after.older).toHaveLength(8_000);
    expect(holds(after, 100_000)).toBe(false);
    expect(holds(after, 100_001)).toBe(true);
  });

  it('carries as many changes and versions as it keeps in one payload', () => {
    const notes = '"'.repeat(500);
    let state = begun();
    for (let n = 0; n < 600; n++) state = put(state, n, notes).state;
    const full = { ...state, older: Array.from({ length: 8_000 }, (_, n) => versionDigest(hashOf(100_000 + n))) };
    // The payload also has the remembered answers, of 300,000 characters at most.
    expect(Buffer.byteLength(JSON.stringify(carriedOf(full)))).toBeLessThan(1_400_000);
  });

  it('of an earlier version asks for what it may have removed, and holds it then', () => {
    const state = written(5_001);
    const {
      older: _older,
      lacksOlder: _lacks,
      ...earlier
    } = carriedOf(state).carried as NonNullable<DefinitionStart['carried']>;
    const restored = definitionActor.begin({ ...START, carried: earlier }, BIRTH);
    expect(holds(restored, 0)).toBe(false);
    const { state: lacking, answer } = put(restored, 6_000);
    expect(answer.lacksOlder).toBe(true);
    const request = { key: 'r', hashes: [hashOf(0), hashOf(0)] };
    const recorded = definitionActor.updates?.['recordVersions']?.(lacking, request as never, 0);
    if (recorded === undefined || isRefusal(recorded)) throw new Error('The versions were refused.');
    expect(recorded.answer).toEqual({ recorded: [versionDigest(hashOf(0))] });
    const after = recorded.state as DefinitionActorState;
    // The first change of the earlier state was removed by this write.
    expect(restored.changes[0]?.hash).toBe(hashOf(1_001));
    expect([0, 1_001, 6_000].map((n) => holds(after, n))).toEqual([true, true, true]);
    expect(put(after, 6_001).answer.lacksOlder).toBeUndefined();
  });

  it('of an earlier version with few changes has removed none', () => {
    const {
      older: _older,
      lacksOlder: _lacks,
      ...earlier
    } = carriedOf(written(3)).carried as NonNullable<DefinitionStart['carried']>;
    expect(put(definitionActor.begin({ ...START, carried: earlier }, BIRTH), 3).answer.lacksOlder).toBeUndefined();
  });
});

describe('the digest of a version', () => {
  it('is the first 192 bits of its hash as base64url', () => {
    const hash = `sha256:${'0123456789abcdef'.repeat(4)}`;
    const bytes = Buffer.from('0123456789abcdef'.repeat(4), 'hex');
    expect(versionDigest(hash)).toBe(bytes.subarray(0, 24).toString('base64url'));
    expect(versionDigest(hash)).toHaveLength(32);
  });
});
