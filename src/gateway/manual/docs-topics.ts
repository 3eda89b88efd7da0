/** The pages of the manual that are about no single kind. */

import type { HostActions } from '../../actions/load.ts';
import { CODES } from '../../check/codes.ts';
import { triggerSchemas } from '../../check/triggers.ts';
import { SETTINGS } from '../../config/settings.ts';
import { INBOX_MESSAGE_BYTES } from '../../contract/inbox.ts';
import {
  BLOB_BYTES,
  MAX_BLOB_STATE_BYTES,
  MAX_DEFINITION_BYTES,
  MAX_STATE_BYTES,
  MAX_STEPS,
  MOST_SECRET_BYTES_PER_STEP,
  MOST_SECRETS_PER_STEP,
} from '../../definition/document/limits.ts';
import { ROOT_MEANINGS } from '../../definition/document/roots.ts';
import { definitionSchema } from '../../definition/document/schema.ts';
import { QUERY_TEXTS, SIGNAL_TEXTS } from '../../engine/inbound/signal-texts.ts';
import { UPDATES } from '../../engine/inbound/signals.ts';
import {
  INBOX_OPEN_PART,
  MAX_INBOX_BYTES,
  MAX_INBOX_MESSAGES,
  MAX_OPEN_COMMANDS,
  MAX_PAYLOAD_BYTES,
} from '../../engine/state/limits.ts';
import { MAX_NESTING } from '../../json/depth.ts';
import { MAX_SOURCE_LENGTH, MAX_WORK } from '../../template/limits.ts';
import { TRANSFORMS } from '../../template/transforms/table.ts';
import { LARGEST_BODY_BYTES } from '../http/body.ts';
import { PROBLEM_CODES } from '../validation/problem-codes.ts';
import { accessPage } from './docs-access.ts';
import { actionsPage } from './docs-actions.ts';
import { apiPage } from './docs-api.ts';
import { dialectsPage } from './docs-dialects.ts';
import {
  EVENTS,
  EXPRESSIONS,
  SCHEDULES,
  SECRETS,
  SIGNALS_INTRODUCTION,
  STARTS,
  WALKING,
  WEBHOOKS,
} from './docs-prose.ts';
import { jsonSchemaOf } from './schema-json.ts';
import { code, fieldsOf, fieldTable, objectOf, type Page, table } from './schema-words.ts';

export function topics(actions: HostActions): Page[] {
  return [
    definitionPage(),
    dialectsPage(),
    triggersPage(),
    expressionsPage(),
    { name: 'secrets', title: 'Secrets', summary: 'Where they may stand, and where they never do.', markdown: SECRETS },
    actionsPage(actions),
    apiPage(),
    accessPage(),
    signalsPage(),
    problemsPage(),
    settingsPage(),
    limitsPage(),
  ];
}

function definitionPage(): Page {
  const members = objectOf(jsonSchemaOf(definitionSchema())['properties']);
  const step = objectOf(objectOf(members['steps'])['additionalProperties']);
  const field = objectOf(objectOf(members['state'])['additionalProperties']);
  const fields = fieldsOf({ properties: members, required: ['steps'] });
  const markdown = `${WALKING}

## Definition

${fieldTable(fields)}

A field of \`state\`:

${fieldTable(fieldsOf(field))}

## Step

${fieldTable(fieldsOf(step))}

## Durations

A duration is a number of milliseconds (\`1500\`), a text with a unit (\`300ms\`, \`45s\`, \`10m\`, \`2h\`, \`1d\`, \`2w\`, \`1y\`), or ISO 8601
(\`PT5M\`, \`P2DT12H\`). A month counts as 30 days and a year of ISO 8601 as 365. It is at most 100 years. In the config of a step it may be a template.

A point in time is ISO 8601 (\`2026-01-31T09:00:00Z\`; without a zone it is UTC), or a number of milliseconds since 1970 (one below
10,000,000,000 is taken for seconds).
`;
  return {
    name: 'definition',
    title: 'Definitions',
    summary: 'Their members, those of a step, and how a run walks.',
    markdown,
  };
}

const TRIGGER_WORDS = { webhook: WEBHOOKS, schedule: SCHEDULES, event: EVENTS };

