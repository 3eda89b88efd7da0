/**
 * What the documents that are read as they are repeat of the code: defaults, limits, names. A sentence stands here as
 * it stands in the document, with the value of the code in place of the number or the list; line breaks do not count.
 * Where the code has changed, the failure names the line to change. The manual's pages have slots for this.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { triggerSchemas } from '../../../src/check/triggers.ts';
import { EXIT } from '../../../src/cli/exit.ts';
import { DIALECT_NAMES } from '../../../src/compat/dialect-names.ts';
import { traitsOf } from '../../../src/compat/traits.ts';
import { SHARD_COUNT } from '../../../src/contract/limits/limiter-pool.ts';
import { ROLES, type Role } from '../../../src/contract/organization/organization.ts';
import { RUN_STATUSES } from '../../../src/contract/run/run.ts';
import { ATTRIBUTES, MAX_ATTRIBUTE_VALUES } from '../../../src/contract/search-attributes.ts';
import * as documents from '../../../src/definition/document/limits.ts';
import { SLUG_PATTERN, STEP_SLUG_PATTERN } from '../../../src/definition/document/names.ts';
import { ROOTS } from '../../../src/definition/document/roots.ts';
import { definitionSchema } from '../../../src/definition/document/schema.ts';
import { OVERFLOWS, TRIGGER_TYPES } from '../../../src/definition/document/types.ts';
import { FIELD_TYPES } from '../../../src/definition/payload/format.ts';
import { STRING_FORMATS } from '../../../src/definition/payload/string-formats.ts';
import { QUERY_TEXTS } from '../../../src/engine/inbound/signal-texts.ts';
import { SIGNALS, UPDATES } from '../../../src/engine/inbound/signals.ts';
import { MAX_SEGMENT_STATE_BYTES } from '../../../src/engine/segment.ts';
import * as runs from '../../../src/engine/state/limits.ts';
import { jsonSchemaOf, portsAreFixed } from '../../../src/gateway/manual/language-schema.ts';
import { objectOf } from '../../../src/gateway/manual/schema-tables.ts';
import { MAX_NESTING, MAX_VALUE_DEPTH } from '../../../src/json/depth.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { RETRY_POLICIES } from '../../../src/steps/compile/retry.ts';
import { NOTICES } from '../../../src/steps/kinds/approval/approval-notify.ts';
import { approvalSchema, ON_REJECT, ON_TIMEOUT } from '../../../src/steps/kinds/approval/approval-schema.ts';
import { MAX_DEPTH } from '../../../src/steps/kinds/run-workflow.ts';
import { kindOf, kinds } from '../../../src/steps/kinds/table.ts';
import { DEFAULT_MAX_STEPS } from '../../../src/steps/program-types.ts';
import { TRANSFORMS } from '../../../src/template/transforms/table.ts';
import { sourceRoot } from '../source-root.ts';

/**
 * A number or a text as the document writes it. Of a list its names count, not their order: all words or, where some
 * are code, those; what stands in parentheses and braces is left out.
 */
type Value = number | string | readonly string[];

const read = (file: string): string => readFileSync(join(sourceRoot, file), 'utf8');
const stale: string[] = [];
/** What is left of the files without the sentences that were compared. */
const others = new Map<string, string>();

/** Compares sentences of the file with the code. */
function sentencesOf(file: string): (words: TemplateStringsArray, ...values: Value[]) => void {
  const text = read(file);
  return (words, ...values) => {
    const escaped = words.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
    const pattern = escaped
      .map(
        (part, n) =>
          part +
          (n === values.length ? '' : Array.isArray(values[n]) ? String.raw`((?:(?!\n\n).)*?)` : String.raw`(\S+?)`),
      )
      .join('')
      .replaceAll(/\s+/g, String.raw`\s+`);
    const found = new RegExp(pattern, 'ds').exec(text);
    if (found === null) {
      stale.push(`${file} has no sentence "${words.join('…').trim()}"`);
      return;
    }
    others.set(file, (others.get(file) ?? text).replace(found[0], ''));
    values.forEach((value, n) => {
      const said = found[n + 1]!;
      const difference = Array.isArray(value) ? differenceOf(said, value) : differs(said, String(value));
      const line = text.slice(0, found.indices![n + 1]![0]).split('\n').length;
      if (difference !== '') stale.push(`${file}:${line} ${difference}`);
    });
  };
}

