/** A run's current details: Markdown that Temporal's UI shows beside it. Which definition, what it waits for, what to do. */
import type { RunStatus, WaitingFor } from '../src/definition/run.ts';
import type { Definition } from '../src/definition/types.ts';

/** The server takes 20 KB. */
const MAX_WAITS = 20;
const MAX_TEXT = 300;

/** `id`: the workflow id. The commands at the end can be copied as they stand. */
export function describeRun(
  definition: Definition,
  id: string,
  shown: { readonly status: RunStatus; readonly waitingFor: readonly WaitingFor[] },
): string {
  const version = definition.version === undefined ? '' : ` ${definition.version}`;
  const lines = [`**${plain(definition.name)}** (\`${code(definition.slug)}\`${version}): ${shown.status}`];
  for (const wait of shown.waitingFor.slice(0, MAX_WAITS)) lines.push('', ...describeWait(wait, id));
  const more = shown.waitingFor.length - MAX_WAITS;
  if (more > 0) lines.push('', `… and ${more} more.`);
  return lines.join('\n');
}

function describeWait(wait: WaitingFor, id: string): string[] {
  const until = wait.until === undefined ? '' : ` until ${wait.until}`;
  const who = wait.path === '' ? 'The run' : `\`${code(wait.path)}\``;
  const lines = [`- ${who} waits for ${WAITS[wait.kind]}${until} (since ${wait.since})`];
  if (wait.message !== undefined) lines.push(`  > ${plain(wait.message)}`);
  const command = answerTo(wait, id);
  if (command !== undefined) lines.push('', '  ```', `  ${command}`, '  ```');
  return lines;
}

const WAITS: { readonly [kind in WaitingFor['kind']]: string } = {
  approval: 'an approval',
  input: 'an answer',
  message: 'a message',
  callback: 'a callback',
  timer: 'the clock',
  child: 'another run',
  slot: 'a free slot',
};

function answerTo(wait: WaitingFor, id: string): string | undefined {
  const signal = (name: string, input: object): string =>
    `temporal workflow signal --workflow-id ${shell(id)} --name ${name} --input ${shell(JSON.stringify(input))}`;
  switch (wait.kind) {
    case 'approval':
      return signal('approve', { step: wait.path });
    case 'input':
      return signal('submit', { step: wait.path, data: {} });
    case 'message':
      return signal('message', { name: wait.name ?? '', payload: {} });
    case 'timer':
      return signal('skipTimer', { step: wait.path });
    default:
      return undefined;
  }
}

function shell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Text of others, in Markdown: one line, nothing of it markup. */
function plain(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>#|]/g, '\\$&');
  return line.length <= MAX_TEXT ? line : `${line.slice(0, MAX_TEXT)}…`;
}

function code(text: string): string {
  return text.replaceAll('`', "'");
}
