/**
 * The activity `hostAction`: actions that the host defines (src/actions). src/steps/kinds/action.ts documents the step.
 */
import type { z } from 'zod';
import type { HostAction } from '../src/actions/define.ts';
import type { HostActions } from '../src/actions/load.ts';
import { NOT_LIGHT_CODE } from '../src/contract/run/activity.ts';
import type { Problem } from '../src/definition/document/types.ts';
import { zodProblems } from '../src/definition/document/zod-problems.ts';
import { isObject, type Json } from '../src/json/json.ts';
import { pointer } from '../src/json/pointer.ts';
import { ActivityError, transientError } from './runtime/failure.ts';
import { timeLimit } from './runtime/time-limit.ts';
import type { ActivityContext, ActivityHandler } from './runtime/wrap-activity.ts';

/** How many problems of an input are reported. */
const MAX_PROBLEMS = 20;

/**
 * Config `{type, parameters, local?}`; data is the action's output. Fails with the action's own codes, and with
 * `unknown_action`, `invalid_config`, `invalid_output`, `action_timeout`, and `action_failed` (any other error;
 * retryable).
 */
export function hostActionActivity(actions: HostActions): ActivityHandler {
  return async (config, context) => {
    const { type, parameters = {}, local } = isObject(config) ? config : {};
    const action = actions.get(String(type));
    if (action === undefined)
      throw new ActivityError(
        'unknown_action',
        `This worker has no action '${String(type).slice(0, 80)}'. Put its file into the folder ` +
          'SIGNALBOX_ACTIONS and restart the worker.',
      );
    // `local: true` on the step overrides this.
    if (!action.isLight && local !== true && context.isLocal)
      throw transientError(NOT_LIGHT_CODE, 'The action runs as a regular activity.');
    const input = await parseParameters(action, parameters);
    const given = await runWithTimeout(action, input, context);
    return { data: await parseOutput(action, given) };
  };
}

async function parseParameters(action: HostAction, parameters: Json): Promise<unknown> {
  const parsed = await action.input.safeParseAsync(parameters);
  if (parsed.success) return parsed.data;
  const problems = checkerProblems(action, parameters) ?? problemsOfIssues(parsed.error);
  const [first] = problems;
  throw new ActivityError(
    'invalid_config',
    `${action.type} does not accept these parameters: ${first?.message ?? 'they do not match'} ` +
      `(${first?.pointer ?? '/parameters'})`,
    { details: { problems: problems.map(({ pointer, code, message }) => ({ pointer, code, message })) } },
  );
}

/** The problems in the words of the checker; undefined for an asynchronous schema. */
function checkerProblems(action: HostAction, parameters: Json): Problem[] | undefined {
  try {
    return zodProblems(action.input, parameters, '/parameters').slice(0, MAX_PROBLEMS);
  } catch {
    return undefined;
  }
}

function problemsOfIssues(error: z.ZodError): Problem[] {
  return error.issues.slice(0, MAX_PROBLEMS).map(({ path, code, message }) => ({
    pointer: `/parameters${pointer(path)}`,
    code,
    message,
  }));
}

/** The output as JSON, parsed by its schema. */
async function parseOutput(action: HostAction, given: unknown): Promise<Json> {
  const parsed = await action.output.safeParseAsync(given);
  if (!parsed.success) {
    const places = parsed.error.issues
      .slice(0, MAX_PROBLEMS)
      .map(({ path, code }) => ({ pointer: pointer(path), code }));
    throw new ActivityError(
      'invalid_output',
      `The output of ${action.type} does not match its output schema at ${places[0]?.pointer || '/'}.`,
      { details: { problems: places } },
    );
  }
  try {
    const text = JSON.stringify(parsed.data);
    return text === undefined ? null : (JSON.parse(text) as Json);
  } catch {
    throw new ActivityError('invalid_output', `The output of ${action.type} is not JSON.`);
  }
}

/** Enforces the timeout and cancellation, even if the action ignores its signal. */
async function runWithTimeout(action: HostAction, input: unknown, context: ActivityContext): Promise<unknown> {
  const { type, timeoutMs } = action;
  const { idempotencyKey, execution, path, stepSlug } = context.input;
  let stop: (reason: unknown) => void = () => undefined;
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = reject;
  });
  stopped.catch(() => undefined);
  const limit = timeLimit(context.signal, timeoutMs, (reason) => stop(reason));
  try {
    // An asynchronous schema takes time, and the step may have been cancelled.
    context.signal.throwIfAborted();
    const running = action.run(input, {
      get signal() {
        return limit.signal;
      },
      idempotencyKey,
      attempt: context.attempt,
      execution,
      path,
      stepSlug,
      heartbeat: (progress) => {
        // Copied now, because the action may change the object.
        const progressCopy = asJson(progress);
        context.progress(() => progressCopy);
      },
    });
    return await Promise.race([running, stopped]);
  } catch (error) {
    if (limit.isOver && !context.signal.aborted)
      throw transientError('action_timeout', `${type} did not end within ${timeoutMs} ms.`, { timeoutMs });
    throw failureOf(error);
  } finally {
    limit.end();
  }
}

/** Compares the name, because the class may come from another copy of the module. */
function failureOf(error: unknown): ActivityError {
  if (!(error instanceof Error)) return transientError('action_failed', 'The action failed.');
  const { name, message } = error;
  const { code, retryable, details, retryAfterMs } = error as Partial<ActivityError>;
  if (name !== 'ActionFailure' || typeof code !== 'string' || code === '')
    return transientError('action_failed', message);
  return new ActivityError(code, message, {
    retryable: retryable === true,
    ...(details === undefined ? {} : { details: asJson(details) }),
    ...(typeof retryAfterMs === 'number' && retryAfterMs > 0 ? { retryAfterMs } : {}),
  });
}

function asJson(value: unknown): Json {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null') as Json;
  } catch {
    return null;
  }
}
