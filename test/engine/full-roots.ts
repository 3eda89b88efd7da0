/** Full roots at random places of a generated definition, for properties: stored values must not change. */

import fc from 'fast-check';
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import type { Json } from '../../src/json/json.ts';

const ROOTS = ['variables', 'steps', 'outputs', 'state', 'loop', 'input', 'lastOutput', 'item', 'error', 'execution'];
const FORMS = [
  (root: string) => `{{ ${root} }}`,
  (root: string) => `{{ [${root}, 1] }}`,
  (root: string) => `{{ {whole: ${root}} }}`,
  (root: string) => `{{ ${root} ?: 'none' }}`,
  (root: string) => ({ within: [`{{ ${root} }}`] }),
];

export interface RootReference {
  readonly root: string;
  readonly form: number;
  readonly kept: 'variable' | 'list' | 'output' | 'state' | 'all';
}

const place: fc.Arbitrary<RootReference> = fc.record({
  root: fc.constantFrom(...ROOTS, 'variables', 'steps', 'outputs', 'state', 'loop'),
  form: fc.nat(FORMS.length - 1),
  kept: fc.constantFrom('variable', 'list', 'output', 'state', 'all'),
});

/** One for each step that can hold one, used again from the beginning where there are more of these. */
export const rootReferences = fc.array(place, { minLength: 1, maxLength: 8 });

const wholeOf = ({ root, form }: RootReference): Json => FORMS[form]!(root);

/** The same definition, with full roots in values, outputs, state, carries, rollbacks and results. */
export function withRoots(definition: Definition, chosen: readonly RootReference[]): Definition {
  const steps = Object.entries(definition.steps).map(([slug, step], n): [string, StepDefinition] => {
    const at = chosen[n % chosen.length]!;
    return [slug, { ...written(step, at), ...kept(slug, step, at) }];
  });
  return { ...definition, steps: Object.fromEntries(steps), output: wholeOf(chosen[0]!) };
}

function written(step: StepDefinition, place: RootReference): StepDefinition {
  const config = step.config ?? {};
  const value = wholeOf(place);
  switch (step.stepType) {
    case 'set':
      if (place.kept === 'list')
        return {
          ...step,
          config: {
            values: [
              { name: 'last', value },
              { name: 'seen', value: '{{ variables }}' },
            ],
          },
        };
      return { ...step, config: { values: place.kept === 'all' ? '{{ variables }}' : { last: value } } };
    case 'mapping':
    case 'finish':
    case 'return':
      return { ...step, config: { output: value } };
    case 'http':
      return {
        ...step,
        config: { ...config, method: 'POST', body: value },
        ...(step.rollback === undefined ? {} : { rollback: { ...step.rollback, config: { ...config, body: value } } }),
      };
    case 'loop':
      return { ...step, config: { ...config, initial: value, result: '{{ [loop, steps] }}' } };
    case 'break':
      return { ...step, config: { value } };
    default:
      return step;
  }
}

function kept(slug: string, step: StepDefinition, place: RootReference): Partial<StepDefinition> {
  const isEffect = step.stepType === 'http' || step.stepType === 'mapping';
  if (place.kept === 'output') return { outputVariable: slug };
  return place.kept === 'state' && isEffect ? { saveToState: { kept: `{now: [${place.root}, output]}` } } : {};
}
