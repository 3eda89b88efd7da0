/** Concurrent branches that write the same variable, state key or output: the last write wins (LANGUAGE.md §3.10). */

import { type Analysis, type CheckedStep, type Findings, opensFrames } from './analysis.ts';
import { stateWrites } from './declarations.ts';

interface Write {
  readonly key: string;
  readonly at: string;
}

export function checkConcurrentWrites({ steps, regions }: Analysis, { warnings }: Findings): void {
  for (const region of regions.regions.values()) {
    const container = steps.get(region.container);
    if (container === undefined || !opensFrames(container)) continue;
    if (container.kind?.scope === 'iterations') {
      const concurrency = container.written.config?.['concurrency'];
      if (concurrency === undefined || concurrency === 1) continue;
      for (const slug of region.body) {
        for (const { key, at } of writesOf(steps.get(slug))) {
          warnings.add(
            at,
            'concurrent_write',
            `Concurrent iterations of "${region.container}" all write ${key}: the last write wins.`,
            `Read the results from steps.${region.container}.output.data.`,
          );
        }
      }
      continue;
    }
    const writers = new Map<string, string>();
    for (const [branch, slugs] of region.branches) {
      for (const slug of slugs) {
        for (const { key, at } of writesOf(steps.get(slug))) {
          const other = writers.get(key);
          if (other === undefined) writers.set(key, branch);
          else if (other !== branch) {
            warnings.add(
              at,
              'concurrent_write',
              `Branches "${other}" and "${branch}" of "${region.container}" both write ${key}: the last write wins.`,
              'Give each branch a key of its own.',
            );
          }
        }
      }
    }
  }
}

function writesOf(step: CheckedStep | undefined): Write[] {
  if (step === undefined) return [];
  const { at, kind, written } = step;
  const writes: Write[] = stateWrites(step).map(([key, place]) => ({ key: `state.${key}`, at: place }));
  if (written.outputVariable !== undefined)
    writes.push({ key: `outputs.${written.outputVariable}`, at: `${at}/outputVariable` });
  const assigned = kind?.assigns?.(written.config ?? {});
  if (assigned?.target === 'variables')
    for (const { name } of assigned.names ?? []) writes.push({ key: `variables.${name}`, at: `${at}/config/values` });
  return writes;
}
