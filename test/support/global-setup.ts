import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { obtainTemporal } from '../../src/cli/start/obtain-temporal.ts';
import { projectRoot } from '../../src/cli/start/project-root.ts';
import { lastOutput, runExecutable } from '../../src/cli/start/run-executable.ts';
import { startServer } from '../../src/cli/start/temporal-server.ts';
import { bootstrap } from '../../src/client/temporal/bootstrap.ts';
import { connect } from '../../src/client/temporal/connect.ts';
import { readConfig } from '../../src/config/config.ts';
import { namespaceOfSlot } from './namespaces.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the server of all end-to-end tests listens. */
    temporalAddress: string;
    /** The Temporal CLI. */
    temporalBinary: string;
  }
}

const say = (text: string): void => console.log(`[e2e] ${text}`);

/** Builds, then starts one Temporal server in memory on free ports for all tests of the project `e2e`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const built = await runExecutable(process.execPath, [join(projectRoot(), 'deploy/build.mjs')]);
  if (!built.ok) throw new Error(`The build failed. ${lastOutput(built)}`);
  const given = readConfig(process.env);
  const namespaces = Array.from({ length: project.config.maxWorkers }, (_, index) => namespaceOfSlot(index + 1));
  if (given.temporal.address !== undefined) {
    await prepare(given.temporal.address, namespaces);
    project.provide('temporalAddress', given.temporal.address);
    project.provide('temporalBinary', (await obtainTemporal({ say })).path);
    return async () => {};
  }
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-e2e-'));
  const binary = await obtainTemporal({ say });
  const logFile = join(folder, 'temporal.log');
  const server = await startServer({
    binary,
    namespace: namespaceOfSlot(1),
    databaseFile: join(folder, 'temporal.db'),
    logFile,
    say,
    anyPorts: true,
    onSpawn: () => {
      const faults = faultsIn(logFile);
      if (faults !== '') say(faults);
    },
  });
  await prepare(server.address, namespaces);
  project.provide('temporalAddress', server.address);
  project.provide('temporalBinary', binary.path);
  return async () => {
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  };
}

/** One after the other: a server that gets many namespaces concurrently has ended by a fault of its own. */
async function prepare(address: string, namespaces: readonly string[]): Promise<void> {
  for (const namespace of namespaces) {
    const config = readConfig({ ...process.env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace });
    const temporal = await connect(config);
    await bootstrap(temporal, { retentionDays: config.retentionDays, ownServer: true });
    await temporal.close();
  }
}

/** What a server wrote before it ended by itself: its log goes with the folder. */
function faultsIn(logFile: string): string {
  const lines = readFileSync(logFile, 'utf8').split('\n');
  const at = lines.findIndex((line) => /^(panic|fatal error)/.test(line));
  return lines.slice(at === -1 ? -20 : at, at === -1 ? undefined : at + 40).join('\n');
}
