// The command line against a real gateway: what a person at a terminal does, and what a script reads.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../../src/gateway/serve.ts';
import { type CliRun, cli, filesFolder } from '../../cli/terminal.ts';
import { type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

const files = filesFolder();
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(async () => {
  await gateway.close();
  files.remove();
});

function signalbox(...args: string[]): Promise<CliRun> {
  return cli(args, { env: { SIGNALBOX_PORT: new URL(gateway.url).port } });
}

const refund = (slug: string): string => `name: Refund
slug: ${slug}
input: {amount: number}
steps:
  review:
    stepType: approval
    config: {message: 'Refund {{ input.amount }}?'}
    nextSteps: {approved: yes, rejected: no}
  yes: {stepType: finish, config: {output: {paid: '{{ input.amount }}', why: '{{ lastOutput.data.comments }}'}}}
  no: {stepType: fail, config: {code: refused, message: 'Refused: {{ lastOutput.data.comments }}'}}
`;

async function waitingRun(slug: string): Promise<string> {
  const file = files.write(`${slug}.yaml`, refund(slug));
  const { exit, out } = await signalbox('run', file, '--input', '{"amount": 12}', '--json');
  expect(exit).toBe(0);
  const { executionId, status, waitingFor } = JSON.parse(out);
  expect({ status, waitingFor }).toMatchObject({
    status: 'waiting',
    waitingFor: [{ path: 'review', kind: 'approval' }],
  });
  return executionId;
}

describe('signalbox run', () => {
  it('answers with the output when the run ends', async () => {
    const file = files.write(
      'hello.json',
      JSON.stringify({ steps: { a: { stepType: 'finish', config: { output: '{{ input }}' } } } }),
    );
    const { exit, out } = await signalbox('run', file, '--input', '{"a": [1]}');
    expect(exit).toBe(0);
    expect(out).toMatch(/^run\.default\.\S+ {2}completed\n/);
    expect(JSON.parse(out.slice(out.indexOf('\n')))).toEqual({ a: [1] });
  });

  it('ends with 40 when the run fails, and with 10 when the gateway refuses', async () => {
    const failing = files.write(
      'failing.yaml',
      'steps: {a: {stepType: fail, config: {code: no, message: Not today.}}}',
    );
    const failed = await signalbox('run', failing);
    expect(failed.exit).toBe(40);
    expect(failed.out).toContain('error: no at a: Not today.');
    const broken = await signalbox('run', files.write('broken.yaml', 'steps: {a: {stepType: finnish}}'));
    expect(broken.exit).toBe(10);
    expect(broken.err).toContain('/steps/a/stepType');
  });

  it('prints the rollback, as show does; show summarizes many visits, and /steps finds the failed ones', async () => {
    const saga = files.write(
      'saga.yaml',
      `config: {onFailure: rollback}
steps:
  hold:
    stepType: run_code
    config: {language: javascript, code: 'export default () => 1'}
    rollback: {stepType: run_code, config: {language: javascript, code: 'export default () => 0'}}
    nextSteps: {success: each}
  each: {stepType: forEach, config: {items: '{{ input }}', onError: continue}, nextSteps: {item: odd, done: end}}
  odd: {stepType: condition, config: {expression: 'item % 10 == 7'}, nextSteps: {'true': bad, 'false': good}}
  bad: {stepType: fail, config: {code: seven, message: 'It is {{ item }}.'}}
  good: {stepType: mapping, config: {output: '{{ item }}'}}
  end: {stepType: fail, config: {code: end, message: The end.}}
`,
    );
    const input = JSON.stringify(Array.from({ length: 60 }, (_, n) => n));
    const { exit, out } = await signalbox('run', saga, '--input', input);
    expect(exit).toBe(40);
    expect(out).toContain('rolled back: hold');
    const id = out.split(' ')[0] ?? '';
    const shown = await signalbox('show', id);
    expect(shown.out).toContain('rolled back: hold');
    expect(shown.out).toMatch(/each\[0-6,8-16,18-26,28-36…\]\/good .*54 of 54/);
    expect(shown.out.split('\n').length).toBeLessThan(35);
    expect((await signalbox('show', id, '--all')).out.split('\n').length).toBeGreaterThan(120);
    const bad = await signalbox('show', id, '--status', 'failed', '--step', 'bad', '--json');
    expect(JSON.parse(bad.out).steps.map(({ path }: { path: string }) => path)).toEqual(
      [7, 17, 27, 37, 47, 57].map((n) => `each[${n}]/bad`),
    );
    expect(await signalbox('show', id, '--status', 'broken')).toMatchObject({ exit: 10 });
  });

  it('takes presets, and waits no longer than --wait', async () => {
    const sleepy = files.write('sleepy.yaml', 'steps: {a: {stepType: sleep, config: {duration: 1h}}}');
    const waiting = await signalbox('run', sleepy, '--wait', '1');
    expect(waiting.exit).toBe(0);
    expect(waiting.out).toContain('waits for timer at a until');
    const preset = await signalbox('run', sleepy, '--presets', '{"a": {"data": "rested"}}');
    expect(preset.out).toContain('"rested"');
  });
});

describe('decisions', () => {
  it('resumes with an approval and its comments, once', async () => {
    const id = await waitingRun(unique('refund'));
    const decided = await signalbox('resume', id, '--decision', 'approve', '--comments', 'Fine.', '--step', 'review');
    expect(decided).toMatchObject({ exit: 0, out: `${id}  review approved` });
    const followed = await signalbox('logs', '-f', id);
    expect(followed.exit).toBe(0);
    expect(followed.out).toMatch(/review {2}completed approved[\s\S]*yes {2}completed[\s\S]*"why": "Fine\."/);
    const late = await signalbox('approve', id);
    expect(late).toMatchObject({ exit: 10, out: '' });
    expect(late.err).toContain('(closed)');
  });

  it('denies, and follows a run to its failure with exit code 40', async () => {
    const id = await waitingRun(unique('refund'));
    const following = signalbox('logs', '--follow', id);
    await signalbox('resume', id, '--decision', 'deny', '--comments', 'Too late.');
    const { exit, out } = await following;
    expect(exit).toBe(40);
    expect(out).toContain('error: refused at no: Refused: Too late.');
    const shown = await signalbox('show', id);
    expect(shown.exit).toBe(0);
    expect(shown.out).toContain(`${id}  failed`);
    const once = await signalbox('logs', id);
    expect(once).toMatchObject({ exit: 0, out: expect.stringMatching(/ {2}failed\nerror: refused at no: Refused: T/) });
    expect(shown.out).toMatch(/no +fail +failed .*refused: Refused: Too late\./);
    const json = JSON.parse((await signalbox('show', id, '--json')).out);
    expect(json).toMatchObject({ id, status: 'failed', error: { code: 'refused' }, input: { amount: 12 } });
    expect(json.steps.map((step: { path: string }) => step.path)).toEqual(['review', 'no']);
  });

  it('follows a run across a restart of the gateway, and reports each step once', async () => {
    const id = await waitingRun(unique('refund'));
    const first = await startGateway(gateway.server.config, { temporal: gateway.server });
    const port = new URL(first.url).port;
    const printed: string[] = [];
    const followed = cli(['logs', '-f', id], { env: { SIGNALBOX_PORT: port }, printed });
    await expect.poll(() => printed.join('\n')).toContain('review  waiting');
    await first.close();
    await signalbox('resume', id, '--decision', 'approve', '--comments', 'Fine.');
    const again = await startGateway({ ...gateway.server.config, port: Number(port) }, { temporal: gateway.server });
    const { exit, out } = await followed;
    await again.close();
    expect(exit).toBe(0);
    expect(out.split('\n').filter((line) => / {2}(review|yes) {2}/.test(line))).toEqual([
      expect.stringContaining('review  waiting'),
      expect.stringContaining('review  completed approved'),
      expect.stringContaining('yes  completed'),
    ]);
  });

  it('shows what waits, and says which id it does not know', async () => {
    const slug = unique('refund');
    const id = await waitingRun(slug);
    const shown = await signalbox('show', id);
    expect(shown.out).toContain('waits for approval at review: Refund 12?');
    await gateway.until(`/api/approvals?workflowId=${slug}`, ({ body }) => body.items.length === 1);
    const approvals = await signalbox('list', 'approvals', '--workflow', slug);
    expect(approvals.out).toMatch(new RegExp(`${id} +review +\\S+ +Refund 12\\?`));
    const executions = await signalbox('list', '--workflow', slug, '--status', 'waiting', '--json');
    expect(JSON.parse(executions.out)).toMatchObject([{ id, status: 'waiting' }]);
    await signalbox('resume', id, '--decision', 'deny');
    const unknown = await signalbox('show', 'run.default.none.1');
    expect(unknown).toMatchObject({ exit: 10 });
    expect(unknown.err).toContain('There is no execution with that id. (not_found)');
    expect((await signalbox('list', 'workflows', '--status', 'failed')).exit).toBe(20);
  });
});

describe('executions that have ended', () => {
  it('continue by a retry, or begin anew at a step by a fork', async () => {
    const id = await waitingRun(unique('refund'));
    await signalbox('resume', id, '--decision', 'deny', '--comments', 'Not yet.');
    expect((await signalbox('logs', '-f', id)).exit).toBe(40);
    expect(await signalbox('retry', id)).toMatchObject({ exit: 0, out: `${id}  pending` });
    expect((await signalbox('logs', '-f', id)).exit).toBe(40);
    const forked = await signalbox('fork', id, '--from', 'review', '--edits', '{"input": {"amount": 3}}', '--json');
    expect(forked.exit).toBe(0);
    const { executionId } = JSON.parse(forked.out);
    expect(executionId).not.toBe(id);
    await gateway.until(`/api/executions/${executionId}`, ({ body }) => body.waitingFor?.length > 0);
    await signalbox('approve', executionId);
    expect((await signalbox('logs', '-f', executionId)).exit).toBe(0);
    const nowhere = await signalbox('fork', id, '--from', 'nowhere');
    expect(nowhere.exit).toBe(10);
    expect(nowhere.err).toContain('(no_such_step)');
  });
});

describe('signalbox push', () => {
  it('stores several definitions, prints where webhooks are, and what is wrong with the others', async () => {
    const slug = unique('hooked');
    const hooked = files.write(
      'hooked.yaml',
      `name: Hooked
slug: ${slug}
steps: {a: {stepType: trigger}}
triggers: [{name: in, type: webhook, config: {path: ${slug}, scheme: github, secret: clear-secret-of-mine}}]
`,
    );
    const broken = files.write('bad.yaml', 'name: Bad\nsteps: {a: {stepType: finnish}}');
    const pushed = await signalbox('push', hooked, broken);
    expect(pushed.exit).toBe(10);
    expect(pushed.out).toMatch(
      new RegExp(`^${slug} 1\\.0\\.0 created sha256:[0-9a-f]{64}\\n {2}in: http.*/webhooks/${slug}$`),
    );
    expect(pushed.err).toContain('/steps/a/stepType');
    expect(pushed.out + pushed.err).not.toContain('clear-secret-of-mine');
    expect((await signalbox('push', hooked)).out).toContain('stored');
    const listed = await gateway.until('/api/workflows?limit=1000', ({ body }) =>
      body.items.some((head: { slug: string }) => head.slug === slug),
    );
    expect(listed.status).toBe(200);
    expect((await signalbox('list', 'workflows', '--limit', '1000')).out).toContain(slug);
  });
});

describe('a dry run over HTTP', () => {
  it('answers with the trace, the waits, and what is mocked, and starts nothing', async () => {
    const slug = unique('dry');
    const definition = {
      name: 'Dry',
      slug,
      input: { id: 'number' },
      steps: {
        fetch: {
          stepType: 'http',
          config: { url: 'http://127.0.0.1:1/{{ input.id }}' },
          nextSteps: { success: 'book' },
        },
        book: { stepType: 'action', config: { type: 'shop.book' }, nextSteps: { success: 'review' } },
        review: { stepType: 'approval', config: { message: 'Well?' } },
      },
    };
    const dry = (more: object) =>
      gateway.request('POST', '/api/executions', { json: { definition, dryRun: true, input: { id: 7 }, ...more } });
    const { status, body } = await dry({ presets: { fetch: { found: true } } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'waiting',
      waits: [{ path: 'review', kind: 'approval' }],
      problems: [{ code: 'unknown_action', pointer: '/steps/book/config/type' }],
      steps: [
        {
          path: 'fetch',
          status: 'completed',
          input: { url: 'http://127.0.0.1:1/7' },
          output: { data: { found: true } },
        },
        { path: 'book', status: 'completed', output: { data: null, meta: { mocked: true } } },
        { path: 'review', status: 'waiting' },
      ],
    });
    expect((await dry({ input: { id: 'seven' } })).body).toMatchObject({ status: 422, code: 'invalid_input' });
    const broken = { ...definition, steps: { a: { stepType: 'finnish' } } };
    expect((await dry({ definition: broken })).body).toMatchObject({ status: 422, code: 'invalid_definition' });
    expect((await gateway.request('GET', `/api/executions?workflowId=${slug}`)).body.items).toEqual([]);
  });

  it('ends a walk that would hold the gateway up', async () => {
    const round = { a: { stepType: 'set', config: { values: { n: 1 } }, nextSteps: { success: 'a' } } };
    const { body } = await gateway.request('POST', '/api/executions', {
      json: { definition: { name: 'Round', slug: unique('round'), steps: round }, dryRun: true },
    });
    expect(body).toMatchObject({ status: 'failed', problems: [{ code: 'dry_run_too_long' }] });
    expect(body.steps).toHaveLength(1_000);
    expect(body.stepsTotal).toBeGreaterThan(1_000);
  });
});
