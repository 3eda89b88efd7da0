/** The activity `hostAction`: actions that the host defines (src/actions). Its manual is src/steps/kinds/action.ts. */

import { Context } from '@temporalio/activity';
import type { z } from 'zod';
import type { HostAction } from '../src/actions/define.ts';
import type { HostActions } from '../src/actions/load.ts';
import { NOT_LIGHT } from '../src/contract/activity.ts';
import { issueProblems } from '../src/definition/document/issues.ts';
import { pointer } from '../src/definition/document/pointer.ts';
import type { Problem } from '../src/definition/document/types.ts';
import { isObject, type Json } from '../src/json/json.ts';
import { ActivityError } from './runtime/failure.ts';
import type { ActivityContext, ActivityHandler } from './runtime/wrap-activity.ts';

/** Problems of an input that are told. */
const MOST_PROBLEMS = 20;

/**
 * Config `{type, parameters, local?}`; data is what the action gives. Fails as the action says, and with `unknown_action`,
 * `invalid_config`, `invalid_output`, `action_timeout`, `action_failed` (whatever else it throws; may be tried again).
 */
export function hostActionActivity(actions: HostActions): ActivityHandler {
  return async (config, context) => {
    const { type, parameters = {}, local } = isObject(config) ? config : {};
    const action = actions.get(String(type));
    if (action === undefined)
      throw new ActivityError(
        'unknown_action',
        `This worker offers no action '${String(type).slice(0, 80)}'. Put its file into the folder that SIGNALBOX_ACTIONS names, and start the worker again.`,
      );
    // Unless the step itself wants it so.
    if (!action.isLight && local !== true && isLocal())
      throw new ActivityError(NOT_LIGHT, 'It runs as an activity of its own.', { retryable: true });
    const input = await read(action, parameters);
    const given = await inTime(action, input, context);
    return { data: await written(action, given) };
  };
}

/** Within the run's own task, which holds the run's other steps up. */
function isLocal(): boolean {
  return Context.current().info.isLocal;
}

async function read(action: HostAction, parameters: Json): Promise<unknown> {
  const parsed = await action.input.safeParseAsync(parameters);
  if (parsed.success) return parsed.data;
  const problems = toldProblems(action, parameters) ?? placesOf(parsed.error);
  const [first] = problems;
  throw new ActivityError(
    'invalid_config',
    `${action.type} cannot take these parameters: ${first?.message ?? 'they do not fit'} (${first?.pointer ?? '/parameters'})`,
    { details: { problems: problems.map(({ pointer, code, message }) => ({ pointer, code, message })) } },
  );
}

/** With the words of the checker; undefined where the schema asks others first, and has no answer at once. */
function toldProblems(action: HostAction, parameters: Json): Problem[] | undefined {
  try {
    return issueProblems(action.input, parameters, '/parameters').slice(0, MOST_PROBLEMS);
  } catch {
    return undefined;
  }
}

function placesOf(error: z.ZodError): Problem[] {
  return error.issues.slice(0, MOST_PROBLEMS).map(({ path, code, message }) => ({
    pointer: `/parameters${pointer(path)}`,
    code,
    message,
  }));
}

/** JSON, as the output's schema has it. */
async function written(action: HostAction, given: unknown): Promise<Json> {
  const parsed = await action.output.safeParseAsync(given);
  if (!parsed.success) {
    const places = parsed.error.issues
      .slice(0, MOST_PROBLEMS)
      .map(({ path, code }) => ({ pointer: pointer(path), code }));
    throw new ActivityError(
      'invalid_output',
      `${action.type} gave what its own output schema does not take, at ${places[0]?.pointer || '/'}.`,
      { details: { problems: places } },
    );
  }
  try {
    const text = JSON.stringify(parsed.data);
    return text === undefined ? null : (JSON.parse(text) as Json);
  } catch {
    throw new ActivityError('invalid_output', `${action.type} gave what is no JSON.`);
  }
}

/** Also where the action pays no heed to its signal. */
async function inTime(action: HostAction, input: unknown, context: ActivityContext): Promise<unknown> {
  const { type, timeoutMs } = action;
  const { idempotencyKey, execution, path, stepSlug } = context.input;
  const late = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.signal, late]);
  // The schema may have asked others: what was cancelled meanwhile does not begin.
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    const running = action.run(input, {
      signal,
      idempotencyKey,
      attempt: context.attempt,
      execution,
      path,
      stepSlug,
      heartbeat: (progress) => {
        // As it is now: the action may go on with the same object.
        const told = asJson(progress);
        context.progress(() => told);
      },
    });
    return await Promise.race([running, stopped]);
  } catch (error) {
    if (late.aborted && !context.signal.aborted)
      throw new ActivityError('action_timeout', `${type} did not end within ${timeoutMs} ms.`, {
        retryable: true,
        details: { timeoutMs },
      });
    throw failureOf(error);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The class may be of another copy of the module, so that its name counts. */
function failureOf(error: unknown): ActivityError {
  if (!(error instanceof Error)) return new ActivityError('action_failed', 'The action failed.', { retryable: true });
  const { name, message } = error;
  const { code, retryable, details, retryAfterMs } = error as Partial<ActivityError>;
  if (name !== 'ActionFailure' || typeof code !== 'string' || code === '')
    return new ActivityError('action_failed', message, { retryable: true });
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
