import { z } from 'zod';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { children, type Node } from '../../template/ast.ts';
import type { Expression } from '../../template/expression.ts';
import { references } from '../../template/references.ts';
import { TemplateError } from '../../template/types.ts';
import { planInstant, planTimeout } from '../config/duration.ts';
import { payloadMismatch, planFormat, type StoredFormat } from '../config/payload.ts';
import { invalid, isAbsent, names, text, wholeNumber } from '../config/read.ts';
import {
  configSchema,
  duration,
  expression,
  instant,
  payloadFormat,
  templated,
  textTemplate,
} from '../config/schema.ts';
import {
  ConfigError,
  type Message,
  type Outcome,
  type StepContext,
  type StepKind,
  type Subscription,
} from '../kind.ts';
import { timedPorts } from '../ports.ts';

const MAX_MESSAGES = 10_000;
const MAX_NAMES = 20;
/** Roots that are the same at every visit. */
const CONSTANT_ROOTS: ReadonlySet<string> = new Set(['payload', 'input']);
/** Transforms that read the clock. */
const CLOCK_READERS = /^(days|hours|minutes)Ago$/;

type ListenState = StoredFormat<'schema'> & {
  /** How many messages end the step; null: the first one ends it. */
  readonly count: number | null;
  /** Messages taken so far, with `count`. */
  taken: Message[];
  /** `name` is a list. */
  readonly hasNameList?: true;
};

export const listen: StepKind<ListenState> = {
  type: 'listen',
  class: 'wait',
  summary: 'Waits for messages that are sent to the run.',
  description: `Takes messages of one \`name\`, or of any name in a list, in the order in which they arrived. There are
two sorts:

- **Messages to this run**, from \`POST /api/executions/:id/messages/:name\` or the signal \`message\`. Messages that
  arrive before a step listens are kept, and taken first. Messages that \`match\` or \`schema\` refuse stay for another
  listener.
- **Published events**, from \`POST /api/events\`. An event is sent to the runs that listen to its name at that time.
  An event that no open listener takes is dropped, so events for other runs leave nothing behind.

\`key\` is evaluated when the visit begins, and selects events by their \`key\`: an event wakes only the runs that
listen to its key, however many others wait. A listener without \`key\` receives every event of its names. Messages to
this run have no key, so \`key\` does not apply to them. \`match\`, an expression over \`payload\` and all roots of the
run, and \`schema\`, a payload format, are evaluated in the run. A message on which the expression fails does not
match. A message or event goes to one listener of a run: the oldest listener that takes it.

Without \`count\` the first message ends the step. With \`count\` that number of messages ends it, and the data is a
list. After \`timeout\`, or at \`until\`, the step ends by \`timeout\`; if that port is not wired it fails with
\`listen_timeout\`. Messages that the step took but did not output, because it failed, was cancelled or lost a race,
are kept in order for the next listener. A retry of the run keeps them too.`,
  example: {
    stepType: 'listen',
    config: { name: 'payment', key: '{{ input.orderId }}', match: 'payload.cents > 0', timeout: '1h' },
    nextSteps: { received: 'ship', timeout: 'cancel' },
  },
  output:
    'The payload; with `count` a list of payloads. At the timeout: null, or the list of the messages so far. Where ' +
    "`name` is a list, `meta.name` tells the message's name; with `count`, `meta.names` lists the names.",
  schema: () =>
    configSchema({
      name: z
        .union([textTemplate(), z.array(textTemplate()).min(1).max(MAX_NAMES)])
        .describe('The name of the messages, or a list of names.'),
      key: z
        .union([textTemplate(), z.number()])
        .optional()
        .describe('Published events need this key. Default: events of every key.'),
      count: templated(z.number().int().min(1).max(MAX_MESSAGES))
        .optional()
        .describe('How many; the data is then a list.'),
      match: expression().optional().describe('Which of them: an expression that reads `payload`.'),
      schema: payloadFormat().optional().describe('The format of the payload: a payload format.'),
      timeout: duration().optional().describe('How long to wait.'),
      until: instant().optional().describe('Until when to wait.'),
    }),
  ports: () =>
    timedPorts(
      'received',
      'listen_timeout',
      (slug) => `The step '${slug}' did not get its message in time; wire its port 'timeout', or wait longer.`,
    ),
  plan(config, parse) {
    const { timeout, until, match } = config;
    if (config['name'] === undefined)
      throw new ConfigError('/name', "Expected the messages' name, or a list of names.");
    if (!isAbsent(timeout) && !isAbsent(until))
      throw new ConfigError('/until', "Expected one of 'timeout' and 'until', not both.");
    if (match !== undefined && typeof match !== 'string')
      throw new ConfigError('/match', "Expected an expression such as 'payload.id == input.id'.");
    const name = parse.template(config['name'], '/name');
    const key = isAbsent(config['key']) ? undefined : parse.template(config['key'], '/key');
    const count = parse.template(config['count'], '/count');
    const matchCondition = match === undefined ? undefined : parse.expression(match, '/match', ['payload']);
    const schema = planFormat(config['schema'], 'schema', parse);
    const timeoutOf = planTimeout(config, parse);
    const instantOf = isAbsent(until) ? undefined : planInstant(until, '/until', parse);

    const isConstant = schema.isConstant && (matchCondition === undefined || readsOnly(matchCondition, CONSTANT_ROOTS));

    const accepts = (visit: StepContext, state: ListenState, payload: Json): boolean =>
      (matchCondition === undefined || matches(visit, matchCondition, payload)) &&
      payloadMismatch(visit, schema.formatOf(visit, state), payload) === undefined;

    return {
      begin(visit) {
        const named = visit.render(name);
        const hearing = subscriptionOf(named, key === undefined ? undefined : text(visit.render(key), 'key'));
        const counted = visit.render(count);
        const wantedCount = isAbsent(counted) ? null : wholeNumber(counted, 'count', 1, MAX_MESSAGES);
        const state: ListenState = {
          count: wantedCount,
          taken: [],
          ...(Array.isArray(named) ? { hasNameList: true } : {}),
          ...schema.stored(visit),
        };
        const at = timeoutOf(visit) ?? instantOf?.(visit);
        const early = visit.takeMessages(hearing, wantedCount ?? 1, (payload) => accepts(visit, state, payload), {
          isConstant,
        });
        const ended = takeIntoState(state, early);
        if (ended !== undefined) return ended;
        if (at !== undefined && at <= visit.now) {
          if (!visit.wired('timeout')) visit.returnMessages(early);
          return timedOut(visit, state);
        }
        return {
          do: 'suspend',
          state,
          waiting: {
            kind: 'message',
            name: hearing.names[0]!,
            hearing,
            ...omitUndefined({ until: at }),
          },
          timers: at === undefined ? [] : [{ at }],
        };
      },
      resume(visit, event) {
        const { state } = visit;
        if (event.on === 'fired') return timedOut(visit, state);
        if (event.on !== 'message' || !accepts(visit, state, event.payload)) return { do: 'ignore' };
        return takeIntoState(state, [event.message]) ?? { do: 'suspend', state, grown: event.payload };
      },
      unused: ({ taken }) => taken,
    };
  },
};

