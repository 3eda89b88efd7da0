import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { actionTypes } from '../../src/steps/kinds/built-in-actions.ts';
import { kindOf, kinds } from '../../src/steps/kinds/table.ts';
import { parse } from './kind-driver.ts';

describe('the table of kinds', () => {
  it('has every name once', () => {
    const names = kinds.flatMap((kind) => [kind.type, ...(kind.aliases ?? [])]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('finds a kind by its type and by its aliases', () => {
    expect(kindOf('return')?.type).toBe('finish');
    expect(kindOf('starting_step')?.type).toBe('trigger');
    expect(kindOf('constructor')).toBeUndefined();
  });

  describe.each(kinds.map((kind) => [kind.type, kind] as const))('%s', (_type, kind) => {
    it('has an example that its schema takes and that can be planned', () => {
      const { example } = kind;
      expect(kindOf(example.stepType)).toBe(kind);
      expect(kind.schema().safeParse(example.config ?? {}).error).toBeUndefined();
      expect(() => kind.plan(example.config ?? {}, parse, example)).not.toThrow();
    });

    it('has an example that wires only ports that it can give', () => {
      const { names, body } = kind.ports(kind.example);
      for (const port of Object.keys(kind.example.nextSteps ?? {})) {
        expect(body === 'any' || ['error', 'skipped', ...names].includes(port), port).toBe(true);
      }
    });

    it('has a JSON Schema in which every field of the config is described', () => {
      const schema = z.toJSONSchema(kind.schema(), { io: 'input' });
      const variants = schema.anyOf ?? [schema];
      for (const variant of variants) {
        for (const [name, member] of Object.entries((variant as z.core.JSONSchema.ObjectSchema).properties ?? {})) {
          expect((member as { description?: string }).description, `${kind.type}.${name}`).toMatch(/\w/);
        }
      }
    });

    it('refuses members that it does not know', () => {
      expect(kind.schema().safeParse({ ...kind.example.config, nonsense: 1 }).success).toBe(false);
    });

    it('says what it is for', () => {
      expect(kind.summary).toMatch(/\.$/);
      expect(kind.description.length).toBeGreaterThan(40);
      expect(kind.output).not.toBe('');
    });
  });
});

describe('the list of actions', () => {
  it.each(actionTypes.map((action) => [action.type, action] as const))(
    '%s names its activity and its parameters',
    (_type, action) => {
      expect(action.activity).not.toBe('');
      expect(action.schema().safeParse({ nonsense: 1 }).success).toBe(false);
    },
  );
});
