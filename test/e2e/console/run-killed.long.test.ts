// The Run screen over a gateway that is killed, and started again by another process.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, it } from 'vitest';
import { compiledRoot } from '../../../src/cli/start/project-root.ts';
import { describeInBrowser, openBrowser } from '../../support/browser.ts';
import { until } from '../../support/stack.ts';
import { sharedGateway, unique } from '../gateway/gateway-support.ts';
import { expectReconnect, TWO_APPROVALS } from './gateway-outage.ts';
import { runPath, startRun } from './run-definitions.ts';

const ADMIN = 'an-admin-of-the-environment-0123456789';

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: ADMIN });
const children: ChildProcess[] = [];

/** `signalbox start --only gateway` on this port; 0 picks one. */
async function gatewayAt(port: number): Promise<{ child: ChildProcess; port: number }> {
  const env = { ...gateway.server.env, SIGNALBOX_PORT: String(port) };
  const main = join(compiledRoot(), 'src/cli/main.js');
  const child = spawn(process.execPath, [main, 'start', '--only', 'gateway'], { env });
  children.push(child);
  let stdout = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      stdout += chunk.toString('utf8');
    });
  const found = () => /The gateway listens at http:\S+?:(\d+)\. /.exec(stdout)?.[1];
  await until(`the gateway listens: ${stdout}`, 90_000, () => found() !== undefined || child.exitCode !== null);
  return { child, port: Number(found()) };
}

describeInBrowser('a run over a gateway that is killed', () => {
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
  });

  it('is seen again, and what happened meanwhile once', async () => {
    const name = unique('starter');
    const { key } = (await gateway.request('POST', '/api/keys', { json: { name, role: 'editor' } })).body;
    const id = await startRun(gateway, TWO_APPROVALS, key);
    await gateway.until(runPath(id), ({ body }) => body.waitingFor?.length > 0, 60);
    const { child, port } = await gatewayAt(0);
    const browser = await openBrowser(`http://127.0.0.1:${port}`);
    const cut = async (): Promise<void> => {
      child.kill('SIGKILL');
    };
    await expectReconnect(gateway, browser, id, ADMIN, { cut, join: () => gatewayAt(port) });
    await browser.close();
  }, 300_000);
});
