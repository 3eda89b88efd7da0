/** The order of test files: the slowest ones start first, so that none runs alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of the project `e2e` that wait or work for more than 15 s on a quiet machine, the longest first. */
export const SLOWEST_FILES: readonly string[] = [
  'test/start/stack.test.ts',
  'test/e2e/gateway/gateway-openapi-actors.test.ts',
  'test/e2e/console/editor.test.ts',
  'test/e2e/console/runs.test.ts',
  'test/e2e/console/workflows.test.ts',
  'test/e2e/agents/agent.test.ts',
  'test/e2e/runs/children.test.ts',
  'test/e2e/runs/events-listeners.test.ts',
  'test/e2e/runs/programs.test.ts',
  'test/e2e/console/approvals.test.ts',
  'test/e2e/runs/segments.test.ts',
  'test/e2e/blobs/store-unavailable.test.ts',
  'test/e2e/console/run-live.test.ts',
  'test/e2e/cli/readme.test.ts',
  'test/e2e/cli/cli-gateway.test.ts',
  'test/e2e/console/run-graph.test.ts',
  'test/e2e/triggers/triggers-schedule.test.ts',
  'test/e2e/worker/sdk-patches.test.ts',
  'test/e2e/triggers/triggers-clock.test.ts',
  'test/e2e/triggers/triggers-cron.test.ts',
  'test/e2e/cli/cli-remote.test.ts',
];

/** Files of the project `long` that wait or work for more than 20 s, the longest first. */
export const SLOWEST_LONG_FILES: readonly string[] = [
  'test/start/package.long.test.ts',
  'test/start/faults.long.test.ts',
  'test/e2e/runs/blobs-s3.long.test.ts',
  'test/e2e/activities/canary.long.test.ts',
  'test/e2e/worker/faults-workers.long.test.ts',
  'test/e2e/gateway/gateway-openapi.test.ts',
  'test/e2e/gateway/gateway-openapi-actors.test.ts',
  'test/start/stack-killed.long.test.ts',
  'test/start/orphans.long.test.ts',
  'test/start/stack-parts.long.test.ts',
  'test/e2e/gateway/gateway-faults.long.test.ts',
  'test/e2e/gateway/gateway-killed.long.test.ts',
  'test/e2e/runs/run-continue.long.test.ts',
  'test/e2e/triggers/triggers-crash.long.test.ts',
  'test/e2e/gateway/gateway-outcome-unknown.long.test.ts',
  'test/e2e/definitions/definitions-expiry.long.test.ts',
  'test/e2e/cli/readme.test.ts',
  'test/e2e/cli/operating-with-temporal.long.test.ts',
  'test/e2e/activities/run-python.long.test.ts',
  'test/e2e/blobs/store-unavailable.long.test.ts',
  'test/e2e/observe/refused-tasks.long.test.ts',
  'test/e2e/runs/local-results.long.test.ts',
];

/** Long tests that load the whole machine, so they run one after the other: the steadiest first. */
export const ALONE_FILES: readonly string[] = [
  'test/e2e/limits/limits-load.long.test.ts',
  'test/e2e/limits/limits-sharded.long.test.ts',
  'test/e2e/gateway/gateway-backpressure.long.test.ts',
  'test/e2e/runs/trace-random.long.test.ts',
  'test/e2e/worker/rolling-upgrade.long.test.ts',
  'test/start/image.long.test.ts',
];

export class TestSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ordered = files.map((file, index) => ({ file, key: [groupOf(file), rankOf(file), index] as const }));
    ordered.sort(({ key: a }, { key: b }) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    return ordered.map(({ file }) => file);
  }
}

const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;

const SLOWEST_FIRST: { readonly [project: string]: readonly string[] } = {
  e2e: SLOWEST_FILES,
  long: SLOWEST_LONG_FILES,
  alone: ALONE_FILES,
};

function rankOf({ project, moduleId }: TestSpecification): number {
  const names = SLOWEST_FIRST[project.name] ?? [];
  const rank = names.findIndex((name) => moduleId.endsWith(`/${name}`));
  return rank === -1 ? names.length : rank;
}
