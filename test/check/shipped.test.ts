import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { check } from '../../src/check/check.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { kindOf } from '../../src/steps/kinds/table.ts';

const folder = new URL('../definition/cases/000/', import.meta.url);
const shipped = readdirSync(folder).map(
  (name) => [name, JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as JsonObject] as const,
);

/** The actions that the product of document 000 registered. */
const actions = new Map(
  shipped.flatMap(([, document]) =>
    (document['stepsConfig'] as { stepType: string; config: { type: string } }[])
      .filter(({ stepType }) => stepType === 'action')
      .map(({ config }) => [config.type, { input: z.unknown() }] as const),
  ),
);

const BROKEN: { readonly [name: string]: string } = {
  'circuly_sync_subscriptions.json': '/stepsConfig/8/nextSteps/default unknown_port',
  'loopi_customer_status_assessment.json': '/stepsConfig/4/config/llmNode unknown_member',
};

describe('the 21 definitions of document 000', () => {
  it.each(shipped)('%s', (name, document) => {
    const { problems } = check(document, { actions });
    const isBuilt = (['llm', 'agent'] as const).every((kind) => kindOf(kind) !== undefined);
    const told = problems
      .filter(({ code }) => isBuilt || code !== 'unknown_kind')
      .map(({ pointer, code }) => `${pointer} ${code}`);
    expect(told).toEqual(BROKEN[name] === undefined ? [] : [BROKEN[name]]);
  });

  it('name every action that the host lacks', () => {
    const [, document] = shipped.find(([name]) => name === 'website_scan.json') ?? [];
    const unknown = check(document ?? null).problems.filter(({ code }) => code === 'unknown_action');
    expect(unknown).toHaveLength(
      ((document?.['stepsConfig'] ?? []) as { stepType: string }[]).filter(({ stepType }) => stepType === 'action')
        .length,
    );
  });
});
