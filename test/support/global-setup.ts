import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { obtainTemporal } from '../../src/cli/start/obtain.ts';
import { projectRoot } from '../../src/cli/start/project-root.ts';
import { lastWords, runProgram } from '../../src/cli/start/run-program.ts';
import { startServer } from '../../src/cli/start/server.ts';
import { bootstrap } from '../../src/client/temporal/bootstrap.ts';
import { connect } from '../../src/client/temporal/connect.ts';
import { readConfig } from '../../src/config/config.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the server of all end-to-end tests listens. */
    temporalAddress: string;
    /** The Temporal CLI; empty when TEMPORAL_ADDRESS was given. */
    temporalBinary: string;
  }
}

const NAMESPACE = 'signalbox-test';
const say = (text: string): void => console.log(`[e2e] ${text}`);

/** Builds, then starts one Temporal server in memory on free ports for all tests of the project `e2e`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const built = await runProgram(process.execPath, [join(projectRoot(), 'deploy/build.mjs')]);
  if (!built.ok) throw new Error(`The build failed. ${lastWords(built)}`);
  const given = readConfig(process.env);
  if (given.temporal.address !== undefined) {
    await prepare(given.temporal.address);
    project.provide('temporalAddress', given.temporal.address);
    project.provide('temporalBinary', '');
    return async () => {};
  }
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-e2e-'));
  const binary = await obtainTemporal({ say });
  const server = await startServer({
    binary,
    namespace: NAMESPACE,
    databaseFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'temporal.log'),
    say,
    anyPorts: true,
  });
  await prepare(server.address);
  project.provide('temporalAddress', server.address);
  project.provide('temporalBinary', binary.path);
  return async () => {
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  };
}

async function prepare(address: string): Promise<void> {
  const config = readConfig({ ...process.env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: NAMESPACE });
  const temporal = await connect(config);
  await bootstrap(temporal, { retentionDays: config.retentionDays, ownServer: true });
  await temporal.close();
}
