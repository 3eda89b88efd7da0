import { defineConfig } from 'vitest/config';

// The gateway starts threads, which load its sources without Vitest.
const THREADS_READ_SOURCES = ['--import', new URL('./test/support/typescript.mjs', import.meta.url).href];

// Three projects. `quick` needs nothing but Node. `e2e` shares one Temporal server, which its global setup obtains and
// starts; its files run one after the other, since they share a small machine with that server.
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
          execArgv: THREADS_READ_SOURCES,
          maxWorkers: 1,
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