function triggersPage(): Page {
  const members = objectOf(jsonSchemaOf(definitionSchema())['properties']);
  const trigger = objectOf(objectOf(members['triggers'])['items']);
  const types = Object.entries(triggerSchemas()).map(
    ([type, schema]) =>
      `## ${type}\n\n${fieldTable(fieldsOf(jsonSchemaOf(schema)))}\n\n${TRIGGER_WORDS[type as keyof typeof TRIGGER_WORDS] ?? ''}`,
  );
  const markdown = `\`triggers\` of a definition is a list of these:\n\n${fieldTable(fieldsOf(trigger))}\n\n${STARTS}\n\nTheir \`config\`, by type:\n\n${types.join('\n\n')}\n`;
  return { name: 'triggers', title: 'Triggers', summary: 'What starts runs.', markdown };
}

function expressionsPage(): Page {
  const transforms = [...TRANSFORMS].map(([name, { takes, gives }]) => [code(`${name}${takes}`), gives]);
  const roots = Object.entries(ROOT_MEANINGS).map(([name, meaning]) => [code(name), meaning]);
  const markdown = `${EXPRESSIONS}\n\n## Roots\n\n${table(['Root', ''], roots)}\n\n## Transforms\n\n${table(['Transform', ''], transforms)}\n`;
  return {
    name: 'expressions',
    title: 'Expressions and templates',
    summary: 'Operators, roots, transforms.',
    markdown,
  };
}

function signalsPage(): Page {
  const updates: ReadonlySet<string> = new Set(UPDATES);
  const signals = Object.entries(SIGNAL_TEXTS).map(([name, meaning]) => [
    code(name),
    updates.has(name) ? 'signal, update' : 'signal',
    shapeAsCode(meaning),
  ]);
  const queries = Object.entries(QUERY_TEXTS).map(([name, meaning]) => [code(name), `${meaning}.`]);
  const markdown = `${SIGNALS_INTRODUCTION}\n\n${table(['Name', 'As', 'Takes'], signals)}\n\n## Queries\n\n${table(['Name', 'Answers'], queries)}\n`;
  return {
    name: 'signals',
    title: 'Signals, updates and queries',
    summary: 'How a run is spoken to through Temporal.',
    markdown,
  };
}

/** `Approves: {step?, …}` with its shape as code. */
function shapeAsCode(text: string): string {
  const at = text.indexOf('{');
  return at < 0 ? `${text}.` : `${text.slice(0, at)}${code(text.slice(at))}`;
}

function problemsPage(): Page {
  const definition = Object.entries(CODES).map(([name, meaning]) => [code(name), meaning]);
  const http = Object.entries(PROBLEM_CODES).map(([name, { status, title }]) => [code(name), String(status), title]);
  const markdown = `Every problem has a stable \`code\`, a \`message\` that says what was expected, often a \`hint\`, and a \`pointer\`: a JSON pointer
to the place in the document as it was written.

## Of a definition

${table(['Code', ''], definition)}

## Of a request

Errors of the API are \`application/problem+json\`: \`{type, title, status, detail, code, problems?}\`.

${table(['Code', 'Status', ''], http)}
`;
  return { name: 'problems', title: 'Problems', summary: 'Every code, and what it means.', markdown };
}

function settingsPage(): Page {
  const rows = Object.entries(SETTINGS.shape).map(([name, schema]) => {
    const preset = schema.safeParse(undefined);
    const shown = preset.success ? shownDefault(preset.data) : '';
    return [code(name), shown === '' ? '' : code(shown), schema.description ?? ''];
  });
  const markdown = `Settings are environment variables, read once at the start. One that is empty counts as one that is not set.

${table(['Variable', 'Default', ''], rows)}

How to reach Temporal is said as for the Temporal CLI: \`TEMPORAL_ADDRESS\`, \`TEMPORAL_NAMESPACE\` (here \`signalbox\` if not said), \`TEMPORAL_API_KEY\`, \`TEMPORAL_TLS\` and
what belongs to it, or \`TEMPORAL_CONFIG_FILE\` and \`TEMPORAL_PROFILE\`. Without an address, \`npm start\` runs a server of its own.
`;
  return { name: 'settings', title: 'Settings', summary: 'The environment variables.', markdown };
}

/** Lists are written with commas. */
function shownDefault(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : value === undefined ? '' : String(value);
}

