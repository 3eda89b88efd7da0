import { describe, expect, it } from 'vitest';
import { definitionHash } from '../../src/definition/document/canonical.ts';
import {
  triggerSecretsOf,
  withCurrentTriggerSecrets,
  withTriggerSecrets,
} from '../../src/definition/document/trigger-secrets.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import type { JsonObject } from '../../src/json/json.ts';

const named = (configs: { [trigger: string]: JsonObject }): Definition => ({
  name: 'Hooked',
  slug: 'hooked',
  triggers: Object.entries(configs).map(([name, config]) => ({ name, type: 'webhook', config })),
  steps: {},
});
const old = { secret: { secretRef: 'old' } };
const both = { secrets: [{ secretRef: 'old' }, { secretRef: 'new' }] };

describe('secrets of triggers', () => {
  it('stand beside the definition, and are no part of its hash', () => {
    const definition = named({ in: { path: 'a', ...old }, open: { path: 'b' } });
    expect(triggerSecretsOf(definition)).toEqual({ in: old });
    const rotated = withTriggerSecrets(definition, { in: both });
    expect(rotated).toEqual(named({ in: { path: 'a', ...both }, open: { path: 'b' } }));
    expect(definitionHash(rotated)).toBe(definitionHash(definition));
    expect(withTriggerSecrets(definition, {})).toEqual(named({ in: { path: 'a' }, open: { path: 'b' } }));
  });

  it('come with no version of before: only a trigger that has none by now brings its own', () => {
    const before = named({ in: { path: 'a', ...old }, gone: { path: 'b', ...old } });
    expect(withCurrentTriggerSecrets(before, { in: both, other: old })).toEqual(
      named({ in: { path: 'a', ...both }, gone: { path: 'b', ...old } }),
    );
  });
});
