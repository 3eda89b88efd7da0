import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import type { JsonObject } from '../../src/json/json.ts';

const asking = (config: JsonObject, persons?: boolean) => {
  const steps = { ask: { stepType: 'approval', config: { message: 'm', ...config } } };
  const { problems, warnings } = check(
    { name: 'X', slug: 'x', start: 'ask', steps },
    persons === undefined ? {} : { persons },
  );
  const of = (list: typeof problems) =>
    list
      .filter(({ code }) => code !== 'port_not_wired')
      .map(({ pointer, code, hint }) => `${pointer.split('/').at(-1)} ${code} ${hint ?? ''}`.trim());
  return { problems: of(problems), warnings: of(warnings) };
};

describe('a link that decides as another person', () => {
  it('is a warning where the input says its address', () => {
    const warned = (entry: JsonObject) => asking({ approvers: { users: ['ann'] }, notify: [entry] }).warnings;
    const hint = 'Leave "as" out, so that the link decides as the person of its address, or write the address here.';
    expect(warned({ channel: 'email', to: ['{{ input.to }}'], as: 'ann' })).toEqual([`to link_by_input ${hint}`]);
    expect(warned({ channel: 'webhook', to: 'https://{{ input.host }}/', as: '{{ input.as }}' })).toEqual([
      `to link_by_input ${hint}`,
    ]);
    expect(warned({ channel: 'email', to: '{{ input.to }}' })).toEqual([]);
    expect(warned({ channel: 'email', to: '{{ input.to }}', as: 'ann', on: ['decided'] })).toEqual([]);
    expect(warned({ channel: 'slack', to: 'https://{{ execution.id }}.input/', as: 'ann' })).toEqual([]);
  });
});

describe('an approval behind a start that names no person', () => {
  const warned = (more: JsonObject, config: JsonObject = {}) =>
    check({
      name: 'X',
      slug: 'x',
      steps: { ask: { name: 'Review', stepType: 'approval', config: { message: 'm', ...config } } },
      ...more,
    })
      .warnings.filter(({ code }) => code === 'approval_of_anyone')
      .map(({ pointer }) => pointer);
  const hook = (config: JsonObject, more: JsonObject = {}): JsonObject => ({
    triggers: [{ name: 'in', type: 'webhook', config: { path: 'p', ...config }, ...more }],
  });

  it('is a warning for unsigned webhooks and public starts', () => {
    expect(warned(hook({}))).toEqual(['/triggers/0/config']);
    expect(warned(hook({ scheme: 'none' }))).toEqual(['/triggers/0/config']);
    expect(warned({ config: { publicStart: true } })).toEqual(['/config/publicStart']);
    expect(
      check({ name: 'X', slug: 'x', steps: { ask: { stepType: 'sleep', config: { duration: 1 } } }, ...hook({}) }),
    ).toMatchObject({ valid: true, warnings: [] });
  });

  it('is none where the start is signed or off, or where the requester may approve', () => {
    expect(warned(hook({ secret: 's' }))).toEqual([]);
    expect(warned(hook({ scheme: 'github', secret: 's' }))).toEqual([]);
    expect(warned(hook({}, { enabled: false }))).toEqual([]);
    expect(warned(hook({}), { requesterMayApprove: true })).toEqual([]);
    expect(warned({})).toEqual([]);
  });
});

