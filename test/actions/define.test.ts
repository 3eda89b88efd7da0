import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAction } from '../../src/actions/define.ts';

const spec = { type: 'crm.find', summary: 'Finds.', input: z.object({}), output: z.null(), run: () => null };

describe('defineAction', () => {
  it('has limits where none are given', () => {
    expect(defineAction(spec)).toMatchObject({ type: 'crm.find', isLight: false, timeoutMs: 300_000 });
    expect(defineAction({ ...spec, light: true, timeoutMs: 50 })).toMatchObject({ isLight: true, timeoutMs: 50 });
  });

  it('has its type for a summary where none is given', () => {
    const { summary: _, ...short } = spec;
    expect(defineAction(short)).toMatchObject({ summary: 'crm.find' });
  });

  it.each([
    [{ ...spec, type: 'no spaces' }, /'type' must be a name/],
    [{ ...spec, summary: '' }, /'summary' of crm\.find/],
    [{ ...spec, input: { name: 'string' } as never }, /'input' of crm\.find must be a zod schema/],
    [{ ...spec, output: undefined as never }, /'output' of crm\.find must be a zod schema/],
    [{ ...spec, timeoutMs: 0 }, /'timeoutMs' of crm\.find must be from 1/],
    [{ ...spec, run: undefined as never }, /'run' of crm\.find must be a function/],
  ])('says which member cannot be used (%#)', (wrong, message) => {
    expect(() => defineAction(wrong)).toThrow(message);
  });
});
