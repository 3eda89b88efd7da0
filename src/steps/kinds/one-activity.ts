/** What steps that run one activity share: the config with its secrets, the start, and the end. */

import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { Rendered, SecretString } from '../../template/types.ts';
import type { Behaviour, NoState, Outcome, Parse, Resume, RunSpec, StepContext } from '../kind.ts';

/** The behaviour of a step that runs one activity and ends by `success` with its result. */
export function oneActivity(spec: (visit: StepContext) => RunSpec): Behaviour<NoState> {
  return { begin: (visit) => ({ do: 'suspend', state: {}, run: [spec(visit)] }), resume: activityEnd };
}

/** The end of a step that runs one activity. */
export function activityEnd(_visit: StepContext, event: Resume): Outcome<never> {
  if (event.on === 'completed') {
    const { data, meta } = event.result;
    return { do: 'end', port: 'success', data, ...omitUndefined({ meta }) };
  }
  return event.on === 'failed' ? { do: 'fail', error: event.error } : { do: 'ignore' };
}

/**
 * Members of the config that are rendered into one object. Each secret's path begins with its member. `parserOf`: how a
 * member is parsed.
 */
export function planMembers(
  config: JsonObject,
  members: readonly string[],
  at: string,
  parserOf: (member: string) => Parse['template'],
): (visit: StepContext) => Rendered {
  const templates = members
    .filter((member) => config[member] !== undefined)
    .map((member) => [member, parserOf(member)(config[member], `${at}/${member}`)] as const);
  return (visit) => {
    const value: { [member: string]: Json } = {};
    const secrets: SecretString[] = [];
    for (const [member, template] of templates) {
      const rendered = visit.renderSecret(template);
      value[member] = rendered.value;
      for (const { path, parts } of rendered.secrets) secrets.push({ path: [member, ...path], parts });
    }
    return { value, secrets };
  };
}