describe('an approval', () => {
  it('has a due date that is a point in time, and no duration', () => {
    const hint = "Write it as '2026-01-31T09:00:00Z', or as {{ now|addDuration('1d') }} for a time from now on.";
    expect(asking({ dueDate: '1d' }).problems).toEqual([`dueDate invalid_config ${hint}`]);
    for (const dueDate of ['2026-01-31T09:00:00Z', 1_800_000_000_000, '{{ input.due }}', "{{ now|addDuration('1d') }}"])
      expect(asking({ dueDate })).toEqual({ problems: [], warnings: [] });
  });

  it('is warned of a priority that lists do not know', () => {
    expect(asking({ priority: 'urgnt' }).warnings).toEqual(['priority unknown_priority Did you mean "urgent"?']);
    for (const priority of ['low', 'urgent', '{{ input.priority }}'])
      expect(asking({ priority })).toEqual({ problems: [], warnings: [] });
  });

  it('has a warning that reminders notify nobody', () => {
    expect(asking({ reminders: ['1d'] }).warnings).toMatchObject([
      expect.stringContaining('reminders reminders_without_notice'),
    ]);
    expect(asking({ reminders: [] }).warnings).toEqual([]);
    const notify = (on: string[]) => [{ channel: 'inbox', to: 'ann', on }];
    expect(asking({ reminders: ['1d'], notify: notify(['reminder']) }).warnings).toEqual([]);
    expect(asking({ reminders: ['1d'], notify: [{ channel: 'inbox', to: 'ann' }] }).warnings).toEqual([]);
    expect(asking({ reminders: ['1d'], notify: notify(['asked']) }).warnings).toHaveLength(1);
  });

  it('has a warning that an escalation notifies nobody', () => {
    const escalating = { timeout: '1d', onTimeout: 'escalate', escalateTo: ['boss'] };
    expect(asking(escalating).warnings).toMatchObject([
      expect.stringContaining('escalateTo escalation_without_notice'),
    ]);
    const notify = [{ channel: 'inbox', to: 'boss', on: ['escalated'] }];
    expect(asking({ ...escalating, notify }).warnings).toEqual([]);
  });

  it('sends messages only by channels that are known, to somebody, with what the channel takes', () => {
    const problems = (entry: object) => asking({ notify: [entry] as never }).problems;
    expect(problems({ channel: 'pigeon', to: 'ann' })).toHaveLength(1);
    expect(problems({ channel: 'email' })).toHaveLength(1);
    expect(problems({ channel: 'email', to: 'a@b.test', secret: 'x' })).toHaveLength(1);
    expect(problems({ channel: 'email', to: 'a@b.test', on: ['sometimes'] })).toHaveLength(1);
    expect(problems({ channel: 'email', to: '{{ secrets.X }}' })).not.toEqual([]);
  });

  it('needs as many approvers as its quorum', () => {
    const hint = 'Name more approvers, or set the quorum to 2 at most.';
    expect(asking({ quorum: 3, approvers: ['ann', 'bob', 'ann'] }).problems).toEqual([
      `quorum quorum_unreachable ${hint}`,
    ]);
    expect(asking({ quorum: 3, approvers: { users: ['ann', 'bob'] } }).problems).toHaveLength(1);
    for (const approvers of [['ann', 'bob', 'cid'], ['ann', 'role:finance'], { roles: ['finance'] }, '{{ input.who }}'])
      expect(asking({ quorum: 3, approvers })).toEqual({ problems: [], warnings: [] });
  });

  it('has a warning that several votes cannot be given while there are no keys', () => {
    for (const config of [{ quorum: 2 }, { quorum: 'all', approvers: ['ann', 'bob'] }]) {
      expect(asking(config, false).warnings).toMatchObject([expect.stringContaining('quorum quorum_without_keys')]);
      expect(asking(config, true).warnings).toEqual([]);
      expect(asking(config).warnings).toEqual([]);
    }
    for (const config of [{ quorum: 1 }, { quorum: 'any' }, { quorum: 'all', approvers: ['ann'] }, {}])
      expect(asking(config, false).warnings).toEqual([]);
  });

  it('has a warning about links to persons whom it does not ask', () => {
    const to = (...addresses: string[]) => [{ channel: 'email', to: addresses }];
    const approvers = { users: ['mia', 'leo@example.org'] };
    const hint = 'Set "as" to the approver who reads this mailbox, or add the address to a key of theirs.';
    expect(asking({ approvers, notify: to('mia@example.org', 'Leo <LEO@example.org>') }).warnings).toEqual([
      `0 link_of_nobody ${hint}`,
    ]);
    expect(asking({ approvers, notify: [{ channel: 'email', to: 'x@example.org', as: 'mai' }] }).warnings).toEqual([
      'as link_of_nobody Name a person whom the approval asks.',
    ]);
    // What templates, roles or groups say is unknown here, and a message about the decision has no link.
    for (const config of [
      { approvers: { users: ['mia'], roles: ['finance'] }, notify: to('x@example.org') },
      { approvers: '{{ input.who }}', notify: to('x@example.org') },
      { approvers, notify: to('{{ input.manager }}') },
      { approvers, notify: [{ channel: 'email', to: 'x@example.org', as: 'mia' }] },
      { approvers, notify: [{ channel: 'email', to: 'x@example.org', on: ['decided'] }] },
      { approvers, notify: [{ channel: 'inbox', to: 'x' }] },
      { notify: to('x@example.org') },
    ])
      expect(asking(config as JsonObject)).toEqual({ problems: [], warnings: [] });
    const escalated = { approvers, timeout: '1d', onTimeout: 'escalate', escalateTo: ['boss@example.org'] };
    expect(asking({ ...escalated, notify: to('boss@example.org') })).toEqual({ problems: [], warnings: [] });
    const early = [{ channel: 'email', to: 'boss@example.org', on: ['asked'] }, ...to('leo@example.org')];
    expect(asking({ ...escalated, notify: early }).warnings).toHaveLength(1);
  });

  it('has a warning about approvers who have no key that may decide, where the keys are known', () => {
    const person = { addresses: [], role: 'approver' as const, roles: [], groups: [] };
    const people = [
      { ...person, user: 'mia', addresses: ['mia@example.org'], roles: ['finance'], groups: ['north'] },
      { ...person, user: 'vic', role: 'viewer' as const },
    ];
    const warned = (config: JsonObject, known: typeof people | undefined = people) => {
      const steps = { ask: { stepType: 'approval', config: { message: 'm', ...config } } };
      const { warnings } = check(
        { name: 'X', slug: 'x', start: 'ask', steps },
        known === undefined ? {} : { people: known },
      );
      return warnings.flatMap(({ code, pointer, message }) =>
        code === 'approver_unknown' ? [`${pointer.split('/').at(-1)}: ${message}`] : [],
      );
    };
    expect(warned({ approvers: { users: ['mia', 'MIA@example.org', 'leo', 'vic'], roles: ['finance'] } })).toEqual([
      'approvers: "leo" is asked here, and has no API key of the organization.',
      'approvers: "vic" is asked here, and may not decide with the role viewer.',
    ]);
    const late = { timeout: '1d', onTimeout: 'escalate', escalateTo: ['role:legal', 'group:north', 'group:south'] };
    expect(warned({ approvers: '{{ input.who }}', ...late })).toEqual([
      'escalateTo: The role "legal" is asked here, and no API key that may decide has it.',
      'escalateTo: The group "south" is asked here, and no API key that may decide has it.',
    ]);
    expect(warned({ approvers: ['leo'] }, [])).toEqual([]);
    expect(warned({ approvers: ['leo@example.org'], outsiders: true })).toEqual([]);
  });

  it('has a warning about links that decide without a key', () => {
    expect(asking({ outsiders: true }).warnings).toEqual([expect.stringContaining('outsiders outsiders_decide')]);
    expect(asking({ outsiders: false }).warnings).toEqual([]);
    expect(asking({ outsiders: '{{ input.open }}' }).problems).toHaveLength(1);
  });

  it('is checked within an agent too', () => {
    const config = { goal: 'g', approval: { tools: ['*'], priority: 'hihg', dueDate: 'tomorrow' } };
    const { problems, warnings } = check({ name: 'X', slug: 'x', steps: { a: { stepType: 'agent', config } } });
    expect(problems.map(({ pointer }) => pointer)).toContain('/steps/a/config/approval/dueDate');
    expect(warnings).toContainEqual(
      expect.objectContaining({ pointer: '/steps/a/config/approval/priority', hint: 'Did you mean "high"?' }),
    );
  });
});

