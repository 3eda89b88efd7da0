import { describe, expect, it } from 'vitest';
import { check } from '../../../src/check/check.ts';
import { parseDocument } from '../../../src/definition/document/parse.ts';
import { manual } from '../../../src/gateway/manual/manual.ts';
import { routes } from '../../../src/gateway/route-table.ts';
import { isObject, type JsonObject } from '../../../src/json/json.ts';
import type { StepKind } from '../../../src/steps/kind.ts';
import { kinds } from '../../../src/steps/kinds/table.ts';
import { END_TARGET } from '../../../src/steps/ports.ts';

const pages = manual(routes);

/** The example as a step of a definition whose targets exist, inside a loop if the step leaves one. */
function around({ type, example }: StepKind): JsonObject {
  const targets = Object.values(example.nextSteps ?? {}).filter((target) => target !== END_TARGET);
  const steps: JsonObject = Object.fromEntries(
    targets.map((name) => [name, { stepType: 'checkpoint', config: { name } }]),
  );
  steps['a_step'] = example as unknown as JsonObject;
  if (type === 'break') steps['each'] = { stepType: 'loop', config: { items: [1] }, nextSteps: { loop: 'a_step' } };
  const config = { variables: { limit: 1, page: 1 }, secrets: { PAYMENTS_KEY: 'payments' } };
  return { name: 'Example', start: type === 'break' ? 'each' : 'a_step', config, steps };
}

describe('the examples of the manual', () => {
  it.each(kinds.map((kind) => [kind.type, kind] as const))('%s: the checker takes it', (_type, kind) => {
    // An example reads steps that it does not show.
    const told = check(around(kind)).problems.filter(({ code }) => code !== 'unknown_step');
    expect(told).toEqual([]);
  });

  it('are whole definitions where they look like one', () => {
    const blocks = [...pages.values()].flatMap(({ markdown }) =>
      [...markdown.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => parseDocument(text)),
    );
    const definitions = blocks.flatMap((block) =>
      'document' in block && isObject(block.document.json) && block.document.json['steps'] !== undefined
        ? [block.document]
        : [],
    );
    expect(definitions.length).toBeGreaterThan(0);
    for (const definition of definitions) expect(check(definition).problems).toEqual([]);
  });
});
