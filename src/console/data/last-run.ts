import { apiPath, get } from './api.ts';
import type { Execution, ExecutionPage } from './types.ts';

/** The newest run of a workflow, with its input. Undefined where it has none. @throws ApiProblem. */
export async function lastRunOf(slug: string): Promise<Execution | undefined> {
  const { items } = await get<ExecutionPage>(apiPath`/api/workflows/${slug}/executions`, { query: { limit: 1 } });
  return items[0] && get<Execution>(apiPath`/api/executions/${items[0].id}`);
}
