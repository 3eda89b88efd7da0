/**
 * Document 001: `{steps: [{name, action: {toolName | code | return}, input, when, forEach, bail, config}]}` with `@refs`, a graph whose
 * edges are what the steps refer to (`flow: dag`). A whole text that is a reference keeps its type; one within a text is put in.
 */
import type { Json } from '../template/types.ts';
import { Import, type Imported, mapTexts } from './imported.ts';
import { isObject, typeName } from './json.ts';
import { STEP_SLUG, stepSlug } from './names.ts';
import { below } from './pointer.ts';
import { retryFrom } from './retry-from.ts';
import type { JsonObject } from './types.ts';

const OUTER: ReadonlySet<string> = new Set([
  'id',
  'name',
  'title',
  'slug',
  'description',
  'version',
  'tags',
  'enabled',
  'steps',
  'triggers',
  'timeoutMs',
]);
const STEP: ReadonlySet<string> = new Set([
  'name',
  'description',
  'action',
  'input',
  'when',
  'forEach',
  'bail',
  'config',
  'dependsOn',
  'outputSchema',
  'preset',
]);
const ACTION: ReadonlySet<string> = new Set([
  'toolName',
  'transformCode',
  'code',
  'return',
  'connectionId',
  'server',
  'language',
]);
const WHEN: ReadonlySet<string> = new Set(['ref', 'eq', 'neq', 'gt', 'lt']);
/** `@name.path[0]`: at the start of a text or after what is no letter, digit or sign of an address. */
const REFERENCE = /(^|[^\w@.])@([A-Za-z_][\w-]*)((?:\.[A-Za-z_$][\w$-]*|\.\d+|\[\d+\])*)/g;
const WHOLE = /^@([A-Za-z_][\w-]*)((?:\.[A-Za-z_$][\w$-]*|\.\d+|\[\d+\])*)$/;

export function from001(document: JsonObject): Imported {
  const into = new Import();
  into.lostMembers(document, '', OUTER);
  const steps = document['steps'];
  if (!Array.isArray(steps) || steps.length === 0) {
    into.problem('/steps', 'no_steps', `Expected a list of at least one step, got ${typeName(steps)}.`);
    return into.refused();
  }
  const slugs = slugsOf(steps, into);
  for (const [index, step] of steps.entries()) {
    const at = below('/steps', index);
    const slug = isObject(step) && typeof step['name'] === 'string' ? slugs.get(step['name']) : undefined;
    if (isObject(step) && slug !== undefined && !Object.hasOwn(into.steps, slug))
      into.step(slug, step001(step, slug, at, slugs, into), at);
  }
  return into.done(outer(document));
}

function outer(document: JsonObject): JsonObject {
  const canonical: JsonObject = { dialect: '001', flow: 'dag' };
  for (const member of ['slug', 'description', 'version', 'tags', 'enabled', 'triggers']) {
    const value = document[member];
    if (value !== undefined && value !== null) canonical[member] = value;
  }
  const name = [document['name'], document['title'], document['slug'], document['id']].find(
    (one) => typeof one === 'string' && one !== '',
  );
  canonical['name'] = name ?? 'Workflow';
  if (document['timeoutMs'] !== undefined) canonical['config'] = { timeout: document['timeoutMs'] };
  return canonical;
}

function slugsOf(steps: readonly Json[], into: Import): Map<string, string> {
  const slugs = new Map<string, string>();
  for (const [index, step] of steps.entries()) {
    const at = below('/steps', index);
    if (!isObject(step)) into.problem(at, 'wrong_type', `Expected a step, got ${typeName(step)}.`);
    else if (typeof step['name'] !== 'string' || step['name'] === '')
      into.problem(below(at, 'name'), 'missing_member', 'A step needs a name: others refer to it by that.');
    else if (slugs.has(step['name']))
      into.problem(
        below(at, 'name'),
        'duplicate_step',
        `There are two steps "${step['name'].slice(0, 80)}".`,
        'Give each step a name of its own.',
      );
    else slugs.set(step['name'], STEP_SLUG.test(step['name']) ? step['name'] : stepSlug(step['name']));
  }
  return slugs;
}

