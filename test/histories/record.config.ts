import { defineConfig } from 'vitest/config';

// See record.ts.
export default defineConfig({
  test: {
    include: ['test/histories/record.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