/** @throws StepFailure `invalid_config`. */
function subscriptionOf(name: Json, key: string | undefined): Subscription {
  const listed = Array.isArray(name) ? names(name, 'name') : [text(name, 'name')];
  if (listed.length === 0 || listed.length > MAX_NAMES)
    throw invalid('name', `a text, or a list of 1 to ${MAX_NAMES} texts`, name);
  return { names: listed, ...omitUndefined({ key }) };
}

/** Whether the expression gives the same result for the same payload at every visit. */
function readsOnly(expression: Expression, roots: ReadonlySet<string>): boolean {
  const isClockFree = (node: Node): boolean =>
    (node.kind !== 'transform' || !CLOCK_READERS.test(node.name)) && children(node).every(isClockFree);
  return references(expression).every(({ root }) => roots.has(root)) && isClockFree(expression.node);
}

/** Messages come from outside: one on which the expression fails does not match, and fails no run. */
function matches(visit: StepContext, expression: Expression, payload: Json): boolean {
  try {
    return visit.test(expression, { payload });
  } catch (error) {
    if (error instanceof TemplateError) return false;
    throw error;
  }
}

/** Adds the messages to the state. Ends the step where they include the last one that it needs. */
function takeIntoState(state: ListenState, messages: readonly Message[]): Outcome<never> | undefined {
  const { count, hasNameList: named, taken } = state;
  const [first] = messages;
  if (count !== null) {
    taken.push(...messages);
    return taken.length >= count ? endWithTaken(state, 'received') : undefined;
  }
  if (first === undefined) return undefined;
  const meta = named === true ? { name: first.name } : undefined;
  return { do: 'end', port: 'received', data: first.payload, took: [first], ...omitUndefined({ meta }) };
}

/** A step that fails at its timeout keeps what it took, which then returns to the inbox. */
function timedOut(visit: StepContext, state: ListenState): Outcome<never> {
  if (state.count !== null && visit.wired('timeout')) return endWithTaken(state, 'timeout');
  return { do: 'end', port: 'timeout', data: null, details: { received: state.taken.length } };
}

/** The output uses the messages, so the state gives them up. */
function endWithTaken(state: ListenState, port: string): Outcome<never> {
  const { taken: took, hasNameList: named } = state;
  state.taken = [];
  const meta = named === true ? { names: took.map(({ name }) => name) } : undefined;
  return { do: 'end', port, data: took.map(({ payload }) => payload), took, ...omitUndefined({ meta }) };
}
