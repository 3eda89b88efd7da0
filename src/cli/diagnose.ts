/** The findings of `signalbox doctor`: of the server, and of this machine. */
import { statfsSync } from 'node:fs';
import { runningStack } from '#stacks';
import { blobFindings } from '../client/doctor/blobs.ts';
import { examine } from '../client/doctor/examine.ts';
import type { Finding } from '../client/doctor/finding.ts';
import { type Config, readConfig } from '../config/config.ts';

const MIN_FREE_BYTES = 1_000_000_000;

/** Temporal is that of TEMPORAL_ADDRESS, else the one of the running stack. @throws ConfigError */
export async function diagnose(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const config = readConfig(env);
  const own = [...(await blobFindings(config)), ...folderFindings(config)];
  if (config.temporal.address !== undefined) return [...(await examine(config)), ...own];
  const stack = runningStack(config.dataDir);
  if (stack === undefined) {
    const text = `TEMPORAL_ADDRESS is not set, and no stack runs on ${config.dataDir}.`;
    return [{ check: 'connection', level: 'blocks', text, lines: ['TEMPORAL_ADDRESS=host:7233', 'npm start'] }, ...own];
  }
  const { address, namespace } = stack.temporal;
  const findings = await examine({ ...config, temporal: { ...config.temporal, address, namespace } });
  return [...findings, ...EMBEDDED_SERVER_NOTES, ...own];
}

/** What is unusual about the server that `npm start` starts. */
const EMBEDDED_SERVER_NOTES: readonly Finding[] = [
  'This is the server that `npm start` starts: one process with a SQLite database. Nothing takes over if it dies.',
  'SQLite writes with journal_mode=WAL and synchronous=NORMAL: a killed process loses nothing; a power failure may ' +
    'lose the last moments before it.',
  'It requires no key: every user of this machine can see and start runs.',
].map((text) => ({ check: 'server', level: 'note', text }));

function folderFindings({ dataDir }: Pick<Config, 'dataDir'>): Finding[] {
  const check = 'data folder';
  try {
    const { bavail, bsize } = statfsSync(dataDir);
    const gigabytes = `${((bavail * bsize) / 1e9).toFixed(1)} GB are free in ${dataDir}.`;
    if (bavail * bsize >= MIN_FREE_BYTES) return [{ check, level: 'ok', text: gigabytes }];
    return [{ check, level: 'warning', text: `Only ${gigabytes}`, lines: ['SIGNALBOX_DATA=/a/larger/disk'] }];
  } catch {
    return [{ check, level: 'note', text: `${dataDir} does not exist yet. Starting creates it.` }];
  }
}
