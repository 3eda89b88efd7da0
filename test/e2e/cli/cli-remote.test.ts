// Everything that the REST API can do, from the command line of another machine: by SIGNALBOX_URL and an API key.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliOptions, type CliRun, cli, filesFolder } from '../../cli/terminal.ts';
import { type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

const ADMIN = 'an-admin-key-of-the-environment-0123456789';
const files = filesFolder();
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({ SIGNALBOX_ADMIN_KEY: ADMIN });
});
afterAll(async () => {
  await gateway.close();
  files.remove();
});

type More = Omit<CliOptions, 'env'> & { key?: string; toKey?: string };

function signalbox(args: readonly string[], { key = ADMIN, toKey, ...given }: More = {}): Promise<CliRun> {
  const env = { SIGNALBOX_URL: gateway.url, SIGNALBOX_API_KEY: key, SIGNALBOX_TO_API_KEY: toKey };
  return cli(args, { ...given, env });
}

/** What the command prints, which must succeed. */
async function done(args: readonly string[], more: More = {}): Promise<string> {
  const { exit, out, err } = await signalbox(args, more);
  expect({ args, exit, err }).toMatchObject({ args, exit: 0 });
  return out;
}

const json = async (args: readonly string[], more: More = {}) => JSON.parse(await done([...args, '--json'], more));

const echo = (slug: string, more = ''): string => `# What people say
name: Echo
slug: ${slug}
${more}steps:
  received: {stepType: trigger, nextSteps: {success: done}}
  done: {stepType: finish, config: {output: '{{ input }}'}}
`;

async function pushed(text: string): Promise<void> {
  await done(['push', '-'], { input: text });
}

describe('signalbox list approvals', () => {
  it('lists what waits for the caller, what others are asked with --all, and says so where nothing waits', async () => {
    const ask = {
      slug: unique('ask'),
      steps: { ask: { stepType: 'approval', config: { message: 'Sure?', approvers: ['zoe'] } } },
    };
    const { executionId } = await json(['run', files.write('ask.json', JSON.stringify(ask))]);
    const list = ['list', 'approvals', '--execution', executionId];
    await gateway.until(`/api/approvals?all=true&executionId=${executionId}`, ({ body }) => body.items?.length === 1);
    expect(await signalbox(list)).toMatchObject({
      exit: 0,
      out: '',
      err: 'No approvals wait for you. With --all: those of others too.',
    });
    expect(await done([...list, '--all'])).toMatch(new RegExp(`${executionId} +ask +\\S+ +Sure\\?`));
    expect(await done([...list, '--approver', 'zoe'])).toContain(executionId);
    expect((await signalbox([...list, '--approver', 'ann'])).err).toBe('No approvals.');
    expect((await signalbox(['list', '--all'])).err).toContain('--all is only for lists of approvals.');
  });
});

