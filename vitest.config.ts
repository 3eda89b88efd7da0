import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LONG_FILES, Order } from './test/support/order.ts';

// The gateway starts threads, which load its sources without Vitest.
const THREADS_READ_SOURCES = ['--import', new URL('./test/support/typescript.mjs', import.meta.url).href];

// Half of the time of an end-to-end test is waiting, so there are more of them than cores.
const SIDE_BY_SIDE = Math.min(4, availableParallelism() + 1);

// What `e2e` and `long` have in common: one Temporal server, which the global setup obtains and starts. Files that run
// side by side have a namespace each (test/support/namespaces.ts).
const ON_TEMPORAL = {
  globalSetup: ['test/support/global-setup.ts'],
  pool: 'forks',
  // A third of the processor time of a file went into loading and warming up the same modules.
  isolate: false,
  execArgv: THREADS_READ_SOURCES,
  testTimeout: 60_000,
  hookTimeout: 120_000,
} as const;

// Four projects. `quick` needs nothing but Node. `long` is what is not run each time (`npm run test:long`); test files
// that know of LONG=1 are in both, and do more there. `bench` is no test: `npm run bench` runs it alone, for its table.
export default defineConfig({
  test: {
    sequence: { sequencer: Order },
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
          exclude: ['test/**/*.long.test.ts'],
          ...ON_TEMPORAL,
          maxWorkers: SIDE_BY_SIDE,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'long',
          include: [...LONG_FILES],
          env: { LONG: '1' },
          ...ON_TEMPORAL,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
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
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
