// What a rate of runs needs, by what one run costs on PostgreSQL (test/bench/production.bench.ts).
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

const RATES = [10, 100, 1_000];
const SECONDS_A_DAY = 86_400;

const rounded = (value) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value >= 10 ? value.toFixed(0) : value.toPrecision(2);
const line = (cells) => `| ${cells.join(' | ')} |`;
const right = (count) => Array.from({ length: count }, () => '---:');

/** The cost of one run, and below it what 10, 100 and 1,000 runs a second need, as Markdown. */
export function needsTable(costs) {
  return [
    line(['one run', 'commits', 'log', 'data', 'Temporal', 'PostgreSQL', 'gateway', 'worker']),
    line(['---', ...right(7)]),
    ...costs.map(({ name, commits, logBytes, dataBytes, cpu }) =>
      line([
        name,
        rounded(commits),
        `${rounded(logBytes / 1e3)} kB`,
        `${rounded(dataBytes / 1e3)} kB`,
        ...[cpu.temporal, cpu.postgres, cpu.gateway, cpu.worker].map((ms) => `${rounded(ms)} ms`),
      ]),
    ),
    '',
    line([
      'runs a second',
      'cores: Temporal',
      'PostgreSQL',
      'gateways',
      'workers',
      'commits/s',
      'log, MB/s',
      'data, GB a day',
    ]),
    line(['---', ...right(7)]),
    ...costs.flatMap(({ name, commits, logBytes, dataBytes, cpu }) =>
      RATES.map((rate) =>
        line([
          `${rate.toLocaleString('en')} × ${name}`,
          ...[cpu.temporal, cpu.postgres, cpu.gateway, cpu.worker].map((ms) => rounded((ms * rate) / 1_000)),
          rounded(commits * rate),
          rounded((logBytes * rate) / 1e6),
          rounded((dataBytes * rate * SECONDS_A_DAY) / 1e9),
        ]),
      ),
    ),
  ].join('\n');
}

/** Writes production.json and production.md. */
export function writeNeeds(costs, folder) {
  const [cpu] = cpus();
  const machine = { cores: cpus().length, model: cpu?.model ?? 'unknown', node: process.version };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'production.json'), `${JSON.stringify({ machine, costs }, null, 2)}\n`);
  writeFileSync(join(folder, 'production.md'), `${needsTable(costs)}\n`);
}
