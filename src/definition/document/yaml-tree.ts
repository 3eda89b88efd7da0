/** What a YAML document stands for once its aliases and merge keys (`<<`) are resolved, and where its members stand. */

import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml';
import { isObject, type Json, type JsonObject, setOwn, typeName } from '../../json/json.ts';
import { pointer } from '../../json/pointer.ts';
import { MAX_ALIASED_VALUES } from './limits.ts';

/** A document that cannot be resolved. The node is where. */
export class UnresolvedYaml extends Error {
  readonly code: 'malformed' | 'too_deep' | 'too_many_aliases';
  readonly node: Node | undefined;
  readonly hint: string | undefined;

  constructor(code: UnresolvedYaml['code'], message: string, node?: Node, hint?: string) {
    super(message);
    this.code = code;
    this.node = node;
    this.hint = hint;
  }
}

/**
 * The value of a document. Its work grows with the text and MAX_ALIASED_VALUES: an alias is the same object each time,
 * and what aliases and merge keys stand for is counted.
 * @throws UnresolvedYaml, and RangeError where it is nested too deeply.
 */
export function yamlValue(document: Document): Json {
  return new AliasResolver().read(document.contents).value;
}

interface Resolved {
  readonly value: Json;
  /** The number of values in it. */
  readonly size: number;
}

class AliasResolver {
  /** Undefined while the value of the anchor is being read. */
  private readonly anchors = new Map<string, Resolved | undefined>();
  private valuesLeft = MAX_ALIASED_VALUES;

  read(node: unknown): Resolved {
    if (isAlias(node)) return this.target(node);
    const anchor = isNode(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.anchors.set(anchor, undefined);
    const read = isMap(node) ? this.object(node) : isSeq(node) ? this.list(node.items) : resolvedScalar(node);
    if (anchor !== undefined) this.anchors.set(anchor, read);
    return read;
  }

  private target(alias: Node & { readonly source: string }): Resolved {
    const name = alias.source.slice(0, 80);
    if (!this.anchors.has(alias.source))
      throw new UnresolvedYaml('malformed', `There is no anchor &${name} before its alias.`, alias);
    const target = this.anchors.get(alias.source);
    if (target === undefined) throw new UnresolvedYaml('too_deep', `The alias *${name} stands within itself.`, alias);
    this.spend(target.size, alias);
    return target;
  }

  private list(items: readonly unknown[]): Resolved {
    const read = items.map((item) => this.read(item));
    return { value: read.map(({ value }) => value), size: read.reduce((sum, { size }) => sum + size, 1) };
  }

  /** A member of the object itself wins over a merged one, and an earlier merged one over a later. */
  private object(map: YAMLMap): Resolved {
    const value: JsonObject = {};
    let size = 1;
    for (const pair of map.items) {
      const member = this.read(pair.value);
      size += member.size;
      if (isMergeKey(pair.key)) this.merge(value, member.value, pair);
      else setOwn(value, nameOf(pair.key), member.value);
    }
    return { value, size };
  }

  private merge(into: JsonObject, sources: Json, { key, value }: Pair): void {
    const node = isNode(value) ? value : (key as Node);
    for (const source of Array.isArray(sources) ? sources : [sources]) {
      if (!isObject(source)) {
        const message = `A merge key (<<) takes an object or a list of objects, got ${typeName(source)}.`;
        throw new UnresolvedYaml('malformed', message, node);
      }
      const members = Object.entries(source);
      this.spend(members.length, node);
      for (const [name, member] of members) if (!Object.hasOwn(into, name)) setOwn(into, name, member);
    }
  }

  private spend(values: number, node: Node): void {
    this.valuesLeft -= values;
    if (this.valuesLeft >= 0) return;
    const message = 'The aliases and merge keys of this YAML document expand to too many values.';
    throw new UnresolvedYaml('too_many_aliases', message, node, 'Write the values instead of aliases.');
  }
}

const resolvedScalar = (node: unknown): Resolved => ({ value: isScalar(node) ? (node.value as Json) : null, size: 1 });

const nameOf = (key: unknown): string => {
  const value = isScalar(key) ? key.value : key;
  return value === null || value === undefined ? '' : String(value);
};

/** `<<`, unless it is quoted. */
const isMergeKey = (key: unknown): boolean => isScalar(key) && key.value === '<<' && (key.type ?? 'PLAIN') === 'PLAIN';

/** A member where it is written: the name, which an element of a list does not have, and the value. */
interface WrittenMember {
  readonly key?: unknown;
  readonly node: unknown;
}

/** The member `part` of an object or a list, also where an alias or a merge key brings it in. */
export function memberOf(document: Document, given: unknown, part: string): WrittenMember | undefined {
  return memberWithin(document, given, part, new Set());
}

function memberWithin(document: Document, given: unknown, part: string, seen: Set<unknown>): WrittenMember | undefined {
  const node = isAlias(given) ? given.resolve(document) : given;
  // A text that is being written may merge an object into itself.
  if (seen.has(node)) return undefined;
  seen.add(node);
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => !isMergeKey(key) && textOf(key) === part);
    if (pair !== undefined) return { key: pair.key, node: pair.value };
    for (const { key, value } of node.items) {
      if (!isMergeKey(key)) continue;
      const source = isAlias(value) ? value.resolve(document) : value;
      for (const one of isSeq(source) ? source.items : [source]) {
        const merged = memberWithin(document, one, part, seen);
        if (merged !== undefined) return merged;
      }
    }
    return undefined;
  }
  if (!isSeq(node) || !/^\d+$/.test(part)) return undefined;
  const item = node.items[Number(part)];
  return item === undefined ? undefined : { node: item };
}

/** The pointer of a node, whose ancestors are these. */
export function pathOf(ancestors: readonly unknown[], node: unknown): string {
  const parts = [...ancestors, node].flatMap((one, index, all): (string | number)[] => {
    if (isPair(one)) return [nameOf(one.key)];
    return isSeq(one) && index + 1 < all.length ? [one.items.indexOf(all[index + 1])] : [];
  });
  return pointer(parts);
}

/** The name of a member, as a definition reads it. */
export const textOf = (key: unknown): string | undefined =>
  isScalar(key) ? (key.source ?? String(key.value)) : undefined;