describe('signalbox workflows', () => {
  it('runs a stored workflow, also of an earlier version, once for each key', async () => {
    const slug = unique('stored');
    await pushed(echo(slug));
    await pushed(echo(slug).replace("'{{ input }}'", 'new'));
    const input = files.write('input.json', '{"a": [1]}');
    const run = ['workflows', 'run', slug, '--input', `@${input}`, '--idempotency-key', slug];
    const old = await json([...run, '--version', '1.0.0']);
    expect(old).toMatchObject({ status: 'completed', output: { a: [1] } });
    expect((await json([...run, '--version', '1.0.0'])).executionId).toBe(old.executionId);
    expect((await signalbox(run)).err).toContain('(idempotency_conflict)');
    expect(await done(['workflows', 'run', slug])).toMatch(/^run\.\S+ {2}completed\n"new"$/);
    const unknown = await signalbox(['workflows', 'run', slug, '--version', '9.9.9']);
    expect(unknown).toMatchObject({ exit: 10, err: expect.stringContaining('(version_not_found)') });
    expect(await signalbox(['workflows', 'run', unique('none')])).toMatchObject({ exit: 10, out: '' });
  });

  it('shows its versions, what differs between them and from a file, and restores one', async () => {
    const slug = unique('versioned');
    await pushed(echo(slug));
    await pushed(echo(slug).replace('name: Echo', 'name: Loud echo'));
    const history = await json(['workflows', 'history', slug]);
    expect(history.map(({ version }: { version: string }) => version)).toEqual(['1.0.1', '1.0.0']);
    expect(await done(['workflows', 'show', slug, '--version', '1.0.0'])).toBe(echo(slug).trimEnd());
    expect(await done(['workflows', 'diff', slug])).toMatch(/^-.*"Echo"[\s\S]*^\+.*"Loud echo"/m);
    const back = await done(['workflows', 'diff', slug, '1.0.1', history[1].hash.slice(0, 17)], { hasColors: true });
    expect(back).toContain('\u001b[32m+  "name": "Echo",\u001b[0m');
    const file = files.write('changed.yaml', echo(slug, 'tags: [new]\n'));
    expect(await json(['workflows', 'diff', slug, '1.0.0', '--file', file])).toMatchObject({
      changes: [{ op: 'added', pointer: '/tags', after: ['new'] }],
    });
    expect(await signalbox(['workflows', 'diff', slug, '--file', '-'], { input: echo(slug) })).toMatchObject({
      exit: 0,
      out: expect.stringContaining('"Loud echo"'),
    });
    const drift = ['workflows', 'diff', slug, '--exit-code', '--file', '-'];
    expect((await signalbox(drift, { input: echo(slug) })).exit).toBe(30);
    expect((await signalbox(drift, { input: echo(slug).replace('name: Echo', 'name: Loud echo') })).exit).toBe(0);
    expect((await signalbox(drift, { input: 'steps: [' })).exit).toBe(10);
    expect(await done(['workflows', 'rollback', slug, '1.0.0', '--notes', 'Too loud'])).toMatch(
      new RegExp(`^${slug} 1\\.\\d+\\.\\d+ has the content of 1\\.0\\.0\\.$`),
    );
    expect(await signalbox(['workflows', 'diff', slug, '1.0.0', '--file', '-'], { input: echo(slug) })).toMatchObject({
      exit: 0,
      out: '',
      err: 'No differences.',
    });
  });

  it('is disabled, enabled, and deleted when a person at a terminal agrees', async () => {
    const slug = unique('switched');
    await pushed(echo(slug));
    expect(await done(['workflows', 'disable', slug])).toBe(`${slug} is disabled.`);
    expect((await signalbox(['workflows', 'run', slug])).err).toContain('(workflow_disabled)');
    expect(await done(['workflows', 'enable', slug])).toBe(`${slug} is enabled.`);
    const kept = await signalbox(['workflows', 'delete', slug], { person: ['n'] });
    expect(kept).toMatchObject({ exit: 10, err: expect.stringMatching(/\[y\/N\] \nNothing was changed\.$/) });
    expect(await signalbox(['workflows', 'delete', slug], { person: ['y'] })).toMatchObject({ exit: 0 });
    expect((await signalbox(['workflows', 'show', slug])).exit).toBe(10);
  });
});

