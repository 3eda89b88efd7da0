/** What this host offers: the actions that are registered, and whether bash may run. */
import type { z } from 'zod';
import { MAX_BLOB_STATE_BYTES } from '../definition/document/limits.ts';
import { didYouMean } from '../definition/document/names.ts';
import type { Problem } from '../definition/document/types.ts';
import { actionOf, actionTypes } from '../steps/kinds/actions.ts';
import { kindOf } from '../steps/kinds/table.ts';
import { type Findings, problem, type Subject } from './subject.ts';

export interface OfferedAction {
  /** What its parameters must be, once their templates are evaluated. */
  readonly input: z.ZodType;
}

export interface Host {
  /** Actions that the host defines beside this project's own, by type. */
  readonly actions?: ReadonlyMap<string, OfferedAction>;
  /** False: a step of kind bash is a problem. */
  readonly bash?: boolean;
  /** What a step may keep here, in bytes: a larger `maxBytes` is a problem. */
  readonly valueBytes?: number;
  /** False: the organization has no API keys, and so knows no persons. */
  readonly persons?: boolean;
}

export function checkHost({ steps }: Subject, host: Host, { problems }: Findings): void {
  for (const { at, kind, written } of steps.values()) {
    // A step whose output is set never runs.
    if (written.preset === undefined && kind?.type === 'action')
      action(written.config?.['type'], `${at}/config/type`, host, problems);
    if (written.preset === undefined && kind?.type === 'agent')
      for (const { type, place } of listed(written.config?.['actions']))
        action(type, `${at}/config/actions${place}`, host, problems);
    const { rollback } = written;
    if (rollback !== undefined && kindOf(rollback.stepType)?.type === 'action')
      action(rollback.config?.['type'], `${at}/rollback/config/type`, host, problems);
    checkMaxBytes(
      kind?.type === 'http' ? written.config : written.config?.['parameters'],
      at,
      kind?.type,
      host,
      problems,
    );
    if (host.bash === false) {
      if (kind?.type === 'bash' && written.preset === undefined) problems.push(bashDisabled(`${at}/stepType`));
      if (rollback?.stepType === 'bash') problems.push(bashDisabled(`${at}/rollback/stepType`));
    }
  }
}

/** Kind `http`, and the action that is the same. */
function checkMaxBytes(
  config: unknown,
  at: string,
  kind: string | undefined,
  { valueBytes }: Host,
  problems: Findings['problems'],
): void {
  if (valueBytes === undefined || (kind !== 'http' && kind !== 'action')) return;
  if (typeof config !== 'object' || config === null || !('maxBytes' in config)) return;
  const { maxBytes } = config;
  // What no host takes is the schema's to say.
  if (typeof maxBytes !== 'number' || maxBytes <= valueBytes || maxBytes > MAX_BLOB_STATE_BYTES) return;
  problems.push(
    problem(
      `${at}/config/${kind === 'http' ? '' : 'parameters/'}maxBytes`,
      'invalid_config',
      `A step of this host keeps at most ${valueBytes} bytes; maxBytes is ${maxBytes}.`,
      `Take at most ${valueBytes}, or set SIGNALBOX_BLOBS to a folder, which allows ${MAX_BLOB_STATE_BYTES}.`,
    ),
  );
}

/** One name or a list; what a template makes is known only then. */
function listed(names: unknown): { readonly type: unknown; readonly place: string }[] {
  const entries = Array.isArray(names)
    ? names.map((type, i) => ({ type, place: `/${i}` }))
    : [{ type: names, place: '' }];
  return entries.filter(({ type }) => !String(type).includes('{{'));
}

function bashDisabled(at: string): Problem {
  const hint = 'Set SIGNALBOX_BASH=1 where the worker and the gateway start.';
  return problem(at, 'bash_disabled', 'This host does not run bash.', hint);
}

function action(type: unknown, at: string, { actions }: Host, problems: Findings['problems']): void {
  if (typeof type !== 'string' || type === '' || actionOf(type) !== undefined || actions?.has(type) === true) return;
  const offered = [...actionTypes.map((one) => one.type), ...(actions?.keys() ?? [])];
  problems.push(
    problem(
      at,
      'unknown_action',
      `This host offers no action "${type.slice(0, 80)}".`,
      didYouMean(type, offered) ?? 'Put its file into the folder that SIGNALBOX_ACTIONS names.',
    ),
  );
}
