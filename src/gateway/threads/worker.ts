/** A thread of the pool (pool.ts). It does one task after another and answers each by its id. */
import { parentPort, workerData } from 'node:worker_threads';
import { loadActions } from '../../actions/load.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import type { ThreadAnswer, ThreadData, ThreadTask } from './pool.ts';
import { runTask } from './tasks.ts';

const { actionsDir } = workerData as ThreadData;
const actions = await loadActions(actionsDir);

parentPort?.on('message', ({ id, task }: ThreadTask) => {
  parentPort?.postMessage(answerTo(id, task));
});
parentPort?.postMessage({ ready: true } satisfies ThreadAnswer);

function answerTo(id: number, task: ThreadTask['task']): ThreadAnswer {
  try {
    return { id, result: runTask(task, actions) };
  } catch (error) {
    if (error instanceof HttpProblem) {
      const { code, message } = error;
      const { problems, more } = error.options;
      return { id, problem: { code, message, problems, more } };
    }
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : 'unknown' };
  }
}