describe('runs', () => {
  const waits = (slug: string, step: string): string =>
    `name: Waits\nslug: ${slug}\n` +
    `steps: {ask: ${step}, done: {stepType: finish, config: {output: '{{ lastOutput.data }}'}}}\n`;

  async function started(step: string): Promise<string> {
    const slug = unique('waits');
    await pushed(waits(slug, step));
    const { executionId, status } = await json(['workflows', 'run', slug]);
    expect(status).toBe('waiting');
    return executionId;
  }

  it('take an input and a message, which continue the run', async () => {
    const asked = await started('{stepType: user_input, config: {message: Where?}, nextSteps: {submitted: done}}');
    expect(await done(['submit', asked, '--data', '{"city": "Ulm"}'])).toBe(`${asked}  ask submitted`);
    expect(await done(['logs', '-f', asked])).toContain('"city": "Ulm"');
    expect((await signalbox(['submit', asked, '--data', '1'])).exit).toBe(10);
    const listening = await started('{stepType: listen, config: {name: paid}, nextSteps: {received: done}}');
    const sent = ['message', listening, 'paid', '--data', '{"cents": 12}', '--idempotency-key', 'once'];
    expect(await done(sent)).toBe(`${listening}  message paid sent`);
    expect(await done(['logs', '-f', listening])).toContain('"cents": 12');
  });

  it('are cancelled and terminated, the latter when a person agrees', async () => {
    const step = '{stepType: listen, config: {name: never}}';
    const cancelled = await started(step);
    await done(['cancel', cancelled, '--reason', 'Ordered twice']);
    const followed = await signalbox(['logs', '-f', cancelled]);
    expect(followed).toMatchObject({ exit: 40, out: expect.stringContaining('Ordered twice') });
    const terminated = await started(step);
    expect((await signalbox(['terminate', terminated], { person: [] })).exit).toBe(10);
    await done(['terminate', terminated, '--yes'], { person: [] });
    expect((await signalbox(['logs', '-f', terminated])).exit).toBe(40);
  });
});

describe('signalbox triggers', () => {
  it('are created and changed by a file, listed, switched, fired and deleted', async () => {
    const slug = unique('triggered');
    await pushed(echo(slug));
    const hook = { workflowId: slug, name: 'in', type: 'webhook', config: { path: slug, scheme: 'none' } };
    const clock = { workflowId: slug, name: 'daily', type: 'schedule', config: { cron: '0 8 * * *' } };
    const apply = (...given: object[]) => done(['triggers', 'apply', '-'], { input: JSON.stringify(given) });
    const mapped = { ...hook, variableMapping: { said: '$.text' }, targetState: {} };
    expect(await apply(mapped, clock)).toMatch(
      new RegExp(`^${slug}\\.in is created\\.\\n {2}http.*/webhooks/${slug}\\n${slug}\\.daily is created\\.$`),
    );
    const id = `${slug}.in`;
    await done(['triggers', 'disable', id]);
    const secret = { ...hook, config: { path: slug, scheme: 'api_key', secret: 'a-key-in-clear-text' } };
    expect(await apply(secret)).toContain(`${id} is changed.`);
    const changed = await json(['triggers', 'show', id]);
    expect(changed).toMatchObject({ enabled: false, config: { scheme: 'api_key' } });
    expect(changed).not.toHaveProperty('variableMapping');
    expect(JSON.stringify(changed)).not.toContain('a-key-in-clear-text');
    await apply(hook);
    expect((await json(['triggers', 'show', id])).config).toEqual(hook.config);
    const other = await signalbox(['triggers', 'apply', '-'], { input: JSON.stringify({ ...clock, name: 'in' }) });
    expect(other).toMatchObject({ exit: 10, err: expect.stringContaining('is of type webhook') });
    expect((await signalbox(['triggers', 'apply', '-'], { input: '[7]' })).err).toContain('is not a trigger');

    expect(await done(['triggers', 'enable', id])).toBe(`${id} is enabled.`);
    const run = ['triggers', 'run', id, '--input', '{"text": "hello"}', '--idempotency-key', slug];
    const { executionId } = await json(run);
    expect((await json(run)).executionId).toBe(executionId);
    await expect.poll(async () => done(['triggers', 'deliveries', id])).toMatch(new RegExp(`started +${executionId}`));
    const span = ['--from', '2026-01-01T00:00:00Z', '--to', '2026-01-03T00:00:00Z', '--overlap', 'skip'];
    expect(await done(['triggers', 'backfill', `${slug}.daily`, ...span])).toBe(`${slug}.daily fires for 2 times.`);
    const listed = () => done(['triggers', 'list', '--workflow', slug, '--enabled', 'true']);
    await expect.poll(listed).toMatch(new RegExp(`${slug}\\.in +webhook +yes +api`));
    expect(await signalbox(['triggers', 'delete', id], { person: [''] })).toMatchObject({ exit: 10 });
    for (const one of [id, `${slug}.daily`]) await done(['triggers', 'delete', one]);
    expect((await signalbox(['triggers', 'show', id])).exit).toBe(10);
  });
});

