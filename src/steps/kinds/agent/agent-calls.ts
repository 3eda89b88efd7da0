/** An agent's calls as activities and child runs. What a model writes is data, and is never read as a template. */

import { isObject, type Json, type JsonObject } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import {
  type ChildSpec,
  ConfigError,
  type FailureShape,
  type Parse,
  type RunSpec,
  type StepContext,
  StepFailure,
} from '../../kind.ts';
import { action } from '../action.ts';
import { MAX_DEPTH } from '../run-workflow.ts';
import { callSpec } from '../tool.ts';
import { typeOf } from './agent-approval.ts';
import type { CallOutput, OpenCall } from './agent-state.ts';

/** The limit of one result that is reported to the model. The rest is cut, with a note. */
const MAX_REPORTED_CHARACTERS = 60_000;

/** The command of the call; or, for the model, why the call cannot be made. */
type CallStart = { readonly run: RunSpec } | { readonly child: ChildSpec } | { readonly output: CallOutput };

export function beginCall(visit: StepContext, suffix: string, call: OpenCall): CallStart {
  const { target, input, invalid } = call;
  if (target === undefined) return { output: errorForModel(invalid ?? 'There is no such tool.') };
  const inner = typeOf(call);
  switch (target.kind) {
    case 'tool': {
      const { server, tool } = target;
      const value: Json = { server, toolName: tool, input: isObject(input) ? input : {} };
      return { run: { ...callSpec({ value, secrets: [] }), suffix, inner } };
    }
    case 'action':
      return actionCall(visit, suffix, inner, target.type, isObject(input) ? input : {});
    case 'workflow': {
      if (visit.execution.depth >= MAX_DEPTH)
        return { output: errorForModel(`depth_exceeded: runs nest at most ${MAX_DEPTH} deep.`) };
      const { workflow, version } = target;
      return { child: { suffix, inner, workflow, input, ...omitUndefined({ version }) } };
    }
  }
}

/** As the kind `action` would run it. */
function actionCall(
  visit: StepContext,
  suffix: string,
  inner: string,
  type: string,
  parameters: JsonObject,
): CallStart {
  try {
    const outcome = action.plan({ type, parameters }, LITERAL, { stepType: action.type }).begin(visit);
    const [run] = outcome.do === 'suspend' ? (outcome.run ?? []) : [];
    if (run === undefined) return { output: errorForModel(`'${type}' runs nothing.`) };
    // Never a local activity: local activities are recorded together, so a crash would repeat a call that has ended.
    const { light: _, ...regular } = run;
    return { run: { ...regular, suffix, inner } };
  } catch (error) {
    if (error instanceof ConfigError || error instanceof StepFailure)
      return { output: errorForModel(`${error.code}: ${error.message}`) };
    throw error;
  }
}

const constant: Parse['template'] = (value) => ({
  kind: 'template',
  root: { kind: 'constant', value: value ?? null },
});

/** Takes every value as it is. */
const LITERAL: Parse = {
  template: constant,
  secretTemplate: constant,
  callbackTemplate: constant,
  expression: () => {
    throw new ConfigError('', 'A call holds no expressions.');
  },
};

/** A result as the model reads it. */
export function resultForModel(data: Json): CallOutput {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  if (text.length > MAX_REPORTED_CHARACTERS)
    return {
      type: 'text',
      value:
        `${text.slice(0, MAX_REPORTED_CHARACTERS)}… ` +
        `(cut: ${MAX_REPORTED_CHARACTERS} of ${text.length} characters are shown)`,
    };
  return typeof data === 'string' ? { type: 'text', value: data } : { type: 'json', value: data };
}

export function failureForModel({ code, message }: FailureShape): CallOutput {
  return errorForModel(`${code}: ${message}`);
}

export function errorForModel(why: string): CallOutput {
  return { type: 'error-text', value: why.slice(0, MAX_REPORTED_CHARACTERS) };
}
