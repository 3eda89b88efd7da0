import { describe, expect, it } from 'vitest';
import { toCanonical } from '../../src/compat/dialects.ts';
import { extractSecrets } from '../../src/definition/document/extract-secrets.ts';
import type { Definition } from '../../src/definition/document/types.ts';

const definition = {
  name: 'Orders',
  slug: 'orders',
  triggers: [
    { name: 'Shop hook', type: 'webhook', config: { path: 'shop', scheme: 'github', secret: 'canary-1' } },
    { name: 'two', type: 'webhook', config: { path: 'two', secrets: ['canary-2', { secretRef: 'kept' }] } },
    { name: 'daily', type: 'schedule', config: { cron: '0 9 * * *' } },
  ],
  steps: { a: { stepType: 'trigger' } },
} satisfies Definition;

describe('clear secrets in a definition', () => {
  it('become references with names of their place', () => {
    const { document: taken, secrets } = extractSecrets(definition);
    expect(secrets).toEqual([
      { name: 'workflows/orders/triggers/shop-hook/secret', value: 'canary-1' },
      { name: 'workflows/orders/triggers/two/secrets/0', value: 'canary-2' },
    ]);
    const [hook, two] = definition.triggers;
    expect(taken['triggers']).toEqual([
      { ...hook, config: { ...hook?.config, secret: { secretRef: 'workflows/orders/triggers/shop-hook/secret' } } },
      {
        ...two,
        config: {
          ...two?.config,
          secrets: [{ secretRef: 'workflows/orders/triggers/two/secrets/0' }, { secretRef: 'kept' }],
        },
      },
      definition.triggers[2],
    ]);
    expect(JSON.stringify(taken)).not.toContain('canary');
    expect(JSON.stringify(definition)).toContain('canary-1');
  });

  it('are problems at their places where they are too short to be kept out of results', () => {
    const document = {
      name: 'Orders',
      config: { secrets: { 'a/b': { value: '123' }, LONG: { value: '1234' } } },
      triggers: [
        { name: 'one', type: 'webhook', config: { path: 'one', scheme: 'github', secret: '' } },
        { name: 'two', type: 'webhook', config: { path: 'two', scheme: 'hmac', secrets: ['long enough', 'x'] } },
      ],
      steps: { a: { stepType: 'trigger' } },
    };
    expect(toCanonical(document).problems.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['/triggers/0/config/secret', 'secret_too_short'],
      ['/triggers/1/config/secrets/1', 'secret_too_short'],
      ['/config/secrets/a~1b/value', 'secret_too_short'],
    ]);
    const imported = toCanonical({
      workflowConfig: { name: 'Orders', config: { secrets: { KEY: '123' } } },
      stepsConfig: [{ stepSlug: 'a', name: 'A', stepType: 'trigger', order: 1, config: {}, nextSteps: {} }],
    });
    expect(imported.problems).toMatchObject([{ code: 'secret_too_short' }]);
  });

  it('are taken once', () => {
    const once = extractSecrets(definition).document;
    expect(extractSecrets(once)).toEqual({ document: once, secrets: [], problems: [], replacements: [] });
  });

  it('are taken out of config.secrets where they are values, also in dialect 000', () => {
    const canonical = toCanonical({
      name: 'Orders',
      config: { secrets: { KEY: { value: 'canary' }, NAMED: 'a/b' } },
      steps: { a: { stepType: 'trigger' } },
    });
    expect(canonical.definition?.config?.secrets).toEqual({ KEY: 'workflows/orders/secrets/KEY', NAMED: 'a/b' });
    expect(canonical.secrets).toEqual([{ name: 'workflows/orders/secrets/KEY', value: 'canary' }]);
    const imported = toCanonical({
      workflowConfig: { name: 'Orders', config: { secrets: { KEY: 'canary' } } },
      stepsConfig: [{ stepSlug: 'a', name: 'A', stepType: 'trigger', order: 1, config: {}, nextSteps: {} }],
    });
    expect(imported.definition?.config?.secrets).toEqual({ KEY: 'workflows/orders/secrets/KEY' });
    expect(imported.secrets).toEqual([{ name: 'workflows/orders/secrets/KEY', value: 'canary' }]);
  });
});
