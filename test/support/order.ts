/** The order of test files: the slowest ones start first, so that none runs alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of the project `e2e` that wait or work for more than 15 s on a quiet machine, the longest first. */
export const LONGEST_FILES: readonly string[] = [
  'test/start/stack.test.ts',
  'test/e2e/gateway/gateway-killed.test.ts',
  'test/e2e/gateway/gateway-unknown.test.ts',
  'test/e2e/definitions/definitions-expiry.test.ts',
  'test/e2e/triggers/public-trigger.test.ts',
  'test/e2e/gateway/gateway-idempotency.test.ts',
  'test/e2e/gateway/gateway-faults.test.ts',
  'test/e2e/gateway/gateway-crowd.test.ts',
  'test/e2e/triggers/triggers-crash.test.ts',
  'test/start/faults.test.ts',
  'test/e2e/worker/worker-pulse.test.ts',
  'test/e2e/gateway/gateway-openapi-actors.test.ts',
  'test/e2e/console/run-live.test.ts',
  'test/e2e/console/run-graph.test.ts',
  'test/e2e/runs/run-continue.test.ts',
  'test/e2e/agents/agent.test.ts',
  'test/e2e/cli/readme.test.ts',
  'test/e2e/activities/effects-code-python.test.ts',
  'test/start/stack-parts.test.ts',
  'test/e2e/runs/events-listeners.test.ts',
  'test/e2e/triggers/triggers-schedule.test.ts',
  'test/e2e/activities/run-python.test.ts',
  'test/e2e/gateway/gateway-odd-runs.test.ts',
  'test/e2e/console/runs.test.ts',
  'test/e2e/console/settings.test.ts',
  'test/e2e/console/everywhere.test.ts',
  'test/e2e/console/frame.test.ts',
];

/** The files of the project `long`: the steadiest first, since a time limit may cut what comes last. */
export const LONG_FILES: readonly string[] = [
  'test/e2e/activities/canary.long.test.ts',
  'test/e2e/gateway/gateway-openapi.test.ts',
  'test/e2e/gateway/gateway-openapi-actors.test.ts',
  'test/start/faults.test.ts',
  'test/e2e/limits/gates-load.long.test.ts',
  'test/e2e/limits/gates-divided.long.test.ts',
  'test/e2e/gateway/gateway-crowd.long.test.ts',
  'test/e2e/runs/trace-random.long.test.ts',
  'test/e2e/worker/faults-workers.test.ts',
  'test/e2e/worker/rolling-upgrade.long.test.ts',
  'test/start/image.long.test.ts',
];

export class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ordered = files.map((file, index) => ({ file, key: [groupOf(file), placeOf(file), index] as const }));
    ordered.sort(({ key: a }, { key: b }) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    return ordered.map(({ file }) => file);
  }
}

const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;

function placeOf({ project, moduleId }: TestSpecification): number {
  const names = project.name === 'long' ? LONG_FILES : LONGEST_FILES;
  const place = names.findIndex((name) => moduleId.endsWith(`/${name}`));
  return place === -1 ? names.length : place;
}
