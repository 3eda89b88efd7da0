/** Cases of the compiler of agent-ops (../shared/cases): what it takes, refuses, and calls its steps. */
import { expect, it } from 'vitest';
import { toCanonical } from '../../src/compat/dialects.ts';
import { definitionHash } from '../../src/definition/document/canonical.ts';
import { agentOpsCases, describeSharedCases } from '../support/shared-cases.ts';

describeSharedCases('the cases of agent-ops', () => {
  it.each(agentOpsCases)('$name ($source)', (one) => {
    const { definition, problems } = toCanonical(one.definition, '002');
    const isOk = (one.actual?.ok ?? one.stated.ok ?? true) && !isEmpty(one.definition);
    expect(problems.map(({ message }) => message)).toHaveLength(isOk ? 0 : problems.length);
    expect(definition !== undefined).toBe(isOk);
    for (const stated of one.stated.errorsInclude ?? [])
      expect(problems.some(({ message }) => message.includes(stated))).toBe(true);
    // Their order sorts the steps of a list by name; a walk takes them as written.
    const order = one.actual?.stepOrder;
    if (definition === undefined || order === undefined || new Set(order).size < order.length) return;
    const names = Object.entries(definition.steps).map(([slug, step]) => step.name ?? slug);
    expect(names.sort()).toEqual([...order].sort());
  });

  it('have one hash for another order of keys', () => {
    const hashes = agentOpsCases
      .filter(({ sameHashGroup }) => sameHashGroup === 'key-order')
      .map(({ definition }) => definitionHash(toCanonical(definition).definition!));
    expect(hashes).toHaveLength(2);
    expect(new Set(hashes).size).toBe(1);
  });
});

/** Their compiler takes a workflow without steps; nothing could be run of it. */
const isEmpty = (document: unknown): boolean => JSON.stringify(document) === '{"steps":[]}';
