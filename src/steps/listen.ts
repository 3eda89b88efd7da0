import { z } from 'zod';
import { listenTag } from '../definition/run.ts';
import type { JsonObject } from '../definition/types.ts';
import type { Expression } from '../template/expression.ts';
import { type Json, TemplateError } from '../template/types.ts';
import { planDuration, planInstant } from './duration.ts';
import { ConfigError, type Outcome, StepFailure, type StepKind, type Visit } from './kind.ts';
import { misfit, planFormat } from './payload.ts';
import { isAbsent, text, whole } from './read.ts';
import { duration, expression, instant, payloadFormat, templated, textTemplate } from './schema.ts';

const MOST_MESSAGES = 10_000;

export const listen: StepKind = {
  type: 'listen',
  class: 'wait',
  summary: 'Waits for messages that are sent to the run.',
  description: `Takes messages of one \`name\`, in the order in which they came. Messages that came before anybody listened are kept, and
taken first. With \`match\`, an expression over \`payload\` (and everything else of the run), and \`schema\`, a payload format, only messages that
fit are taken; others, and those that the expression cannot be asked about, stay for another listener.

Without \`count\` the first message ends the step. With it, so many do, and the data is a list. After \`timeout\`, or at \`until\`, the step ends by
\`timeout\`; if that port is not wired it fails with \`listen_timeout\`.`,
  example: {
    stepType: 'listen',
    config: { name: 'payment', match: 'payload.orderId == input.orderId', timeout: '1h' },
    nextSteps: { received: 'ship', timeout: 'cancel' },
  },
  output: 'The payload; with `count` a list of payloads. At the timeout: null, or the list of those that came.',
  schema: () =>
    z.strictObject({
      name: textTemplate().describe("The messages' name."),
      count: templated(z.number().int().min(1).max(MOST_MESSAGES))
        .optional()
        .describe('How many; the data is then a list.'),
      match: expression().optional().describe('Which of them: an expression that reads `payload`.'),
      schema: payloadFormat().optional().describe('What a payload must look like: a payload format.'),
      timeout: duration().optional().describe('How long to wait.'),
      until: instant().optional().describe('Until when to wait.'),
      description: z.string().optional().describe('For readers.'),
    }),
  ports: () => ({
    normal: 'received',
    names: ['received', 'timeout'],
    unwired: { timeout: { fails: 'listen_timeout' } },
  }),
  plan(config, parse) {
    const { timeout, until, match } = config;
    if (config['name'] === undefined) throw new ConfigError('invalid_config', '/name', "Expected the messages' name.");
    if (!isAbsent(timeout) && !isAbsent(until))
      throw new ConfigError('invalid_config', '/until', "Expected one of 'timeout' and 'until', not both.");
    if (match !== undefined && typeof match !== 'string')
      throw new ConfigError('invalid_config', '/match', "Expected an expression such as 'payload.id == input.id'.");
    const name = parse.template(config['name'], '/name');
    const count = parse.template(config['count'], '/count');
    const fits = match === undefined ? undefined : parse.expression(match, '/match', ['payload']);
    const schema = planFormat(config['schema'], 'schema', parse);
    const waitMs = isAbsent(timeout) ? undefined : planDuration(timeout, '/timeout', parse);
    const instantOf = isAbsent(until) ? undefined : planInstant(until, '/until', parse);

    const accepts = (visit: Visit, hold: JsonObject, payload: Json): boolean =>
      (fits === undefined || matches(visit, fits, payload)) && misfit(schema.of(visit, hold), payload) === undefined;

    return {
      begin(visit) {
        const wanted = text(visit.render(name), 'name');
        const counted = visit.render(count);
        const many = isAbsent(counted) ? null : whole(counted, 'count', 1, MOST_MESSAGES);
        const hold: JsonObject = { count: many, received: [], ...schema.held(visit) };
        const wait = waitMs?.(visit);
        const at = wait === undefined ? instantOf?.(visit) : visit.now + wait;
        const early = visit.takeMessages(wanted, many ?? 1, (payload) => accepts(visit, hold, payload));
        const ended = take(hold, early);
        if (ended !== undefined) return ended;
        if (at !== undefined && at <= visit.now) return timedOut(visit, hold);
        return {
          do: 'hold',
          hold,
          waiting: {
            kind: 'message',
            name: wanted,
            audience: [listenTag(wanted)],
            ...(at === undefined ? {} : { until: at }),
          },
          timers: at === undefined ? [] : [{ at }],
        };
      },
      resume(visit, event) {
        const { hold } = visit;
        if (event.on === 'fired') return timedOut(visit, hold);
        if (event.on !== 'message' || !accepts(visit, hold, event.payload)) return { do: 'ignore' };
        return take(hold, [event.payload]) ?? { do: 'hold', hold };
      },
    };
  },
};

/** Messages come from outside: one that the expression cannot be asked about is not for this step, and fails no run. */
function matches(visit: Visit, expression: Expression, payload: Json): boolean {
  try {
    return visit.test(expression, { payload });
  } catch (error) {
    if (error instanceof TemplateError) return false;
    throw error;
  }
}

/** Keeps payloads; the end, when the last that is wanted is among them. */
function take(hold: JsonObject, payloads: readonly Json[]): Outcome | undefined {
  const { count } = hold;
  if (typeof count !== 'number')
    return payloads.length === 0 ? undefined : { do: 'end', port: 'received', data: payloads[0]! };
  const received = [...receivedIn(hold), ...payloads];
  hold['received'] = received;
  return received.length >= count ? { do: 'end', port: 'received', data: received } : undefined;
}

function timedOut(visit: Visit, hold: JsonObject): Outcome {
  if (!visit.wired('timeout'))
    throw new StepFailure(
      'listen_timeout',
      `The step '${visit.slug}' did not get its message in time; wire its port 'timeout', or wait longer.`,
      {
        details: { received: receivedIn(hold).length },
      },
    );
  return { do: 'end', port: 'timeout', data: typeof hold['count'] === 'number' ? receivedIn(hold) : null };
}

function receivedIn(hold: JsonObject): Json[] {
  return hold['received'] as Json[];
}