function step001(
  written: JsonObject,
  slug: string,
  at: string,
  slugs: ReadonlyMap<string, string>,
  into: Import,
): JsonObject {
  into.lostMembers(written, at, STEP);
  const refs = new References(slugs, into);
  const action = isObject(written['action']) ? written['action'] : {};
  const input = written['input'] === undefined ? undefined : refs.value(written['input'], below(at, 'input'));
  const step: JsonObject = {
    ...kindOf(action, input, below(at, 'action'), into),
    ...modifiers(written['config'], below(at, 'config'), into),
  };
  if (written['name'] !== slug) step['name'] = written['name'] ?? slug;
  for (const member of ['description', 'preset'] as const)
    if (written[member] !== undefined) step[member] = written[member];
  if (written['when'] !== undefined) step['when'] = refs.condition(written['when'], below(at, 'when'));
  if (written['bail'] !== undefined)
    step['bail'] = written['bail'] === true ? true : refs.condition(written['bail'], below(at, 'bail'));
  if (isObject(written['forEach'])) {
    const { ref, items, ...rest } = written['forEach'];
    step['forEach'] = {
      ...rest,
      ...(typeof ref === 'string' ? { ref: refs.path(ref, below(at, 'forEach/ref')) } : {}),
      ...(items === undefined ? {} : { items: refs.value(items, below(at, 'forEach/items')) }),
    };
  }
  if (Array.isArray(written['dependsOn']))
    step['dependsOn'] = written['dependsOn'].map((one) =>
      typeof one === 'string' ? (slugs.get(one.replace(/^@/, '')) ?? one) : one,
    );
  if (written['outputSchema'] !== undefined)
    into.lost(below(at, 'outputSchema'), 'The schema of the output is left out: what a step gave is not checked.');
  return step;
}

function kindOf(action: JsonObject, input: Json | undefined, at: string, into: Import): JsonObject {
  into.lostMembers(action, at, ACTION);
  const { toolName, transformCode, code, connectionId, server, language } = action;
  const given = input === undefined ? {} : { input };
  if (typeof toolName === 'string') {
    const where = server ?? connectionId;
    return {
      stepType: 'tool',
      config: {
        toolName,
        ...(where === undefined ? {} : { server: where }),
        ...given,
        ...(transformCode === undefined ? {} : { transformCode }),
      },
    };
  }
  if (typeof code === 'string')
    return { stepType: 'run_code', config: { language: language ?? 'typescript', code, ...given } };
  if (action['return'] === true) return { stepType: 'return', config: input === undefined ? {} : { output: input } };
  into.problem(at, 'invalid_config', 'Expected an action: {toolName}, {code} or {return: true}.');
  return { stepType: 'removed', config: { replaces: 'action' } };
}

function modifiers(config: Json | undefined, at: string, into: Import): JsonObject {
  if (!isObject(config)) return {};
  const { timeoutMs, onError, maxAttempts, backoffMs, maxRetries, ...rest } = config;
  into.lostMembers(rest, at, new Set());
  const result: JsonObject = {};
  const written = Object.fromEntries(
    Object.entries({ maxAttempts, backoffMs, maxRetries }).filter(
      (entry): entry is [string, Json] => entry[1] !== undefined,
    ),
  );
  const retry = retryFrom(written, at, into);
  if (Object.keys(retry).length > 0) result['retry'] = retry;
  if (timeoutMs !== undefined) result['timeout'] = timeoutMs;
  if (onError !== undefined) result['onError'] = onError;
  return result;
}

/** `@refs` as paths and templates. */
class References {
  private readonly slugs: ReadonlyMap<string, string>;
  private readonly into: Import;

  constructor(slugs: ReadonlyMap<string, string>, into: Import) {
    this.slugs = slugs;
    this.into = into;
  }

  /** A reference that stands alone, as in `when` and `forEach`. */
  path(reference: string, at: string): string {
    const match = WHOLE.exec(reference.trim());
    const path = match === null ? undefined : this.resolved(match[1] ?? '', match[2] ?? '');
    if (path !== undefined) return path;
    this.into.problem(
      at,
      'unknown_step',
      `"${reference.slice(0, 80)}" refers to nothing: expected @input, @item, @index or @ and the name of a step.`,
    );
    return 'null';
  }

  condition(written: Json, at: string): Json {
    if (typeof written === 'string') return this.path(written, at);
    if (!isObject(written) || typeof written['ref'] !== 'string') return written;
    this.into.lostMembers(written, at, WHEN);
    return { ...written, ref: this.path(written['ref'], below(at, 'ref')) };
  }

  value(value: Json, at: string): Json {
    return mapTexts(value, (text) => this.text(text, at));
  }

  private text(text: string, at: string): string {
    const whole = WHOLE.exec(text);
    if (whole !== null) {
      const path = this.resolved(whole[1] ?? '', whole[2] ?? '');
      if (path !== undefined) return `{{ ${path} }}`;
      this.into.warn(at, 'unknown_step', `"${text.slice(0, 80)}" refers to no step, and stays as it is.`);
      return text;
    }
    return text.replace(REFERENCE, (all: string, before: string, name: string, members: string) => {
      // A full stop that ends a sentence is no member.
      const path = this.resolved(name, members);
      return path === undefined ? all : `${before}{{ ${path} }}`;
    });
  }

  private resolved(name: string, members: string): string | undefined {
    const path = members.replaceAll(/\.(\d+)/g, '[$1]').replaceAll(/\.([A-Za-z_$][\w$]*-[\w$-]*)/g, "['$1']");
    if (name === 'input' || name === 'item' || name === 'index') return name + path;
    const slug = this.slugs.get(name);
    if (slug === undefined) return undefined;
    return `${slug.includes('-') ? `steps['${slug}']` : `steps.${slug}`}.output.data${path}`;
  }
}
