import { describe, expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import { admit, advance, genesis } from '../../src/engine/advance.ts';
import type { Command, RunCommand } from '../../src/engine/state/protocol.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { compile } from '../../src/steps/compile/program.ts';

// Messages of an approval: who gets a link, and what the run takes while the messages about the decision are sent.

const START = Date.parse('2026-01-15T10:30:00Z');

function begun(notify: JsonObject[], more: JsonObject = {}) {
  const definition = {
    name: 'N',
    slug: 'n',
    config: { secrets: { HOOK: 'hook' } },
    steps: {
      ask: {
        stepType: 'approval',
        config: { message: 'Go?', notify, ...more },
        nextSteps: { approved: 'done', rejected: 'done' },
      },
      done: { stepType: 'finish', config: { output: '{{ steps.ask.output.data.decision }}' } },
    },
  } as unknown as Definition;
  const compiled = compile(definition);
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
  const { program } = compiled;
  const state: RunState = genesis(program, {
    executionId: 'run.o.n.1',
    organizationId: 'o',
    input: {},
    presets: {},
    trigger: { type: 'manual' },
    depth: 0,
    startedAt: START,
  });
  const feed = (event: Parameters<typeof advance>[2]): Command[] => advance(program, state, event);
  const runs = (commands: Command[]): RunCommand[] => commands.filter((one): one is RunCommand => one.type === 'run');
  return { program, state, feed, runs, first: runs(feed({ type: 'started', at: START })) };
}

const partsOf = ({ secrets }: RunCommand) => secrets.find(({ path }) => path[0] === 'text')?.parts;

describe('the messages of an approval', () => {
  it('have a link for each address of an e-mail, which the config holds as a placeholder', () => {
    const { first } = begun([{ channel: 'email', to: ['Ann <ann@example.com>', 'ben@example.com'] }], {
      timeout: '1d',
    });
    expect(first.map(({ id }) => id)).toEqual(['ask/notify/asked[0]', 'ask/notify/asked[1]']);
    const [one, two] = first;
    expect(one?.config).toMatchObject({ channel: 'email', to: 'Ann <ann@example.com>' });
    expect((one!.config as JsonObject)['text']).toContain('Decide here:\n[link]\n');
    expect((one!.config as JsonObject)['text']).toContain('Until 16 January 2026, 10:30 UTC.');
    const since = '2026-01-15T10:30:00.000Z';
    expect(partsOf(one!)?.[1]).toEqual({ approval: 'ask', person: 'ann@example.com', since });
    expect(partsOf(two!)?.[1]).toEqual({ approval: 'ask', person: 'ben@example.com', since });
  });

  it('have an HTML part with the link as a button, and nothing of the question as HTML', () => {
    const { first } = begun([{ channel: 'email', to: 'ann@example.com' }], { message: 'Pay <b>&\nmore?\n\nNow.' });
    const { config, secrets } = first[0]!;
    const html = secrets.find(({ path }) => path[0] === 'html')?.parts ?? [];
    expect(html[0]).toMatch(/^<p>Pay &lt;b&gt;&amp;<br>more\?<\/p>\n<p>Now\.<\/p>\n<p><a style="[^"]*" href="$/);
    expect(html[1]).toMatchObject({ approval: 'ask', person: 'ann@example.com' });
    expect(html[2]).toMatch(/^">Decide<\/a><\/p>\n<p>The link decides as ann@example\.com, once\./);
    expect((config as JsonObject)['html']).toBe(`${html[0]}[link]${html[2]}`);
  });

  it('have none for a channel that many read, unless it names the person, and none for an inbox', () => {
    const { first } = begun([
      { channel: 'slack', to: 'https://hooks.test/{{ secrets.HOOK }}' },
      { channel: 'slack', to: 'https://hooks.test/{{ secrets.HOOK }}', as: 'ann' },
      { channel: 'inbox', to: ['ann', 'role:finance'] },
    ]);
    expect(first.map((one) => partsOf(one)?.[1])).toEqual([
      undefined,
      { approval: 'ask', person: 'ann', to: 'slack', since: expect.any(String) },
      undefined,
      undefined,
    ]);
    expect(first[0]?.secrets[0]?.parts).toEqual(['https://hooks.test/', { secret: 'hook' }]);
  });

  it('keep the step open after the decision until they have ended, and no second decision is taken', () => {
    const { program, state, feed, runs } = begun([
      { channel: 'email', to: ['ann@example.com', 'ben@example.com'], on: ['decided'] },
    ]);
    const approve = { type: 'decide', decision: 'approved', via: 'api', at: START + 1 } as const;
    const sent = runs(feed(approve));
    expect(sent.map(({ id }) => id)).toEqual(['ask/notify/decided[0]', 'ask/notify/decided[1]']);
    expect(sent.map(partsOf)).toEqual([undefined, undefined]);
    expect(admit(program, state, { ...approve, decision: 'rejected', step: 'ask' })).toMatchObject({
      code: 'already_decided',
    });
    expect(state.ending).toBeUndefined();
    feed({ type: 'completed', id: 'ask/notify/decided[0]', result: { data: null }, at: START + 2 });
    expect(state.ending).toBeUndefined();
    const error = { code: 'smtp_refused', message: 'No.', retryable: false };
    feed({ type: 'failed', id: 'ask/notify/decided[1]', error, at: START + 3 });
    expect(state.ending).toMatchObject({ status: 'completed', output: 'approved' });
  });

  it('do not hold up a decision: what is not sent yet is given up, and a late result changes nothing', () => {
    const { state, feed, first } = begun([{ channel: 'email', to: 'ann@example.com', on: ['asked'] }]);
    expect(first).toHaveLength(1);
    feed({ type: 'decide', decision: 'rejected', via: 'api', at: START + 1 });
    expect(state.ending).toMatchObject({ status: 'completed', output: 'rejected' });
  });
});
