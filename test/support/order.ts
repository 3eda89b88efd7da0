/** The order of test files: the slowest ones start first, so that none runs alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that wait or work for more than 15 s on a quiet machine, the longest first. */
const LONGEST: readonly string[] = [
  'start/stack',
  'gateway/gateway-killed',
  'gateway/gateway-unknown',
  'definitions/definitions-expiry',
  'triggers/public-trigger',
  'gateway/gateway-idempotency',
  'gateway/gateway-faults',
  'triggers/triggers-crash',
  'start/faults',
  'worker/worker-pulse',
  'gateway/gateway-openapi-actors',
  'runs/run-continue',
  'agents/agent',
  'cli/readme',
  'activities/effects-code-python',
  'start/parts',
  'runs/events-listeners',
  'triggers/triggers-schedule',
  'activities/run-python',
  'gateway/gateway-odd-runs',
];

/** The files of the project `long`: the steadiest first, since a time limit may cut what comes last. */
export const LONG_FILES: readonly string[] = [
  'test/e2e/activities/canary.long.test.ts',
  'test/e2e/gateway/gateway-openapi.test.ts',
  'test/e2e/gateway/gateway-openapi-actors.test.ts',
  'test/start/faults.test.ts',
  'test/e2e/limits/gates-load.long.test.ts',
  'test/e2e/runs/trace-random.long.test.ts',
  'test/e2e/worker/faults-workers.test.ts',
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
  const names = project.name === 'long' ? LONG_FILES : LONGEST.map((name) => `/${name}.test.ts`);
  const place = names.findIndex((name) => moduleId.endsWith(name));
  return place === -1 ? names.length : place;
}
