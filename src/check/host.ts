/** Checks steps against the host: its registered actions, whether bash is allowed, and its size limits. */
import type { z } from 'zod';
import type { Person } from '../contract/organization/people.ts';
import { MAX_BLOB_STATE_BYTES } from '../definition/document/limits.ts';
import { didYouMean } from '../definition/document/names.ts';
import type { Problem } from '../definition/document/types.ts';
import type { Needs } from '../steps/kind.ts';
import { actionOf, actionTypes } from '../steps/kinds/built-in-actions.ts';
import { kindOf } from '../steps/kinds/table.ts';
import { type Analysis, type Findings, problem } from './analysis.ts';

interface OfferedAction {
  /** The schema of its parameters after their templates are rendered. */
  readonly input: z.ZodType;
}

export interface Host {
  /** Actions that the host adds to those of this project, by type. */
  readonly actions?: ReadonlyMap<string, OfferedAction>;
  /** If false, a step of kind bash is a problem. */
  readonly bash?: boolean;
  /** The largest output of a step on this host, in bytes. A larger `maxBytes` is a problem. */
  readonly valueBytes?: number;
  /** False if the organization has no API keys, so that callers cannot be told apart. */
  readonly persons?: boolean;
  /** The persons of the organization's keys, where they are known. */
  readonly people?: readonly Person[];
}

export function checkHost({ steps }: Analysis, host: Host, { problems }: Findings): void {
  for (const { at, kind, written } of steps.values()) {
    const needs = kind?.needs?.(written.config ?? {});
    // A step with a preset never runs.
    if (needs !== undefined && written.preset === undefined) checkNeeds(needs, at, host, problems);
    if (needs?.maxBytes !== undefined) checkMaxBytes(needs.maxBytes, `${at}/config`, host, problems);
    const { rollback } = written;
    const rollbackNeeds =
      rollback === undefined ? undefined : kindOf(rollback.stepType)?.needs?.(rollback.config ?? {});
    if (rollbackNeeds !== undefined) checkNeeds(rollbackNeeds, `${at}/rollback`, host, problems);
  }
}

function checkNeeds({ actions = [], bash }: Needs, at: string, host: Host, problems: Findings['problems']): void {
  for (const one of actions) checkAction(one.type, `${at}/config${one.at}`, host, problems);
  if (bash === true && host.bash === false) problems.push(bashDisabled(`${at}/stepType`));
}

function checkMaxBytes(
  { value: maxBytes, at }: NonNullable<Needs['maxBytes']>,
  config: string,
  { valueBytes }: Host,
  problems: Findings['problems'],
): void {
  if (valueBytes === undefined) return;
  // The schema refuses what no host takes.
  if (typeof maxBytes !== 'number' || maxBytes <= valueBytes || maxBytes > MAX_BLOB_STATE_BYTES) return;
  problems.add(
    `${config}${at}`,
    'invalid_config',
    `On this host a step can keep at most ${valueBytes} bytes, got maxBytes ${maxBytes}.`,
    `Set maxBytes to ${valueBytes} or less, or SIGNALBOX_BLOBS to a folder, which allows ${MAX_BLOB_STATE_BYTES}.`,
  );
}

const CUSTOM_ACTIONS_HINT = 'Actions of your own come from the folder that SIGNALBOX_ACTIONS names.';

function bashDisabled(at: string): Problem {
  const hint = 'Set SIGNALBOX_BASH=1 for the worker and the gateway.';
  return problem(at, 'bash_disabled', 'This host does not run bash.', hint);
}

function checkAction(type: unknown, at: string, { actions }: Host, problems: Findings['problems']): void {
  if (typeof type !== 'string' || type === '' || actionOf(type) !== undefined || actions?.has(type) === true) return;
  const offered = [...actionTypes.map((one) => one.type), ...(actions?.keys() ?? [])];
  problems.add(
    at,
    'unknown_action',
    `This host offers no action "${type.slice(0, 80)}".`,
    [didYouMean(type, offered), CUSTOM_ACTIONS_HINT].join(' ').trim(),
  );
}
