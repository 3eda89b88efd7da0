import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// The gateway starts threads, which load its sources without Vitest.
const THREADS_READ_SOURCES = ['--import', new URL('./test/support/typescript.mjs', import.meta.url).href];

// Half of the time of an end-to-end test is waiting, so there are more of them than cores.
const SIDE_BY_SIDE = Math.min(4, availableParallelism() + 1);

// Three projects. `quick` needs nothing but Node. `e2e` shares one Temporal server, which its global setup obtains and
// starts; files that run side by side have a namespace each (test/support/namespaces.ts).
// `bench` is no test: `npm run bench` runs it alone, for its table.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/start/**'],
          // Most take milliseconds, and half of the time went into loading the same modules for each file.
          isolate: false,
          execArgv: THREADS_READ_SOURCES,
          maxWorkers: 2,
          testTimeout: 30_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts', 'test/start/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          pool: 'forks',
          // A third of the processor time of a file went into loading and warming up the same modules.
          isolate: false,
          execArgv: THREADS_READ_SOURCES,
          maxWorkers: SIDE_BY_SIDE,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'bench',
          include: ['test/bench/**/*.bench.ts'],
          server: { deps: { external: [/\/dist\/src\//] } },
          globalSetup: ['test/support/global-setup.ts'],
          pool: 'forks',
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
