import { describe, expect, it } from 'vitest';
import { checkpoint } from '../../src/steps/kinds/checkpoint.ts';
import { fail } from '../../src/steps/kinds/fail.ts';
import { finish } from '../../src/steps/kinds/finish.ts';
import { mapping } from '../../src/steps/kinds/mapping.ts';
import { removed } from '../../src/steps/kinds/removed.ts';
import { set } from '../../src/steps/kinds/set.ts';
import { switchKind } from '../../src/steps/kinds/switch.ts';
import { trigger } from '../../src/steps/kinds/trigger.ts';
import { begin, Driven } from './kind-driver.ts';

describe('trigger', () => {
  const roots = {
    input: { orderId: 'A7' },
    execution: { startedAt: '2026-01-15T10:30:00.000Z', trigger: { type: 'webhook', id: 't1', metadata: null } },
  };

  it('hands on the input and says what started the run', () => {
    expect(begin(trigger, {}, { roots })).toEqual({
      do: 'end',
      port: 'success',
      data: { orderId: 'A7' },
      meta: { trigger: { type: 'webhook', id: 't1', metadata: null, receivedAt: '2026-01-15T10:30:00.000Z' } },
    });
  });

  it.each([
    [{ orderId: 'number' }],
    [[{ name: 'orderId', type: 'number', required: true }]],
    [[{ name: 'customer', required: true }]],
  ])('refuses an input that does not fit %j', (inputs) => {
    expect(() => begin(trigger, { inputs }, { roots })).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });

  it('takes one that fits', () => {
    expect(begin(trigger, { inputs: [{ name: 'orderId', type: 'string', required: true }] }, { roots })).toMatchObject({
      do: 'end',
    });
  });
});

describe('switch', () => {
  const config = {
    value: '{{ input.v }}',
    cases: { 3: 'three', true: 'yes', null: 'none', high: 'page' },
    default: 'other',
  };
  it.each([
    [3, 'three'],
    ['3', 'three'],
    [true, 'yes'],
    [null, 'none'],
    ['high', 'page'],
    ['constructor', 'other'],
    [{ a: 1 }, 'other'],
  ])('%j goes to %s', (v, port) => {
    expect(begin(switchKind, config, { roots: { input: { v } } })).toEqual({ do: 'end', port, data: v });
  });

  it('has the ports that its cases name, and the default', () => {
    expect(switchKind.ports({ stepType: 'switch', config })).toEqual({
      normal: 'other',
      names: ['three', 'yes', 'none', 'page', 'other'],
    });
  });

  it('may not lead to the port error', () => {
    expect(() => begin(switchKind, { value: 1, cases: { 1: 'error' } })).toThrow(
      expect.objectContaining({ code: 'reserved_port', at: '/cases/1' }),
    );
  });
});

describe('set', () => {
  const roots = { page: 1 };

  it('evaluates an object at once: no value sees another', () => {
    const driven = new Driven(set, { values: { page: '{{ page + 1 }}', before: '{{ page }}' } }, { roots });
    expect(driven.begin()).toMatchObject({ port: 'success', data: { page: 2, before: 1 } });
    expect(driven.assigned).toEqual([
      ['variables', 'page', 2],
      ['variables', 'before', 1],
    ]);
  });

  it('evaluates a list in order: each value sees those before it', () => {
    const values = [
      { name: 'page', value: '{{ page + 1 }}' },
      { name: 'text', value: 'page {{ page }}' },
    ];
    expect(begin(set, { values }, { roots })).toMatchObject({ data: { page: 2, text: 'page 2' } });
  });

  it('writes the state', () => {
    const driven = new Driven(set, { target: 'state', values: { attempts: 3 } });
    driven.begin();
    expect(driven.assigned).toEqual([['state', 'attempts', 3]]);
  });

  it('takes an object that a template makes, and refuses what is none', () => {
    expect(begin(set, { values: '{{ patch }}' }, { roots: { patch: { a: 1 } } })).toMatchObject({ data: { a: 1 } });
    expect(() => begin(set, { values: '{{ patch }}' }, { roots: { patch: 4 } })).toThrow(
      expect.objectContaining({ code: 'invalid_config' }),
    );
  });
});

describe('mapping, checkpoint, removed', () => {
  it('a mapping makes a value', () => {
    expect(
      begin(
        mapping,
        { output: { id: '{{ input.id }}', all: ['{{ input.n + 1 }}'] } },
        { roots: { input: { id: 'x', n: 1 } } },
      ),
    ).toEqual({
      do: 'end',
      port: 'success',
      data: { id: 'x', all: [2] },
    });
  });

  it('a checkpoint and a removed step go on', () => {
    expect(begin(checkpoint, { name: 'paid' })).toMatchObject({ do: 'end', port: 'success', data: 'paid' });
    expect(begin(removed, { replaces: 'http' })).toMatchObject({
      do: 'end',
      port: 'success',
      data: null,
      meta: { removed: true },
    });
  });
});

describe('finish', () => {
  const roots = { lastOutput: { type: 'set', data: { total: 4 } }, input: { id: 7 } };

  it('gives its output, or the data of the last step', () => {
    expect(begin(finish, { output: '{{ input.id }}' }, { roots })).toEqual({ do: 'finish', output: 7, drain: false });
    expect(begin(finish, {}, { roots })).toMatchObject({ output: { total: 4 } });
    expect(begin(finish, { output: null }, { roots })).toMatchObject({ output: null });
  });

  it('drains as return, unless it says otherwise', () => {
    expect(begin(finish, {}, { roots, stepType: 'return' })).toMatchObject({ drain: true });
    expect(begin(finish, { drain: false }, { roots, stepType: 'return' })).toMatchObject({ drain: false });
  });
});

describe('fail', () => {
  it('fails with its own code and sentence', () => {
    const config = { code: 'out_of_stock', message: 'Nothing left of {{ input.sku }}', rollback: true, critical: true };
    expect(begin(fail, config, { roots: { input: { sku: 'B2' } } })).toEqual({
      do: 'fail',
      error: { code: 'out_of_stock', message: 'Nothing left of B2', retryable: false },
      rollback: true,
    });
  });

  it('has a code and a sentence where none is written', () => {
    expect(begin(fail, {})).toMatchObject({
      error: { code: 'failed', message: expect.stringContaining("'step'"), retryable: true },
      rollback: false,
    });
  });
});