const differs = (said: string, is: string): string => (said === is ? '' : `says ${said}, and the code has ${is}`);

function differenceOf(said: string, names: readonly string[]): string {
  const bare = said.replaceAll(/\([^)]*\)|\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\}/g, ' ');
  const listed = bare.includes('`')
    ? [...bare.matchAll(/`([\w-]+)[^`]*`/g)].map(([, name = '']) => name)
    : (bare.match(/[\w-]+/g) ?? []).filter((word) => word !== 'and' && word !== 'or');
  const lacks = names.filter((name) => !listed.includes(name));
  const more = listed.filter((name) => !names.includes(name));
  return [
    ...(lacks.length === 0 ? [] : [`lacks ${lacks.join(', ')}`]),
    ...(more.length === 0 ? [] : [`has ${more.join(', ')}, which the code lacks`]),
  ].join('; ');
}

/** The number that the file gives to a constant or a member of its own. */
function constant(file: string, name: string): number {
  const [, product] =
    new RegExp(`\\b${name}(?:: number)?(?: =|:)(?: \\(\\) =>)? ([\\d_.* ]+?)(?: }|[;,])`).exec(read(file)) ?? [];
  if (product === undefined) throw new Error(`${file} has no constant ${name}.`);
  return product.split('*').reduce((all, factor) => all * Number(factor.replaceAll('_', '')), 1);
}

const LOOP = 'src/steps/kinds/loop.ts';
const AGENT = 'src/steps/kinds/agent/agent.ts';
const AGENT_MESSAGE = 'src/steps/kinds/agent/agent-message.ts';
const BASH = 'src/steps/kinds/bash.ts';
const RUN_CODE = 'src/steps/kinds/run-code.ts';
const HTTP = 'src/steps/kinds/http.ts';
const TOOL = 'src/steps/kinds/tool.ts';

const count = (number: number): string => number.toLocaleString('en');
const mb = (bytes: number): number => Math.round(bytes / 100_000) / 10;
const seconds = (ms: number): number => ms / 1_000;
const membersOf = (schema: unknown): JsonObject => objectOf(objectOf(schema as JsonObject)['properties']);
const without = (names: readonly string[], ...less: readonly string[]): string[] =>
  names.filter((name) => !less.includes(name));

const definition = membersOf(jsonSchemaOf(definitionSchema()));
const config = membersOf(definition['config']);
const step = membersOf(objectOf(definition['steps'])['additionalProperties']);
const dagMembers = ['dependsOn', 'forEach', 'bail'];
const approval = membersOf(jsonSchemaOf(approvalSchema()));
const trigger = (type: keyof ReturnType<typeof triggerSchemas>): JsonObject =>
  membersOf(jsonSchemaOf(triggerSchemas()[type]));
const enumOf = (schema: unknown): string[] => objectOf(schema as JsonObject)['enum'] as string[];
const patternOf = (slug: RegExp): string => slug.source.slice(1, -1);
const rolesFrom = (role: Role): Role[] => ROLES.slice(ROLES.indexOf(role));

const language = sentencesOf('src/definition/LANGUAGE.md');
const retry = RETRY_POLICIES.default;
language`unique in its organization, ${patternOf(SLUG_PATTERN)}
type: structured # ${enumOf(definition['type'])}
version:`;
language`flow: ports # ${enumOf(definition['flow'])}
start:`;
language`orderId: string # ${FIELD_TYPES}; dotted names`;
language`in the object that the input has
# ${enumOf(membersOf(objectOf(definition['state'])['additionalProperties'])['type'])}, default; searchable`;
language`retryPolicy: {maxAttempts: ${retry.maxAttempts}, initialInterval: ${seconds(retry.initialIntervalMs)}s,
  backoffCoefficient: ${retry.backoffCoefficient}, maximumInterval: ${seconds(retry.maximumIntervalMs)}s}  # defaults`;
language`maxSteps: ${DEFAULT_MAX_STEPS} # visits in the whole run (default; ${traitsOf('002').maxSteps!} in agent-ops)`;
language`mode: parallel # ${enumOf(config['mode'])}
  debounce:`;
language`overflow: queue}  # or ${without(OVERFLOWS, 'queue')}
  onFailure: fail # ${enumOf(config['onFailure'])}
  publicStart:`;
