import { describe, expect, it } from 'vitest';
import type { WaitingFor } from '../../src/contract/run/run.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { advance, genesis } from '../../src/engine/advance.ts';
import { statusOf, waitCount, waitingFor } from '../../src/engine/inbound/view.ts';
import { genesisOf } from '../../src/engine/state/start.ts';
import { describeRun, type RunDetails } from '../../workflows/run/current-details.ts';
import { programOf } from '../support/program.ts';

const definition: Definition = {
  name: 'Ask *all*',
  slug: 'ask-all',
  start: 'each',
  steps: {
    each: {
      stepType: 'forEach',
      config: { items: '{{ input }}', concurrency: 100 },
      nextSteps: { item: 'ask' },
    },
    ask: { stepType: 'approval', config: { message: 'Well?' } },
  },
};
const place = { id: 'run.default.ask-all.1', namespace: 'default' };

/** The details of a run that waits for that many approvals. */
function detailsOf(asked: number): string {
  const program = programOf(definition);
  const input = Array.from({ length: asked }, (_, i) => i);
  const state = genesis(program, genesisOf({ definition, input }, place.id, 0));
  advance(program, state, { type: 'started', at: 0 });
  const shown = { status: statusOf(state), waitingFor: waitingFor(state), waits: waitCount(state) };
  return describeRun(definition, place, { ...shown, toApprove: () => ({}) });
}

describe('the current details of a run', () => {
  it('name the definition, and each wait with the command that answers it', () => {
    const text = detailsOf(1);
    expect(text).toContain('**Ask \\*all\\*** (`ask-all`): waiting');
    expect(text).toContain('\n\n`each[0]/ask` waits for an approval');
    expect(text).toContain(
      `\n\`\`\`\ntemporal workflow signal --workflow-id '${place.id}' --name approve --input ` +
        `'{"step":"each[0]/ask"}'\n\`\`\``,
    );
    // Blocks in a list or indented are garbled by the UI.
    expect(text).not.toMatch(/^[ \t]+(```|>)|^- /m);
    expect(text).not.toContain('more');
  });

  it('say where steps that run show their attempts', () => {
    const shown = { waitingFor: [], waits: 0, toApprove: () => ({}) };
    expect(describeRun(definition, place, { ...shown, status: 'running' })).toContain('under Pending Activities');
    expect(describeRun(definition, place, { ...shown, status: 'completed' })).not.toContain('Pending Activities');
    expect(detailsOf(1)).not.toContain('Pending Activities');
  });

  it('name the first of many waits, and say how many more there are', () => {
    const text = detailsOf(33);
    expect(text.match(/waits for/g)).toHaveLength(20);
    expect(text).toContain('… and 13 more.');
  });

  it('hold no markup and no second line of what others wrote', () => {
    const wait: WaitingFor = {
      path: 'ask',
      stepSlug: 'ask',
      kind: 'approval',
      since: 'then',
      message: '# Sure?\n[x](y)',
    };
    const shown: RunDetails = { status: 'waiting', waitingFor: [wait], waits: 1, toApprove: () => ({}) };
    expect(describeRun(definition, place, shown)).toContain('\n\n> \\# Sure? \\[x\\](y)\n');
  });
});
