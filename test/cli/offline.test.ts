import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { check } from '../../src/check/check.ts';
import { DIALECTS } from '../../src/compat/dialects.ts';
import { cli, filesFolder } from './terminal.ts';

const files = filesFolder();
afterAll(() => files.remove());

const good = files.write(
  'good.yaml',
  `name: Refund
input: {amount: number}
steps:
  big: {stepType: condition, config: {expression: input.amount > 100}, nextSteps: {true: review, false: pay}}
  review: {stepType: approval, config: {message: 'Refund {{ input.amount }}?'}, nextSteps: {approved: pay}}
  pay:
    stepType: http
    config: {method: POST, url: 'https://pay.example.com/', body: {cents: '{{ input.amount }}'}}
    nextSteps: {success: done}
  done: {stepType: finish, config: {output: '{{ steps.pay.output.data }}'}}
`,
);
const bad = files.write('bad.yaml', 'name: Bad\nsteps:\n  a:\n    stepType: finnish\n');

it('signalbox --version says which version it is', async () => {
  expect(await cli(['--version'])).toMatchObject({ exit: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
});

describe('signalbox validate', () => {
  it('answers for a good definition with its dialect and hash', async () => {
    const { exit, out } = await cli(['validate', good]);
    expect(exit).toBe(0);
    expect(out).toMatch(/good\.yaml: valid \(dialect canonical, sha256:[0-9a-f]{64}\)$/);
  });

  it('names file, line and column of every problem, and how to mend it', async () => {
    const { exit, out } = await cli(['validate', bad]);
    expect(exit).toBe(10);
    expect(out).toContain('bad.yaml:4:15 error /steps/a/stepType: There is no step kind');
    expect(out).toContain('Did you mean "finish"?');
    expect(out).toContain('1 problem');
  });

  it('warns of a number that is rounded, at its line, in every dialect', async () => {
    const input = 'name: Ids\nsteps:\n  a:\n    stepType: finish\n    config: {output: 7615917337495251231}\n';
    const { exit, out } = await cli(['validate', '-'], { input });
    expect({ exit, out }).toEqual({
      exit: 0,
      out: expect.stringContaining('<stdin>:5:22 warning /steps/a/config/output'),
    });
    const steps = '[{"name":"a","action":{"toolName":"X"},"input":{"id":7615917337495251231}}]';
    const texts = await cli(['validate', '-'], { input: JSON.stringify({ name: 'Ids', steps }) });
    expect(texts.out).toContain('warning /steps/0/input/id: This number is rounded');
  });

  it('names the line where a merge key or an alias takes a mistake from, and no line of its use', async () => {
    const input = [
      'name: Merged',
      'x-common:',
      '  call: &call',
      '    stepType: http',
      '    config: &config {url: "https://example.com", metod: POST}',
      'steps:',
      '  a:',
      '    <<: *call',
      '    nextSteps: {success: b}',
      '  b: {stepType: http, config: *config}',
    ].join('\n');
    const { exit, out } = await cli(['validate', '-'], { input });
    expect(exit).toBe(10);
    expect(out.match(/<stdin>:\d+:\d+ error \S+/g)).toEqual([
      '<stdin>:5:57 error /steps/a/config/metod:',
      '<stdin>:5:57 error /steps/b/config/metod:',
    ]);
  });

  it('reads standard input, and answers programs in JSON', async () => {
    const input = JSON.stringify({ name: 'Hello', steps: { hello: { stepType: 'finish' } } });
    const { exit, out } = await cli(['validate', '-', '--json'], { input });
    expect(exit).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ valid: true, dialect: 'canonical', problems: [] });
  });

  it('ends with 10 for what is no file and for what is no document, saying where', async () => {
    const none = await cli(['validate', '/nowhere/at-all.yaml']);
    expect(none).toMatchObject({ exit: 10, out: '' });
    expect(none.err).toContain('cannot be read (ENOENT)');
    const broken = await cli(['validate', '-'], { input: 'name: x\nsteps: [a\nb: 1\n' });
    expect(broken.exit).toBe(10);
    expect(broken.err).toMatch(/<stdin>:\d+:\d+ error/);
  });
});

