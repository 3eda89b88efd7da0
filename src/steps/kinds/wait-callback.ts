import { z } from 'zod';
import { CALLBACK_METHODS, callbackMethods, callbackName } from '../../contract/run/callbacks.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { planTimeout } from '../config/duration.ts';
import { payloadMismatch, planFormat, type StoredFormat } from '../config/payload.ts';
import { configSchema, duration, payloadFormat } from '../config/schema.ts';
import { ConfigError, type Outcome, type StepContext, type StepKind } from '../kind.ts';
import { timedPorts } from '../ports.ts';

export const waitCallback: StepKind<StoredFormat<'schema'>> = {
  type: 'wait_callback',
  class: 'wait',
  takesCallbacks: true,
  summary: 'Waits until another program or a person calls a URL.',
  description: `\`{{ callback('slug') }}\`, in the config of an earlier step that sends something, is the URL of the
next visit of this step. The URL cannot be guessed, and no trace shows it. Both steps must be in the same body of a
loop, the same branch, or the same iteration.

A call of the URL with one of \`methods\` ends the step by \`received\`. Its data is the JSON body, the form or the
text (for GET, the query). A callback that arrives before the step waits is kept for it. With \`schema\`, a payload
format, a body that does not fit is refused with 422. One callback ends one visit: a repeated call changes nothing, and
after the run's end the URL is gone (410). Opened in a browser, the URL shows a form, unless GET is one of the
\`methods\`. The form shows data that does not fit again, with its problems.

After \`timeout\` the step ends by \`timeout\`; if that port is not wired it fails with \`callback_timeout\`.`,
  example: {
    stepType: 'wait_callback',
    config: { timeout: '1h', schema: { status: 'string' } },
    nextSteps: { received: 'record', timeout: 'ask' },
  },
  output: 'The body of the callback; null at the timeout.',
  schema: () =>
    configSchema({
      timeout: duration().optional().describe('How long to wait. Default: as long as the run may take.'),
      schema: payloadFormat().optional().describe('The format of the body: a payload format.'),
      methods: z
        .array(z.enum(CALLBACK_METHODS))
        .min(1)
        .optional()
        .describe('HTTP methods that count as the callback (POST, PUT).'),
    }),
  ports: () =>
    timedPorts(
      'received',
      'callback_timeout',
      (slug) => `Nobody called the URL of the step '${slug}' in time; wire its port 'timeout', or wait longer.`,
    ),
  plan(config, parse) {
    if (callbackMethods(config) === undefined)
      throw new ConfigError('/methods', `Expected a list of ${CALLBACK_METHODS.join(', ')}.`);
    const schema = planFormat(config['schema'], 'schema', parse);
    const timeoutOf = planTimeout(config, parse);
    const fits = (visit: StepContext, state: StoredFormat<'schema'>, payload: Json): boolean =>
      payloadMismatch(visit, schema.formatOf(visit, state), payload) === undefined;
    return {
      begin(visit) {
        const state = schema.stored(visit);
        const name = callbackName(visit.path);
        const [early] = visit.takeMessages({ names: [name] }, 1, (payload) => fits(visit, state, payload));
        if (early !== undefined) return received(early.payload);
        const until = timeoutOf(visit);
        return {
          do: 'suspend',
          state,
          waiting: { kind: 'callback', name, ...omitUndefined({ until }) },
          timers: until === undefined ? [] : [{ at: until }],
        };
      },
      resume(visit, event) {
        if (event.on === 'fired') return { do: 'end', port: 'timeout', data: null };
        if (event.on !== 'message' || !fits(visit, visit.state, event.payload)) return { do: 'ignore' };
        return received(event.payload);
      },
    };
  },
};

function received(payload: Json): Outcome<never> {
  return { do: 'end', port: 'received', data: payload };
}