describe('signalbox secrets', () => {
  it('stores what is typed unseen or comes on standard input, and never shows it', async () => {
    const name = `${unique('shop')}/token`;
    const limits = ['--hosts', 'api.example.com', '--workflows', 'shop'];
    const first = await signalbox(['secrets', 'set', name, ...limits], { input: 'the-first-value\n' });
    expect(first).toMatchObject({ exit: 0, out: `${name} is stored.` });
    const second = await signalbox(['secrets', 'set', name], { person: ['the-second-value'] });
    expect(second).toMatchObject({ exit: 0, out: `${name} is replaced.` });
    const listed = await done(['secrets', 'list']);
    expect(listed).toMatch(new RegExp(`${name} +\\S+ +api\\.example\\.com +shop`));
    const onCommandLine = await signalbox(['secrets', 'set', name, 'the-third-value'], { input: '' });
    expect(onCommandLine.exit).toBe(20);
    for (const { out, err } of [first, second, onCommandLine]) expect(out + err).not.toMatch(/the-\w+-value/);
    expect((await signalbox(['secrets', 'set', name], { input: '' })).err).toContain('No value was given.');
    await done(['secrets', 'delete', name, '--yes'], { person: [] });
    expect((await json(['secrets', 'list'])).map((one: { name: string }) => one.name)).not.toContain(name);
  });
});