describe('signalbox run --dry', () => {
  it('walks without effects, shows the inputs, and stops where somebody is asked', async () => {
    const { exit, out } = await cli(['run', good, '--dry', '--input', '{"amount": 120}']);
    expect(exit).toBe(0);
    expect(out).toContain('refund  waiting  (dry run: no step was executed)');
    expect(out).toContain('waits for approval at review');
    const small = await cli(['run', good, '--dry', '--input', '{"amount": 12}']);
    expect(small.out).toMatch(/pay +http +completed +success +mock +\{.*"cents":12/);
    expect(small.out).toContain('refund  completed');
  });

  it('continues with presets, and answers programs in JSON', async () => {
    const presets = '{"review": {"data": {"decision": "approved"}}, "pay": {"paid": true}}';
    const { out } = await cli(['run', good, '--dry', '--json', '--input', '{"amount": 120}', '--presets', presets]);
    expect(JSON.parse(out)).toMatchObject({ status: 'completed', output: { paid: true }, waits: [], problems: [] });
  });

  it('ends with 40 when the run would fail, and with 10 for an input that is not as declared', async () => {
    const failing = await cli(['run', '-', '--dry'], {
      input: 'steps: {a: {stepType: fail, config: {code: no, message: No.}}}',
    });
    expect(failing.exit).toBe(40);
    expect(failing.out).toContain('error: no at a: No.');
    const answers = '{"review": {"decision": "approved"}}';
    const decided = await cli(['run', good, '--dry', '--input', '{"amount": 120}', '--answers', answers]);
    expect(decided.out).toContain('refund  completed');
    const badly = await cli(['run', good, '--dry', '--input', '{"amount": 1}', '--answers', '{"review": 1}']);
    expect(badly).toMatchObject({ exit: 20, err: expect.stringContaining('expected {decision}') });
    expect((await cli(['run', good, '--answers', answers])).exit).toBe(20);
    const wrong = await cli(['run', good, '--dry', '--input', '{"amount": "much"}']);
    expect(wrong.exit).toBe(10);
    expect(wrong.err).toContain('/amount');
  });

  it('ends with 10, before anything is walked, for presets of steps that are not there', async () => {
    const { exit, out, err } = await cli(['run', good, '--dry', '--presets', '{"reviw": 1}']);
    expect({ exit, out }).toEqual({ exit: 10, out: '' });
    expect(err).toContain('\'reviw\' names no step of this definition. Did you mean "review"?');
  });

  it('ends with 20 for an input with a number that would be rounded', async () => {
    const { exit, err } = await cli(['run', good, '--dry', '--input', '{"amount": 7615917337495251231}']);
    expect(exit).toBe(20);
    expect(err).toContain('The number 7615917337495251231 at /amount cannot be kept exactly. Write it in quotes.');
  });

  it('mocks an action that this host does not offer, and says so', async () => {
    const input = 'steps: {book: {stepType: action, config: {type: shop.book}}}';
    const { exit, out, err } = await cli(['run', '-', '--dry'], { input });
    expect(exit).toBe(0);
    expect(out).toMatch(/book +action +completed +success +mock/);
    expect(err).toContain('unknown_action');
  });
});

describe('signalbox import', () => {
  const task = JSON.stringify({
    name: 'Send on',
    steps: [{ name: 'answer', action: { return: true }, input: { value: '@input.value' } }],
  });

  it('prints canonical YAML that has the same hash', async () => {
    const { exit, out, err } = await cli(['import', '--from', '001', '-'], { input: task });
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    const again = check(parse(out));
    expect(again.problems).toEqual([]);
    expect(again.hash).toBe(check(JSON.parse(task), { dialect: '001' }).hash);
    expect(out.indexOf('steps:')).toBeGreaterThan(out.indexOf('name:'));
  });

  it('takes the name of a system for its number, and refuses other names with a list', async () => {
    const ofAgentOps = JSON.stringify({ name: 'Go', steps: [{ id: 'go', type: 'approval' }] });
    const [byName, byNumber] = await Promise.all(
      ['agent-ops', '002'].map((from) => cli(['import', '--from', from, '-'], { input: ofAgentOps })),
    );
    expect(byName).toEqual(byNumber);
    expect(byName).toMatchObject({ exit: 0, out: expect.stringContaining('dialect: "002"') });
    const read = await cli(['validate', '--dialect', 'mesh', '-'], { input: ofAgentOps });
    expect(read.out).toContain('(dialect 001)');
    const unknown = await cli(['import', '--from', 'rivet', '-'], { input: ofAgentOps });
    expect(unknown.exit).toBe(20);
    expect(unknown.err).toContain(DIALECTS.join(', '));
  });

  it('reports problems on standard error, and never prints a clear secret', async () => {
    const input = JSON.stringify({
      name: 'Hooked',
      steps: { a: { stepType: 'action', config: { type: 'shop.book' } } },
      triggers: [{ name: 'in', type: 'webhook', config: { path: 'in', scheme: 'github', secret: 'top-secret-value' } }],
    });
    const { exit, out, err } = await cli(['import', '--from', 'canonical', '-'], { input });
    expect(exit).toBe(10);
    expect(err).toContain('unknown_action');
    expect(err).toContain('PUT /api/secrets/workflows%2Fhooked%2Ftriggers%2Fin%2Fsecret');
    expect(parse(out)).toMatchObject({ slug: 'hooked' });
    expect(out + err).not.toContain('top-secret-value');
  });
});

describe('the command line', () => {
  it('ends with 20 for what it does not know, and with 0 for help', async () => {
    expect((await cli(['validat', good])).exit).toBe(20);
    expect((await cli(['run', good, '--speed', '9'])).exit).toBe(20);
    expect((await cli(['run', good, '--dry', '--input', '{'])).exit).toBe(20);
    expect((await cli(['resume', 'run.x', '--decision', 'maybe'])).exit).toBe(20);
    expect((await cli(['import', good])).exit).toBe(20);
    expect((await cli([])).exit).toBe(20);
    const help = await cli(['--help']);
    expect(help.exit).toBe(0);
    for (const code of [0, 1, 10, 20, 40]) expect(help.out).toMatch(new RegExp(`[ \\n]${code} [a-z]`));
    for (const name of ['start', 'run', 'validate', 'push', 'list', 'show', 'logs', 'resume', 'approve', 'import'])
      expect(help.out).toContain(name);
  });

  it('says what to do when no gateway answers', async () => {
    const { exit, err } = await cli(['list'], { env: { SIGNALBOX_PORT: '1' } });
    expect(exit).toBe(10);
    expect(err).toContain('No gateway answers at http://127.0.0.1:1. Start one with npm start');
    const stackless = await cli(['list'], { env: { SIGNALBOX_PORT: '0', SIGNALBOX_DATA: '/nowhere' } });
    expect(stackless).toMatchObject({ exit: 10 });
    expect((await cli(['list'], { env: { SIGNALBOX_PORT: 'many' } })).exit).toBe(20);
  });
});
