/**
 * A run's current details: Markdown in Temporal's Web UI with its definition, its waits, and commands that answer them.
 */

import type { RunStatus, WaitingFor } from '../../src/contract/run/run.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { sampleOf } from '../../src/definition/payload/format-sample.ts';
import { shellQuoted } from '../../src/json/shell.ts';

const MAX_TEXT_CHARACTERS = 300;
/** The CLI's default. */
const DEFAULT_NAMESPACE = 'default';

/** A signal that was ignored. */
export interface RefusedRequest {
  readonly signal: string;
  /** ISO 8601. */
  readonly at: string;
  readonly message: string;
}

export interface RunDetails {
  readonly status: RunStatus;
  readonly waitingFor: readonly WaitingFor[];
  /** The number of waits; `waitingFor` has the first of them. */
  readonly waits: number;
  readonly pausedSince?: string;
  /** Messages that the full inbox has dropped. */
  readonly dropped?: number;
  /** The last signal that was ignored. */
  readonly refused?: RefusedRequest;
  /** Members of a signal `approve` that the approval at that path accepts. */
  toApprove(path: string): object;
}

/** The workflow that the commands name. */
interface DetailsContext {
  readonly id: string;
  readonly namespace: string;
}

/** The commands can be copied as they are; text in angle brackets has to be replaced. */
export function describeRun(definition: Definition, context: DetailsContext, shown: RunDetails): string {
  const version = definition.version === undefined ? '' : ` ${definition.version}`;
  const lines = [
    `**${escapeMarkdown(definition.name)}** (\`${escapeCode(definition.slug)}\`${version}): ${shown.status}`,
  ];
  if (shown.pausedSince !== undefined)
    lines.push(
      '',
      `**Paused** since ${shown.pausedSince}: nothing new begins. To go on:`,
      ...codeBlock(signalCommand(context, 'resume')),
    );
  if (shown.dropped !== undefined)
    lines.push(
      '',
      `**The inbox is or was full.** ${shown.dropped === 1 ? 'One message was' : `${shown.dropped} messages were`} ` +
        'dropped: no step had read those that came before.',
    );
  if (shown.refused !== undefined) {
    const { signal: name, at, message } = shown.refused;
    lines.push('', `The signal \`${escapeCode(name)}\` of ${at} was ignored: ${escapeMarkdown(message)}`);
  }
  if (shown.status === 'running' && shown.waits === 0)
    lines.push('', 'Steps that run are under Pending Activities, with their attempts and what failed last.');
  for (const wait of shown.waitingFor) lines.push('', ...describeWait(wait, context, shown));
  const more = shown.waits - shown.waitingFor.length;
  if (more > 0) lines.push('', `… and ${more} more.`);
  return lines.join('\n');
}

function describeWait(wait: WaitingFor, context: DetailsContext, shown: RunDetails): string[] {
  const until = wait.until === undefined ? '' : ` until ${wait.until}`;
  const who = wait.path === '' ? 'The run' : `\`${escapeCode(wait.path)}\``;
  const lines = [`${who} waits for ${WAIT_LABELS[wait.kind]}${messageNames(wait)}${until} (since ${wait.since})`];
  if (wait.message !== undefined) lines.push('', `> ${escapeMarkdown(wait.message)}`);
  if (wait.form !== undefined) lines.push('', `It asks for \`data\`: ${escapeMarkdown(JSON.stringify(wait.form))}`);
  const command = answerCommand(wait, context, shown);
  if (command !== undefined) lines.push(...codeBlock(command));
  return lines;
}

/** The names of the messages, and the key that events need. */
function messageNames({ kind, name, names, key }: WaitingFor): string {
  if (kind !== 'message' || name === undefined) return '';
  const called = (names ?? [name]).map((one) => `\`${escapeCode(one)}\``).join(' or ');
  return ` called ${called}${key === undefined ? '' : ` (events: of the key \`${escapeCode(key)}\`)`}`;
}

const WAIT_LABELS: { readonly [kind in WaitingFor['kind']]: string } = {
  approval: 'an approval',
  input: 'an answer',
  message: 'a message',
  callback: 'a callback',
  timer: 'the clock',
  child: 'another run',
  slot: 'a free slot',
};

/** Neither in a list nor indented, since the Web UI garbles those. One line, so that it is copied whole. */
const codeBlock = (command: string): string[] => ['', '```', command, '```'];

function signalCommand({ id, namespace }: DetailsContext, name: string, input?: object): string {
  const within = namespace === DEFAULT_NAMESPACE ? '' : ` --namespace ${shellQuoted(namespace)}`;
  const payload = input === undefined ? '' : ` --input ${shellQuoted(JSON.stringify(input))}`;
  return `temporal workflow signal --workflow-id ${shellQuoted(id)} --name ${name}${within}${payload}`;
}

function answerCommand(wait: WaitingFor, context: DetailsContext, shown: RunDetails): string | undefined {
  switch (wait.kind) {
    case 'approval':
      return signalCommand(context, 'approve', { step: wait.path, ...shown.toApprove(wait.path) });
    case 'input':
      return signalCommand(context, 'submit', {
        step: wait.path,
        data: wait.form === undefined ? {} : sampleOf(wait.form),
      });
    case 'message':
      return signalCommand(context, 'message', { name: wait.name ?? '', payload: {} });
    case 'timer':
      return signalCommand(context, 'skipTimer', { step: wait.path });
    default:
      return undefined;
  }
}

/** Text that people wrote, in Markdown: one line without markup. */
function escapeMarkdown(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>#|]/g, '\\$&');
  return line.length <= MAX_TEXT_CHARACTERS ? line : `${line.slice(0, MAX_TEXT_CHARACTERS)}…`;
}

function escapeCode(text: string): string {
  return text.replaceAll('`', "'");
}
