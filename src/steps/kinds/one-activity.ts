/** What steps that run one activity share: the config with its secrets, the start, and the end. */

import { defined } from '../../json/defined.ts';
import type { Json } from '../../json/json.ts';
import type { Template } from '../../template/template.ts';
import type { Rendered, SecretString } from '../../template/types.ts';
import type { Behaviour, NoState, Outcome, Resume, RunSpec, StepContext } from '../kind.ts';

/** The behaviour of a step that runs one activity and ends by `success` with its result. */
export function oneActivity(spec: (visit: StepContext) => RunSpec): Behaviour<NoState> {
  return { begin: (visit) => ({ do: 'suspend', state: {}, run: [spec(visit)] }), resume: activityEnd };
}

/** The end of a step that runs one activity. */
export function activityEnd(_visit: StepContext, event: Resume): Outcome<NoState> {
  if (event.on === 'completed') {
    const { data, meta } = event.result;
    return { do: 'end', port: 'success', data, ...defined({ meta }) };
  }
  return event.on === 'failed' ? { do: 'fail', error: event.error } : { do: 'ignore' };
}

interface Member {
  readonly member: string;
  readonly hasSecrets: boolean;
  readonly template: Template;
}

/** Renders the members into one object. Each secret's path begins with its member. */
export function renderMembers(visit: StepContext, members: readonly Member[]): Rendered {
  const value: { [member: string]: Json } = {};
  const secrets: SecretString[] = [];
  for (const { member, hasSecrets, template } of members) {
    const rendered: Rendered = hasSecrets
      ? visit.renderSecret(template)
      : { value: visit.render(template), secrets: [] };
    value[member] = rendered.value;
    for (const { path, parts } of rendered.secrets) secrets.push({ path: [member, ...path], parts });
  }
  return { value, secrets };
}
