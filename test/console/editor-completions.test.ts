import { describe, expect, it } from 'vitest';
import { countDrafts, type DraftStorage, removeDrafts } from '../../src/console/data/draft-keys.ts';
import { completionsAt } from '../../src/console/editor/completions.ts';
import { draftsOf, removeDraft, saveDraft } from '../../src/console/editor/drafts.ts';
import { mediaTypeOf } from '../../src/console/editor/media-type.ts';
import { languageSchema } from '../../src/gateway/manual/language-schema.ts';

const schema = languageSchema();

/** The completions at the `^` in a text. */
function completionsIn(marked: string): { labels: string[]; text: (label: string) => string } {
  const offset = marked.indexOf('^');
  const text = marked.replace('^', '');
  const found = completionsAt(text, offset, schema);
  const options = found?.options ?? [];
  return {
    labels: options.map(({ label }) => label),
    text: (label) => {
      const option = options.find((one) => one.label === label);
      if (option === undefined) throw new Error(`${label} is not offered: ${options.map((one) => one.label)}`);
      return text.slice(0, found?.from) + option.apply + text.slice(offset);
    },
  };
}

const HEAD = `name: Refund
input:
  order: string
  amount: {type: number}
state: {seen: string}
config:
  variables: {sent: 0}
steps:
  ask:
    stepType: approval
    config:
      message: Well?
    outputVariable: decision
  pay:
    stepType: http
`;

describe('what can be written', () => {
  it('are the members of the definition, without those that are there', () => {
    const { labels, text } = completionsIn('name: Refund\nst^');
    expect(labels).toContain('steps');
    expect(labels).toContain('state');
    expect(labels).not.toContain('name');
    expect(text('steps')).toBe('name: Refund\nsteps: ');
  });

  it('are the members of a step, and those of the config of its kind', () => {
    expect(completionsIn(`${HEAD}    ^`).labels).toEqual(expect.arrayContaining(['config', 'nextSteps', 'retry']));
    expect(completionsIn(`${HEAD}    ^`).labels).not.toContain('stepType');
    const http = completionsIn(`${HEAD}    config:\n      ^`).labels;
    expect(http).toEqual(expect.arrayContaining(['url', 'method', 'headers']));
    expect(http).not.toContain('approvers');
    expect(completionsIn(HEAD.replace('message: Well?', 'message: Well?\n      ^')).labels).toContain('approvers');
  });

  it('are kinds and other values, by the schema', () => {
    const { labels, text } = completionsIn(`${HEAD}  next:\n    stepType: ht^`);
    expect(labels).toEqual(expect.arrayContaining(['http', 'loop', 'approval']));
    expect(text('http')).toBe(`${HEAD}  next:\n    stepType: http`);
    expect(completionsIn(`${HEAD}    config:\n      method: ^`).labels).toEqual(
      expect.arrayContaining(['GET', 'POST']),
    );
    expect(completionsIn(`${HEAD}    fuse: ^`).labels).toEqual(['true', 'false']);
    expect(completionsIn(`${HEAD}    onError: ^`).labels).toEqual(['fail', 'continue']);
  });

  it('are the ports of the kind, and behind them the steps', () => {
    expect(
      completionsIn(HEAD.replace('    outputVariable', '    nextSteps:\n      ^\n    outputVariable')).labels,
    ).toEqual(expect.arrayContaining(['approved', 'rejected']));
    const { labels, text } = completionsIn(`${HEAD}    nextSteps: {success: as^}`);
    expect(labels).toEqual(['ask', 'pay', '$end']);
    expect(text('ask')).toBe(`${HEAD}    nextSteps: {success: ask}`);
    expect(completionsIn(`${HEAD}    nextSteps:\n      success: ^`).labels).toEqual(['ask', 'pay', '$end']);
    expect(completionsIn(`start: ^\n${HEAD}`).labels).toEqual(['ask', 'pay']);
  });

  it('are the other steps in dependsOn, in both ways of writing a list', () => {
    expect(completionsIn(`${HEAD}    dependsOn: [^]`).labels).toEqual(['ask']);
    expect(completionsIn(`${HEAD}    dependsOn:\n      - a^`).labels).toEqual(['ask']);
  });

  it('are roots, steps and their outputs within templates', () => {
    const within = (expression: string) => completionsIn(`${HEAD}    config:\n      url: '{{ ${expression}^`);
    expect(within('').labels).toEqual(expect.arrayContaining(['steps', 'input', 'loop', 'now']));
    expect(within('steps.').labels).toEqual(['ask', 'pay']);
    expect(within('steps.a').text('ask')).toBe(`${HEAD}    config:\n      url: '{{ steps.ask`);
    expect(within('steps.ask.').labels).toEqual(['output', 'stepType', 'name']);
    expect(within('1 + steps.ask.output.').labels).toEqual(['type', 'data', 'meta']);
    expect(within('input.').labels).toEqual(['order', 'amount']);
    expect(within('state.').labels).toEqual(['seen']);
    expect(within('variables.').labels).toEqual(['sent']);
    expect(within('outputs.').labels).toEqual(['decision']);
    expect(within("'in a text ").labels).toEqual([]);
    expect(within('input.order | ').labels).toEqual([]);
    expect(within('input.order }} and then ').labels).toEqual([]);
    expect(completionsIn(`${HEAD}    when: ste^`).labels).toContain('steps');
  });

  it('is written as JSON in JSON', () => {
    const json = '{"steps": {"pay": {"stepType": "http", ^}}}';
    expect(completionsIn(json).text('config')).toBe('{"steps": {"pay": {"stepType": "http", "config": }}}');
    const quoted = completionsIn('{"steps": {"pay": {"stepType": "ht^"}}}');
    expect(quoted.text('http')).toBe('{"steps": {"pay": {"stepType": "http"}}}');
    expect(completionsIn('{"steps": {"pay": {"nextSteps": {"success": ^}}}}').text('pay')).toContain(
      '"success": "pay"',
    );
  });

  it('is nothing in a text without meaning', () => {
    expect(completionsIn('^').labels).toContain('steps');
    expect(completionsIn('# a comment ^').labels).toEqual([]);
    expect(completionsIn(`${HEAD}    config:\n      url: https://exa^`).labels).toEqual([]);
  });
});

