/** What a run is given of what fired its trigger: the payload, or what the trigger's mapping makes of it (LANGUAGE.md §10). */
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { readAlong } from '../../template/read.ts';
import { parseTemplate, render } from '../../template/template.ts';
import { TemplateError } from '../../template/types.ts';

export interface TriggerParts {
  readonly body: Json;
  readonly query: JsonObject;
  /** Lower case; without those that prove something. */
  readonly headers: JsonObject;
  readonly params: JsonObject;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Units of work of a whole mapping (template/limits.ts): the gateway makes it of every delivery while others wait, so it is
 * some tens of milliseconds at most.
 */
const MOST_WORK = 500_000;

export type Mapping = { readonly [key: string]: string };

/** The body with the query as `query`; a body that is no object stands under `body` where there is a query. */
export function payloadOf(body: Json, query: JsonObject): Json {
  if (Object.keys(query).length === 0) return body;
  return isObject(body) ? { ...body, query } : { body, query };
}

/** The input of the run. `problem` is a sentence where a template of the mapping cannot be evaluated. */
export function inputOf(
  mapping: Mapping | undefined,
  parts: TriggerParts,
): { readonly input: Json } | { readonly problem: string } {
  return mapping === undefined ? { input: payloadOf(parts.body, parts.query) } : mapped(mapping, parts);
}

/**
 * Key by key: `$.a.b[0]` is a path into the payload (document 002), anything else a template over body, query, headers
 * and params.
 */
function mapped(mapping: Mapping, parts: TriggerParts): { readonly input: JsonObject } | { readonly problem: string } {
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
          ? atPath(payload, written)
          : render(parseTemplate(written), scope, { now: parts.now, meter, work: MOST_WORK - meter.units }).value,
      );
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return { problem: `The trigger's mapping of ${key} cannot be made from what came: ${error.message}` };
    }
  }
  return { input };
}

/** The value at `$.a['b c'][0]`, a member's name with dots included; of a list `.0` is `[0]`. Null where the path leads nowhere. */
function atPath(value: Json, path: string): Json {
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
  return (readAlong(value, keys, readKey) as Json | undefined) ?? null;
}

function readKey(value: unknown, key: string | number): Json | undefined {
  const here = value as Json | undefined;
  if (!Array.isArray(here)) return typeof key === 'number' ? undefined : getOwn(here, key);
  return /^\d+$/.test(String(key)) ? here[Number(key)] : undefined;
}