language`of at most ${count(constant('src/definition/payload/pattern.ts', 'MAX_PATTERN_CHARACTERS'))} characters`;
language`A \`format\` other than ${Object.keys(STRING_FORMATS)} restricts nothing`;
language`A step: \`{${without(Object.keys(step), ...dagMembers)}}\`, in \`flow: dag\` also \`${dagMembers}\`.`;
language`Step slugs: \`${patternOf(STEP_SLUG_PATTERN)}\`.`;
language`Over ${runs.MAX_PATH_LENGTH} characters the tail is hashed.`;
language`Roots: ${ROOTS}. A variable named like a root`;
language`Transforms: ${[...TRANSFORMS.keys()]}. Time comes`;
language`maxIterations=${constant(LOOP, 'DEFAULT_MAX_ITERATIONS')}, initial?`;
language`mcpServerIds, maxSteps=${constant(AGENT, 'DEFAULT_MAX_STEPS')} |`;
language`await_timeout_ms ≥ ${constant(AGENT_MESSAGE, 'MIN_WAIT_MS')} |`;
language`input, timeoutMs=${constant(RUN_CODE, 'DEFAULT_TIMEOUT_MS')},
  memoryMb=${constant(RUN_CODE, 'DEFAULT_MEMORY_MB')} |`;
language`cwd, timeoutMs=${constant(BASH, 'DEFAULT_BASH_TIMEOUT_MS')}
  (max ${constant(BASH, 'MAX_BASH_TIMEOUT_MS')}), env`;
language`cut at ${count(constant('activities/bash/bash.ts', 'MAX_CHARACTERS'))} characters`;
language`the child's output; depth limit ${MAX_DEPTH};`;
language`Members of an approval: ${without(Object.keys(approval), 'description')}. Output data:`;
language`\`onTimeout\` (${ON_TIMEOUT}),`;
language`\`onReject\` (${ON_REJECT}, as in`;
language`(\`wrf_rt_\` + ${constant('src/client/runs/resume-token.ts', 'DIGITS')} hex`;
language`\`notify: [{${Object.keys(membersOf(objectOf(approval['notify'])['items']))}}]\` sends`;
language`\`on\`: any of ${NOTICES} (default: all)`;
language`a role that may decide (${rolesFrom('approver')})`;
language`or the name of a policy: ${Object.keys(RETRY_POLICIES)}.`;
language`- \`rollback\`: {${Object.keys(membersOf(step['rollback']))}}.`;
language`type: ${TRIGGER_TYPES}, enabled, config`;
language`- webhook: \`{${Object.keys(trigger('webhook'))}}\`.`;
language`\`scheme\`: ${enumOf(trigger('webhook')['scheme'])}.`;
language`- schedule: \`{${Object.keys(trigger('schedule'))}}\`.`;
language`\`overlap\`: ${enumOf(trigger('schedule')['overlap'])};`;
language`for ${constant('src/gateway/webhook-signatures/github.ts', 'replayWindowMs') / 3_600_000} hours (github)
  or ${constant('src/gateway/routes/triggers/webhooks.ts', 'DEFAULT_REPLAY_WINDOW_MS') / 60_000} minutes (hmac)`;
language`A definition has at most ${mb(documents.MAX_DEFINITION_BYTES)} MB and ${count(documents.MAX_STEPS)} steps;
  JSON nests at most ${MAX_NESTING} deep.`;
language`by hand may nest ${count(MAX_VALUE_DEPTH)} deep;`;
language`| definition and state together | ${mb(documents.MAX_STATE_BYTES)} MB
  | ${mb(documents.MAX_BLOB_STATE_BYTES)} MB |`;
language`| result of a step | ${mb(documents.MAX_TEMPORAL_BYTES)} MB | ${mb(documents.MAX_BLOB_STATE_BYTES)} MB |`;
language`a child's output | ${mb(runs.MAX_PAYLOAD_BYTES)} MB | ${mb(runs.MAX_PAYLOAD_BYTES)} MB |`;
language`| unread messages of a run | ${mb(runs.MAX_INBOX_BYTES)} MB, ${count(runs.MAX_INBOX_MESSAGES)} |`;
language`429, from ${runs.INBOX_REFUSAL_FRACTION * 100}%)`;
language`At most ${runs.MAX_OPEN_COMMANDS} commands are open`;
language`One activation emits at most ${mb(runs.MAX_ACTIVATION_BYTES)} MB of commands.`;