function limitsPage(): Page {
  const bytes = (count: number): string => `${count.toLocaleString('en')} bytes`;
  const count = (number: number): string => number.toLocaleString('en');
  const larger = (without: number): string => `${bytes(MAX_BLOB_STATE_BYTES)}; without a blob store ${bytes(without)}`;
  const rows = [
    ['A definition', bytes(MAX_DEFINITION_BYTES), 'definition_too_large'],
    ['Its steps', count(MAX_STEPS), 'too_many_steps'],
    ['Nesting of JSON', count(MAX_NESTING), 'too_deep'],
    ['A body sent to the API, decompressed', bytes(LARGEST_BODY_BYTES), 'body_too_large'],
    ["A run's input, also a child's", bytes(MAX_PAYLOAD_BYTES), 'payload_too_large'],
    ["A child's output, and the answer of a query", bytes(MAX_PAYLOAD_BYTES), 'result_too_large'],
    ['What an effect is sent', larger(MAX_PAYLOAD_BYTES), 'payload_too_large'],
    [
      'Secrets of a step',
      `${count(MOST_SECRETS_PER_STEP)}, ${bytes(MOST_SECRET_BYTES_PER_STEP)} together`,
      'too_many_secrets',
    ],
    ['What a step or a run gives', larger(MAX_PAYLOAD_BYTES), 'result_too_large'],
    ['Definition and state together', larger(MAX_STATE_BYTES), 'state_too_large'],
    [
      'Messages that nobody has read yet',
      `${bytes(MAX_INBOX_BYTES)} and ${count(MAX_INBOX_MESSAGES)}; the API refuses from ${INBOX_OPEN_PART * 100}% on`,
      'inbox_overflow',
    ],
    ['A message to the inbox', bytes(INBOX_MESSAGE_BYTES), 'payload_too_large'],
    ['An expression', `${count(MAX_SOURCE_LENGTH)} characters`, 'expression_limit'],
    ['What one evaluation takes', `${count(MAX_WORK)} units of work`, 'expression_limit'],
  ].map(([what = '', limit = '', error = '']) => [what, limit, code(error)]);
  const markdown = `Whatever can grow has a limit, and reaching it is a typed error: never a run that is stuck.

${table(['What', 'Limit', 'Error'], rows)}

At most ${count(MAX_OPEN_COMMANDS)} activities, timers and children of a run are open at once; the rest wait their turn.

**Large data.** The folder \`SIGNALBOX_BLOBS\` is the blob store. With it, results of steps and the state that a run carries may take ${bytes(MAX_BLOB_STATE_BYTES)}, since Temporal holds references only.
Inputs, signals, updates, details of failures, answers of queries, and what a child gives back stay at ${bytes(MAX_PAYLOAD_BYTES)}. The limit is that of the worker that does the task.
A worker needs memory for runs of that size. Measured with 50 runs of 15 MB, started 4 at a time, one worker took
0.25 GB at its start, 2.0 GB while all 50 waited (35 MB a run), 2.1 GB at its peak, and 0.5 GB after all had ended.
Node's default heap was enough: 4.1 GB on a machine of 24 GB. It was also enough for 100 such runs, which took 3.5 GB
while they waited. Runs that continue as new take more: with 16 of them, 71 MB a run, and 87 MB at the peak. With 50 that
came to it at the same moment (2 busy cores, a client that asked for the state of each every 4 s), the worker took 3.4 GB,
workflow tasks ran into their limit of 10 s, and no run got through in over two minutes. Plan for at most 30 of those
at a time for a worker of 4 GB (\`NODE_OPTIONS=--max-old-space-size=4096\`). That number is derived from the 16, not tried.

**A step that does not fit** fails with \`state_too_large\` (a result too large by itself: \`result_too_large\`), with its size and the limit in the error's details. It changes nothing of the run, takes its wired \`error\` port, honours \`onError: continue\`,
and can be retried with \`POST /api/executions/:id/retry\`. It is refused before its effect is made where its config and a short answer do not fit. A value that several steps hold counts once; outputs that no later step can refer to do not count. Only what no step brings, such as events, fails the whole run.

**Light steps** run within a workflow task, whose results the server limits to 4 MB together: after 1 MB of them steps go as regular activities until the next task.

What is larger than ${bytes(BLOB_BYTES)} is kept beside Temporal, in a folder (\`SIGNALBOX_BLOBS\`), with a reference in history; steps, traces and answers have it whole. It goes when Temporal no longer keeps the run.
`;
  return { name: 'limits', title: 'Limits', summary: 'How large things may be.', markdown };
}
