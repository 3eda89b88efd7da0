/** Loads the folder of host actions, SIGNALBOX_ACTIONS. Worker, gateway and command line do this at their start. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HOST_ACTION, type HostAction } from './define.ts';

/** By type. */
export type HostActions = ReadonlyMap<string, HostAction>;

export const NO_ACTIONS: HostActions = new Map();

/** The folder or one of its files is unusable. The process ends with `exitCode`. */
export class ActionsError extends Error {
  readonly code = 'bad_action';
  readonly exitCode = 20;
  constructor(message: string, cause?: unknown) {
    super(`SIGNALBOX_ACTIONS: ${message}`, cause === undefined ? {} : { cause });
    this.name = 'ActionsError';
  }
}

/** The types of the actions that are light, as `RunInput.light` takes them. */
export const lightTypes = (actions: HostActions): readonly string[] =>
  [...actions.values()].filter(({ isLight }) => isLight).map(({ type }) => type);

const MODULE = /\.m?js$/;
const TYPED_MODULE = /(?<!\.d)\.m?ts$/;
/** Names that are reserved for built-in actions. */
const RESERVED_PREFIX = /^http\./;

/**
 * Loads every action that a module of the folder exports, by default or by name; other exports are ignored. Sub-folders
 * are not read, so that modules can share code.
 * @throws ActionsError
 */
export async function loadActions(folder: string | undefined): Promise<HostActions> {
  if (folder === undefined) return NO_ACTIONS;
  const actions = new Map<string, HostAction>();
  const fileByType = new Map<string, string>();
  for (const name of modulesIn(folder)) {
    const found = Object.values(await importModule(folder, name)).filter(isAction);
    if (found.length === 0)
      throw new ActionsError(
        `${name} exports no action. Write: export default defineAction({ type, summary, input, output, run })`,
      );
    for (const action of new Set(found)) {
      const other = fileByType.get(action.type);
      if (other !== undefined) throw new ActionsError(`${other} and ${name} both define ${action.type}. Rename one.`);
      if (RESERVED_PREFIX.test(action.type))
        throw new ActionsError(`${name} defines ${action.type}, and http.… is reserved for Signalbox. Rename it.`);
      fileByType.set(action.type, name);
      actions.set(action.type, action);
    }
  }
  return actions;
}

function modulesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => !entry.isDirectory());
    const names = new Set(entries.map(({ name }) => name));
    return [...names].filter((name) => MODULE.test(name) || isUncompiled(name, names)).sort();
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new ActionsError(`the folder ${folder} cannot be read (${reason}).`);
  }
}

/** Whether it is TypeScript without a compiled JavaScript file in the same folder. */
const isUncompiled = (name: string, siblings: ReadonlySet<string>): boolean =>
  TYPED_MODULE.test(name) && !siblings.has(name.replace(/ts$/, 'js'));

async function importModule(folder: string, name: string): Promise<{ [name: string]: unknown }> {
  if (TYPED_MODULE.test(name) && !canStripTypes())
    throw new ActionsError(
      `${name} is TypeScript, which Node runs from 22.18 on, and this is Node ${process.versions.node}. ` +
        'Use a newer Node, or put the compiled JavaScript there.',
    );
  try {
    return await import(pathToFileURL(join(folder, name)).href);
  } catch (error) {
    const message = error instanceof Error ? error.message.split('\n', 1)[0] : 'unknown';
    const isOurs = /'(signalbox|zod)'/.test(message ?? '');
    const hint = isOurs ? ' The folder must be in this project, or in one that has signalbox and zod installed.' : '';
    throw new ActionsError(`${name} cannot be imported: ${message}.${hint}`, error);
  }
}

/** Node says so from 22.18 on, where types are stripped without a flag. */
const canStripTypes = (): boolean => 'typescript' in process.features && process.features.typescript !== false;

function isAction(value: unknown): value is HostAction {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === HOST_ACTION;
}
