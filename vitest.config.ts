import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { ALONE_FILES, TestSequencer } from './test/support/test-sequencer.ts';

// The gateway starts threads, which load its sources without Vitest.
const THREADS_READ_SOURCES = ['--import', new URL('./test/support/typescript.mjs', import.meta.url).href];

// Half of the time of an end-to-end test is waiting, so there are more of them than cores.
const SIDE_BY_SIDE = Math.min(4, availableParallelism() + 1);

// Machines differ, and share their cores: what a test does or waits for may take long, and no limit here is a promise.
const PATIENT = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 30_000 } } };

// What `e2e`, `long` and `alone` have in common: one Temporal server, which the global setup obtains and starts. Files that run
// side by side have a namespace each (test/support/namespaces.ts).
const ON_TEMPORAL = {
  globalSetup: ['test/support/global-setup.ts'],
  pool: 'forks',
  // A third of the processor time of a file went into loading and warming up the same modules.
  isolate: false,
  execArgv: THREADS_READ_SOURCES,
  ...PATIENT,
} as const;

// Tests without Temporal that take seconds: they start processes or threads, bundle workflows, wait for a peer that does
// not answer, fill a run to its limits, or try hundreds of random runs or documents.
const SLOW = [
  'test/activities/bash/**/*.test.ts',
  'test/activities/mcp/tool.test.ts',
  'test/activities/run-code/**/*.test.ts',
  'test/activities/send-message/**/*.test.ts',
  'test/activities/runtime/scrub.test.ts',
  'test/activities/runtime/scrub-tables.test.ts',
  'test/cli/terminal-prompts.test.ts',
  'test/compat/dialect-members.test.ts',
  'test/deploy/kubernetes-types.test.ts',
  'test/engine/command-backlog.test.ts',
  'test/engine/limits.test.ts',
  'test/engine/space.test.ts',
  'test/engine/full-roots.test.ts',
  'test/gateway/events-stream-disconnect.test.ts',
  'test/gateway/http.test.ts',
  'test/gateway/temporal-refuses.test.ts',
  'test/gateway/threads.test.ts',
  'test/history/dry-run-property.test.ts',
  'test/history/fold.test.ts',
  'test/history/fold-property.test.ts',
  'test/replay/**/*.test.ts',
  'test/workflows/limiter-pool.test.ts',
];

// Tests of the project `e2e` that do more where they are long ones (LONG=1).
const ALSO_LONG = [
  'test/e2e/cli/readme.test.ts',
  'test/e2e/gateway/gateway-openapi.test.ts',
  'test/e2e/gateway/gateway-openapi-actors.test.ts',
];

// What `quick` and `slow` have in common. `npm test` runs them together.
const WITHOUT_TEMPORAL = {
  // Most take milliseconds, and half of the time went into loading the same modules for each file.
  isolate: false,
  execArgv: THREADS_READ_SOURCES,
  maxWorkers: 2,
  ...PATIENT,
  sequence: { groupOrder: 1 },
};

// Six projects. `quick` and `slow` need nothing but Node. `long` and `alone` are what is not run each time (`npm run
// test:long`). `bench` is no test: `npm run bench` runs it alone, for its table.
export default defineConfig({
  test: {
    sequence: { sequencer: TestSequencer },
    projects: [
      {
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/start/**', ...SLOW],
          ...WITHOUT_TEMPORAL,
        },
      },
      { test: { name: 'slow', include: SLOW, ...WITHOUT_TEMPORAL } },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts', 'test/start/**/*.test.ts'],
          exclude: ['test/**/*.long.test.ts'],
          ...ON_TEMPORAL,
          maxWorkers: SIDE_BY_SIDE,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'long',
          include: ['test/**/*.long.test.ts', ...ALSO_LONG],
          exclude: [...ALONE_FILES],
          env: { LONG: '1' },
          ...ON_TEMPORAL,
          maxWorkers: SIDE_BY_SIDE,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'alone',
          include: [...ALONE_FILES],
          ...ON_TEMPORAL,
          maxWorkers: 1,
          sequence: { groupOrder: 4 },
        },
      },
      {
        test: {
          name: 'bench',
          include: ['test/bench/**/*.bench.ts'],
          server: { deps: { external: [/\/dist\/src\//] } },
          globalSetup: ['test/support/global-setup.ts'],
          pool: 'forks',
          execArgv: THREADS_READ_SOURCES,
          maxWorkers: 1,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});
