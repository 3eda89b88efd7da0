/** The input of a run from its trigger: the payload, or the result of the trigger's mapping (LANGUAGE.md §10). */
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { walkPath } from '../../template/member-access.ts';
import { parseTemplate, render } from '../../template/template.ts';
import { TemplateError } from '../../template/types.ts';

export interface TriggerRequest {
  readonly body: Json;
  readonly query: JsonObject;
  /** Names in lower case; without headers that authenticate the delivery. */
  readonly headers: JsonObject;
  readonly params: JsonObject;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Units of work of a whole mapping (template/limits.ts): some tens of milliseconds, since other requests wait while the
 * gateway maps a delivery.
 */
const MAX_WORK = 500_000;

export type Mapping = { readonly [key: string]: string };

/**
 * The body with the query as `query`, unless it has that member: a signature covers the body only. With a query, a body
 * that is not an object becomes `body`.
 */
export function payloadOf(body: Json, query: JsonObject): Json {
  if (Object.keys(query).length === 0) return body;
  return isObject(body) ? { query, ...body } : { body, query };
}

/** The input of the run, or a sentence if a template of the mapping cannot be evaluated. */
export function inputOf(
  mapping: Mapping | undefined,
  parts: TriggerRequest,
): { readonly input: Json } | { readonly problem: string } {
  return mapping === undefined ? { input: payloadOf(parts.body, parts.query) } : applyMapping(mapping, parts);
}

/**
 * Maps each key: `$.a.b[0]` is a path into the payload, any other text is a template over body, query,
 * headers and params.
 */
function applyMapping(
  mapping: Mapping,
  parts: TriggerRequest,
): { readonly input: JsonObject } | { readonly problem: string } {
  const payload = payloadOf(parts.body, parts.query);
  const roots: JsonObject = { body: parts.body, query: parts.query, headers: parts.headers, params: parts.params };
  const scope = { root: (name: string) => getOwn(roots, name) };
  const input: JsonObject = {};
  const meter = { units: 0 };
  for (const [key, written] of Object.entries(mapping)) {
    try {
      setOwn(
        input,
        key,
        written.startsWith('$')
          ? readJsonPath(payload, written)
          : render(parseTemplate(written), scope, { now: parts.now, meter, maxWork: MAX_WORK - meter.units }).value,
      );
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return { problem: `The trigger's mapping of ${key} cannot be evaluated for this payload: ${error.message}` };
    }
  }
  return { input };
}

/** The value at `$.a['b c'][0]`; null if there is none. Names can contain dots, and `.0` of a list is `[0]`. */
function readJsonPath(value: Json, path: string): Json {
  const pattern = /\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]/gy;
  const keys: (string | number)[] = [];
  let at = 1;
  while (at < path.length) {
    pattern.lastIndex = at;
    const found = pattern.exec(path);
    if (found === null) return null;
    at = pattern.lastIndex;
    const [, name, index, single, double] = found;
    keys.push(index === undefined ? (name ?? single ?? double ?? '') : Number(index));
  }
  return (walkPath(value, keys, readKey) as Json | undefined) ?? null;
}

function readKey(value: unknown, key: string | number): Json | undefined {
  const here = value as Json | undefined;
  if (!Array.isArray(here)) return typeof key === 'number' ? undefined : getOwn(here, key);
  return /^\d+$/.test(String(key)) ? here[Number(key)] : undefined;
}