describe('another person and another organization', () => {
  const key = async (name: string, role: string, ...more: string[]): Promise<string> =>
    (await json(['keys', 'create', name, '--role', role, ...more])).key;

  it('reviews a proposal, which is then applied', async () => {
    const slug = unique('proposed');
    await pushed(echo(slug, 'constraints: {allowSelfModification: true}\n'));
    const [ann, bob] = [await key(unique('ann'), 'editor'), await key(unique('bob'), 'editor')];
    const change = echo(slug, 'constraints: {allowSelfModification: true}\n').replace('name: Echo', 'name: Loud');
    const propose = async () => (await json(['propose', '-'], { input: change, key: ann })).id;
    const id = await propose();
    expect(await done(['proposals', 'list', slug, '--status', 'pending'])).toMatch(new RegExp(`^${id} +pending`, 'm'));
    expect(await done(['proposals', 'show', slug, id])).toMatch(/pending[\s\S]*^\+.*"Loud"/m);
    const own = await signalbox(['proposals', 'approve', slug, id], { key: ann });
    expect(own).toMatchObject({ exit: 10, err: expect.stringContaining('(proposer_may_not_review)') });
    await done(['proposals', 'reject', slug, id, '--notes', 'Why?'], { key: bob });
    const again = await propose();
    expect((await signalbox(['proposals', 'apply', slug, again])).err).toContain('(proposal_not_approved)');
    await done(['proposals', 'approve', slug, again], { key: bob });
    expect(await done(['proposals', 'apply', slug, again], { key: ann })).toMatch(`${slug} 1.0.1 stored sha256:`);
    expect(await done(['workflows', 'show', slug])).toBe(change.trimEnd());
  });

  it('gets a definition by promote, with its text, after a look at the difference', async () => {
    const slug = unique('promoted');
    const uses = 'config: {secrets: {PAY: payments/live}}\n';
    await pushed(echo(slug, uses));
    const there = await key('ops', 'admin', '--organization', unique('acme'));
    const promote = ['promote', slug];
    expect(await signalbox(promote)).toMatchObject({ exit: 20, err: expect.stringContaining('SIGNALBOX_TO_API_KEY') });
    const dry = await signalbox([...promote, '--dry-run'], { toKey: there });
    expect(dry).toMatchObject({ exit: 0, out: expect.stringMatching(/^\+# What people say[\s\S]*: dry run\.$/m) });
    expect(dry.err).toContain(`${slug} uses the secret payments/live, which is not stored there.`);
    expect((await signalbox(['workflows', 'show', slug], { key: there })).exit).toBe(10);
    expect((await signalbox(promote, { toKey: there, person: ['no'] })).exit).toBe(10);
    expect(await done([...promote, '--to', gateway.url], { toKey: there })).toMatch(
      /stored in acme-\w+ at http.*sha256:/,
    );
    expect(await done(['workflows', 'show', slug], { key: there })).toBe(echo(slug, uses).trimEnd());
    expect(await done(promote, { toKey: there })).toMatch(/is up to date in acme-/);

    // Only a comment changes; then the definition, which is compared with what the target has.
    await pushed(echo(slug, uses).replace('What people say', 'What they shout'));
    expect(await done(promote, { toKey: there })).toMatch(/^\+# What they shout[\s\S]*stored in acme-/m);
    await pushed(echo(slug, `tags: [loud]\n${uses}`));
    const [one] = await json([...promote, '--dry-run'], { toKey: there });
    expect(one).toMatchObject({ slug, isNew: false, isUpToDate: false, stored: null });
    expect(one.diffText).toMatch(/^\+ +"loud"$/m);
    const meanwhile = async () => {
      await done(['push', '-'], { input: echo(slug, 'tags: [theirs]\n'), key: there });
      return 'y';
    };
    const raced = await signalbox(promote, { toKey: there, person: [meanwhile] });
    expect(raced).toMatchObject({ exit: 10, err: expect.stringContaining('(hash_mismatch)') });
    expect(await done(promote, { toKey: there })).toMatch(/^- +"theirs"$[\s\S]*stored in acme-/m);
    const earlier = await done([...promote, '--version', '1.0.0'], { toKey: there });
    expect(earlier).toMatch(/^- +"loud"$[\s\S]*stored in acme-/m);
  });

  it('gets from promote what a workflow needs there', async () => {
    const slug = unique('needs');
    await pushed(`name: Needs
slug: ${slug}
steps:
  ask:
    stepType: approval
    config: {message: Go?, approvers: {users: [nobody-here]}, notify: [{channel: email, to: '{{ input.to }}'}]}
    nextSteps: {approved: done, rejected: done}
  done: {stepType: finish}
`);
    const toKey = await key('ops', 'admin', '--organization', unique('needy'));
    const { err } = await signalbox(['promote', slug, '--dry-run'], { toKey });
    expect(err).toContain('"nobody-here" is asked here, and has no API key of the organization.');
    expect(err).toContain(`${slug} sends e-mails over the host's SMTP server: SIGNALBOX_SMTP_URL has to be set`);
    const [one] = await json(['promote', slug, '--dry-run'], { toKey });
    expect(one.needs).toEqual([expect.stringContaining('SIGNALBOX_SMTP_URL')]);
    await pushed(echo(slug));
    expect((await json(['promote', slug, '--dry-run'], { toKey }))[0].needs).toEqual([]);
  });

  it('is refused with a role that may not do it, and the key stays unseen', async () => {
    const viewer = await key(unique('eve'), 'viewer');
    const refused = await signalbox(['secrets', 'list'], { key: viewer });
    expect(refused).toMatchObject({
      exit: 10,
      out: '',
      err: expect.stringContaining('SIGNALBOX_API_KEY. (role_required)'),
    });
    expect(refused.err).not.toContain(viewer);
  });
});