describe('what is read of an approval', () => {
  const read = (expression: string, more: JsonObject = {}) => {
    const ask = { stepType: 'approval', config: { message: 'm' }, nextSteps: { approved: 'out', rejected: 'out' } };
    const steps = { ask: { ...ask, ...more }, out: { stepType: 'mapping', config: { output: `{{ ${expression} }}` } } };
    return check({ name: 'X', slug: 'x', start: 'ask', steps }).warnings.map(({ code, message, hint }) => [
      code,
      message,
      hint,
    ]);
  };

  it('is one of the members that its data has', () => {
    expect(read('steps.ask.output.data.submitedData')).toEqual([
      [
        'unknown_step_member',
        'Column 4: the data of the approval "ask" has decision, decidedBy, comments, submittedData, ' +
          'reviewedAt, votes, via, but no "submitedData".',
        'Did you mean "submittedData"?',
      ],
    ]);
    expect(read('steps.ask.output.data.submittedData.anything')).toEqual([]);
    expect(read('steps.ask.output.data.other', { preset: { data: { other: 1 } } })).toEqual([]);
  });

  it('has a warning that says where meta, type and data are', () => {
    expect(read('steps.ask.meta')[0]?.[2]).toBe('Write steps.ask.output.meta.');
    expect(read('steps.ask.data')[0]?.[2]).toBe('Write steps.ask.output.data.');
    expect(read('steps.ask.decision')[0]?.[2]).toBe('Write steps.ask.output.data.decision.');
  });
});