/** The texts in quotes of a type that the file declares. */
function quotedIn(file: string, type: string): string[] {
  const text = read(file);
  const start = text.indexOf(`export type ${type} =`);
  return [...text.slice(start, text.indexOf('\n\n', start)).matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
}
const PROTOCOL = 'src/engine/state/protocol.ts';

const core = sentencesOf('src/engine/DESIGN.md');
const segment = (name: string): number => constant('activities/segment/segment.ts', name);
core`- **Events**: ${quotedIn(PROTOCOL, 'Event')}. \`protocol.ts\``;
core`- **Commands**: ${['run', ...without(quotedIn(PROTOCOL, 'Command'), 'suffix', 'inner')]}. - **State**`;
core`At most ${runs.MAX_OPEN_COMMANDS} commands are open`;
core`One activation emits at most ${mb(runs.MAX_ACTIVATION_BYTES)} MB of commands.`;
core`States above ${MAX_SEGMENT_STATE_BYTES / 1_000} KB have no segment`;
core`has grown by 1/${2 ** constant('src/engine/state/space.ts', 'GROWTH_SHIFT')}.`;
core`after ${segment('LOCAL_BUDGET_MS')} ms as a local activity or
  ${seconds(segment('REGULAR_BUDGET_MS'))} s as a regular one, at ${count(segment('MAX_ENDS'))} ends,
  and at ${segment('MAX_LIST_BYTES') / 1_000} KB.`;
core`a local one stops at ${segment('MAX_LIST_BYTES_WITHOUT_STORE') / 1_000} KB`;
core`what it did since its last one (${constant('workers/main.ts', 'HEARTBEAT_THROTTLE_MS')} ms at most)`;
core`(\`state.decided\`, at most ${MAX_ATTRIBUTE_VALUES + 2} values)`;

const house = sentencesOf('src/ARCHITECTURE.md');
const internalSignals = ['childDone', 'granted'];
house`**Signals**, for \`temporal workflow signal\` and any SDK: ${without(SIGNALS, ...internalSignals)},
  with a JSON object`;
house`Updates of the same names (but ${without(SIGNALS, ...internalSignals, ...UPDATES)}, which are signals only)`;
house`Queries: ${Object.keys(QUERY_TEXTS)}.`;
house`A large limit has ${SHARD_COUNT} of them`;
house`Search attributes: ${Object.values(ATTRIBUTES)}. One query builder`;
house`Exit codes: ${EXIT.ok}, ${EXIT.internal} internal error, ${EXIT.input} input, ${EXIT.usage} flags,
  ${EXIT.differs} differences, ${EXIT.failed} execution failed.`;
house`Statuses: ${RUN_STATUSES}; \`waitingFor\``;
house`Roles: ${ROLES}. Each`;

const threats = sentencesOf('src/gateway/THREATS.md');
const logins = (name: string): number => constant('src/gateway/routes/organization/failed-logins.ts', name);
const bodyReader = (name: string): number => constant('src/gateway/http/body-reader.ts', name);
threats`| nesting over ${MAX_NESTING} |`;
const tolerance = constant('src/gateway/webhook-signatures/scheme.ts', 'TOLERANCE_MS');
threats`a timestamp ${tolerance / 60_000 + 1} minutes old`;
threats`| ${count(documents.MAX_STEPS + 1)} steps, or a definition over
  ${mb(documents.MAX_DEFINITION_BYTES)} MB |`;
threats`(over ${constant('src/gateway/http/body.ts', 'MAX_BODY_BYTES') / 1024 ** 2} MB: 413)`;
threats`secrets of ${constant('src/client/organization/secrets.ts', 'MAX_SECRET_BYTES') / 1024} KB`;
threats`it ends after ${constant('src/gateway/http/session.ts', 'SESSION_MS') / 3_600_000} hours`;
threats`after ${logins('MAX_FAILED_LOGINS')} wrong keys within ${seconds(logins('WINDOW_MS'))} seconds from one
  address`;
threats`408 after ${seconds(bodyReader('BASE_TIMEOUT_MS'))} to ${seconds(bodyReader('MAX_TIMEOUT_MS'))} seconds`;
threats`${bodyReader('MAX_BUFFERED_BYTES') / 1024 ** 2} MB at most:`;
threats`up to ${count(constant('activities/runtime/scrub-shapes.ts', 'MAX_PART_SHAPES'))} forms of a secret`;
threats`no more than ${mb(constant('src/client/payloads/s3-store.ts', 'MAX_BYTES'))} MB of it are read`;
threats`${constant('src/client/payloads/s3-store.ts', 'ATTEMPTS')} attempts, each with a limit`;
const backpressure = (name: string): number => constant('src/gateway/http/backpressure.ts', name);
threats`${backpressure('slotsForKeys')} of ${count(backpressure('slots'))} slots are left to callers with keys,
  and ${backpressure('slotsPerOrganization')} to other organizations`;
threats`public keys | one call to Temporal in
  ${seconds(constant('src/client/organization/organizations.ts', 'FRESH_MS'))} seconds`;
threats`that exists one in ${seconds(constant('src/client/organization/public-key.ts', 'FRESH_MS'))} seconds`;
const unknownAddresses = (name: string): number => constant('src/gateway/input/address-lookup-limiter.ts', name);
threats`| ${unknownAddresses('burst')} lookups at once and ${unknownAddresses('perSecond')} a second;`;

const temporal = sentencesOf('workflows/TEMPORAL.md');
const connect = (name: string): number => constant('src/client/temporal/connect.ts', name);
temporal`ours starts at ${connect('CLOSING_DELAY_MS')} ms for that message`;
temporal`\`connect.ts\` makes it ${seconds(connect('MAX_RECONNECT_BACKOFF_MS'))} s`;
temporal`is ${constant('src/contract/run/activity.ts', 'STORE_TIMEOUT_MS') / 60_000} minutes longer`;
temporal`runs continue as new near ${count(constant('src/contract/build-id.ts', 'DEFAULT_HISTORY_LIMIT'))} events`;
temporal`SDK ${JSON.parse(read('package.json')).dependencies['@temporalio/workflow']} and server`;

// The descriptions of members that have a default: the manual's tables show them.
const schema = sentencesOf('src/definition/document/schema.ts');
schema`including the first one. Default: ${retry.maxAttempts}.`;
schema`before the second attempt. Default: ${seconds(retry.initialIntervalMs)}s.`;
schema`times this factor. Default: ${retry.backoffCoefficient}.`;
schema`The longest interval. Default: ${seconds(retry.maximumIntervalMs)}s.`;
const { quick } = RETRY_POLICIES;
schema`intervals from ${quick.initialIntervalMs} ms to ${seconds(quick.maximumIntervalMs)} s.`;
schema`\`max_steps_exceeded:n\`. Default: ${DEFAULT_MAX_STEPS}.`;
sentencesOf(LOOP)`For while, until and next (${constant(LOOP, 'DEFAULT_MAX_ITERATIONS')}).`;
sentencesOf(AGENT)`Most model calls (${constant(AGENT, 'DEFAULT_MAX_STEPS')}).`;
sentencesOf(AGENT_MESSAGE)`For how long (${constant(AGENT_MESSAGE, 'DEFAULT_WAIT_MS') / 60_000} minutes).`;
sentencesOf(BASH)`running time in milliseconds (${count(constant(BASH, 'DEFAULT_BASH_TIMEOUT_MS'))};
  at most ${count(constant(BASH, 'MAX_BASH_TIMEOUT_MS'))}).`;
sentencesOf(RUN_CODE)`running time in milliseconds (${count(constant(RUN_CODE, 'DEFAULT_TIMEOUT_MS'))};
  at most ${count(constant(RUN_CODE, 'MAX_TIMEOUT_MS'))}).`;
sentencesOf(RUN_CODE)`memory in MiB (${constant(RUN_CODE, 'DEFAULT_MEMORY_MB')};
  at most ${constant(RUN_CODE, 'MAX_MEMORY_MB')}, and`;
sentencesOf(HTTP)`answer included (${seconds(constant(HTTP, 'DEFAULT_HTTP_TIMEOUT_MS'))}s).`;
sentencesOf(HTTP)`Limit of the answer (${mb(constant('activities/http/http.ts', 'DEFAULT_MAX_BYTES'))} MB)`;
sentencesOf(TOOL)`Limit of one call (${seconds(constant(TOOL, 'DEFAULT_TIMEOUT_MS'))}s).`;

/** The cells of the table that has this head. */
function rowsOf(file: string, head: string): string[][] {
  const text = read(file);
  return text
    .slice(text.indexOf(head), text.indexOf('\n\n', text.indexOf(head)))
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

const inCode = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

describe('the documents that are read as they are', () => {
  it('repeat defaults, limits and names as the code has them', () => {
    expect(stale).toEqual([]);
  });

  it('have no other limits', () => {
    const numbers = (file: string): string[] =>
      others
        .get(file)!
        .match(/(?<![\w.–-])\d[\d,.]* ?(?:ms|s|seconds|minutes|hours|days|[KMG]B|bytes|characters|hex|deep)\b/g) ?? [];
    expect(numbers('src/definition/LANGUAGE.md')).toEqual(['300ms']);
    // What was measured of Temporal.
    expect(numbers('src/engine/DESIGN.md')).toEqual(['10 ms', '0.74 ms']);
  });

  const table = rowsOf('src/definition/LANGUAGE.md', '| kind | config');
  it('list every step kind with its other names, in LANGUAGE.md §5', () => {
    const names = kinds.flatMap(({ type, aliases = [] }) => [type, ...aliases]);
    expect(table.flatMap(([cell]) => inCode(cell)).toSorted()).toEqual(names.toSorted());
  });

  it.each(table)('name fields and ports that the kind has, in LANGUAGE.md §5: %s', (name, fields = '', ports = '') => {
    const kind = kindOf(inCode(name)[0]!)!;
    const written = jsonSchemaOf(kind.schema());
    const members = [written, ...((written['anyOf'] ?? []) as JsonObject[])].flatMap((one) =>
      Object.keys(membersOf({ ...one })),
    );
    const named = fields
      .replaceAll(/\([^)]*\)|\{[^}]*\}|\[[^\]]*\]|=\S+/g, '')
      .split(/,| \\\| |\+/)
      .flatMap((field) => /^ *(\w+)/.exec(field)?.[1] ?? []);
    if (!fields.startsWith('see'))
      expect(named.filter((field) => !members.includes(field) && kindOf(field) === undefined)).toEqual([]);
    if (portsAreFixed(kind)) expect(ports.match(/\w+/g) ?? []).toEqual(kind.ports(kind.example).names);
  });

  it('show every member of a definition and of its config in LANGUAGE.md §1', () => {
    const shown = parse(/^```yaml\n(.*?)^```/ms.exec(read('src/definition/LANGUAGE.md'))![1]!) as JsonObject;
    expect(Object.keys(shown).toSorted()).toEqual(Object.keys(definition).toSorted());
    expect(Object.keys(objectOf(shown['config'])).toSorted()).toEqual(Object.keys(config).toSorted());
  });

  it('name the systems, in LANGUAGE.md §9 and in the manual', () => {
    const named = (file: string, head: string): string[][] =>
      rowsOf(file, head).map(([number = '', system = '']) => [number.replaceAll('`', ''), system.replaceAll('`', '')]);
    const systems = Object.entries(DIALECT_NAMES);
    expect(named('src/gateway/manual/pages/dialects.md', '| Dialect | System')).toEqual(systems);
    expect(named('src/definition/LANGUAGE.md', '| number | system')).toEqual([...systems, ['003', 'rivet']].toSorted());
  });

  it('describe every metric, in observing.md', () => {
    const metrics = ['src/observe/metrics.ts', 'workflows/interceptors.ts', 'workers/observers.ts'].flatMap((file) =>
      [...read(file).matchAll(/'(signalbox_\w+)'/g)].map(([, name = '']) => name),
    );
    const rows = rowsOf('src/gateway/manual/pages/observing.md', '| Metric').map(([cell]) => inCode(cell)[0]!);
    // Temporal's SDK adds the endings of counters to those of workers and workflows.
    const endless = (names: readonly string[]): string[] => names.map((name) => name.replace(/_(total|seconds)$/, ''));
    expect(endless(rows).toSorted()).toEqual([...new Set(endless(metrics))].toSorted());
  });

  it('name every room, in ARCHITECTURE.md §1', () => {
    const rooms = rowsOf('src/ARCHITECTURE.md', '| folder | holds').map(([cell]) => inCode(cell)[0]);
    const folders = readdirSync(join(sourceRoot, 'src'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(rooms.toSorted()).toEqual(
      [...folders.map(({ name }) => `src/${name}`), 'activities', 'workers', 'workflows'].toSorted(),
    );
  });
});