describe('drafts', () => {
  const ANN = { organization: 'acme', id: 'ann@x' };
  const store = (): DraftStorage => {
    const stored = new Map<string, string>();
    return {
      get length() {
        return stored.size;
      },
      key: (index) => [...stored.keys()][index] ?? null,
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, text) => void stored.set(key, text),
      removeItem: (key) => void stored.delete(key),
    };
  };

  it('are stored by slug and tag, the newest first', () => {
    const there = store();
    expect(saveDraft(ANN, 'a', { tag: '1', text: 'name: A', at: '2026-01-01T00:00:00Z' }, there)).toBe(true);
    saveDraft(ANN, 'a', { tag: '2', text: 'name: B', at: '2026-01-02T00:00:00Z' }, there);
    saveDraft(ANN, 'a-b', { tag: '1', text: 'name: C', at: '2026-01-03T00:00:00Z' }, there);
    expect(draftsOf(ANN, 'a', there).map(({ tag }) => tag)).toEqual(['2', '1']);
    removeDraft(ANN, 'a', '2', there);
    expect(draftsOf(ANN, 'a', there)).toEqual([{ tag: '1', text: 'name: A', at: '2026-01-01T00:00:00Z' }]);
  });

  it('are shown to nobody else, and forgotten together', () => {
    const there = store();
    saveDraft(ANN, 'a', { tag: '1', text: 'name: A', at: '2026-01-01T00:00:00Z' }, there);
    saveDraft(ANN, 'b', { tag: '', text: 'name: B', at: '2026-01-01T00:00:00Z' }, there);
    const others = [
      { organization: 'bolt', id: 'ann@x' },
      { organization: 'acme', id: 'ann' },
      { organization: 'acme' },
    ];
    for (const other of others) {
      expect(draftsOf(other, 'a', there)).toEqual([]);
      saveDraft(other, 'a', { tag: '1', text: 'name: O', at: '2026-01-01T00:00:00Z' }, there);
    }
    expect(countDrafts(ANN, there)).toBe(2);
    removeDrafts(ANN, there);
    expect(countDrafts(ANN, there)).toBe(0);
    expect(others.map((other) => countDrafts(other, there))).toEqual([1, 1, 1]);
  });

  it('are not stored with a secret in clear, and not read where they are none', () => {
    const there = store();
    const text = 'slug: a\nconfig:\n  secrets:\n    token: {value: a-clear-secret-0123456789}\n';
    saveDraft(ANN, 'a', { tag: '', text: 'name: A', at: '2026-01-01T00:00:00Z' }, there);
    expect(saveDraft(ANN, 'a', { tag: '', text, at: '2026-01-01T00:00:00Z' }, there)).toBe(false);
    expect(draftsOf(ANN, 'a', there)).toEqual([]);
    there.setItem('signalbox.draft.acme ann%40x a 1', 'no JSON');
    expect(draftsOf(ANN, 'a', there)).toEqual([]);
  });
});

describe('a text', () => {
  it('is sent as what it was, or is without a doubt', () => {
    expect(mediaTypeOf('{"a": 1}', 'yaml')).toBe('application/json');
    expect(mediaTypeOf('{"a": 1,', 'json')).toBe('application/json');
    expect(mediaTypeOf('{a: 1}', 'yaml')).toBe('application/yaml');
    expect(mediaTypeOf('a: 1', 'json')).toBe('application/yaml');
  });
});
