/** How many search attributes of each type a namespace with SQL visibility takes (TEMPORAL.md §7). */

import proto from '@temporalio/proto';
import { encodeSearchAttributeIndexedValueType } from '../../temporal-internals/sdk.ts';
import { cliTypeOf, type SignalboxKey, searchAttributeKeys } from './keys.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;

const COLUMNS = 3;
const KEYWORD_COLUMNS = 10;

/** The custom search attributes of a namespace, as Temporal lists them. */
export type RegisteredAttributes = {
  readonly [name: string]: proto.temporal.api.enums.v1.IndexedValueType | null | undefined;
};

/** A type of which a namespace has too few columns left. */
interface Shortage {
  readonly text: string;
  /** How many attributes of others would have to go. */
  readonly over: number;
  /** The attributes of others. */
  readonly foreign: readonly string[];
}

/** The types that have too few free columns for the `missing` attributes. */
export function findShortages(registered: RegisteredAttributes, missing: readonly SignalboxKey[]): Shortage[] {
  const types = [...new Set(missing.map(({ type }) => type))];
  const own = new Set<string>(searchAttributeKeys.map(({ name }) => name));
  return types.flatMap((type) => {
    const encoded = encodeSearchAttributeIndexedValueType(type);
    const used = Object.entries(registered).filter(([, has]) => has === encoded);
    const capacity = encoded === IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD ? KEYWORD_COLUMNS : COLUMNS;
    const needed = missing.filter((key) => key.type === type).length;
    const free = capacity - used.length;
    const over = needed - free;
    if (over <= 0) return [];
    const foreign = used.flatMap(([name]) => (own.has(name) ? [] : [name])).sort();
    const text = `${needed} of type ${cliTypeOf(type)} are needed, and ${free} of ${capacity} are free`;
    return [{ text, over, foreign }];
  });
}

/** What to do about shortages: commands, and a setting. */
export const shortageRemedies = (found: readonly Shortage[], namespace: string): string[] => [
  ...found.flatMap(({ foreign, over }) =>
    foreign
      .slice(0, over)
      .map((name) => `temporal operator search-attribute remove --namespace ${namespace} --name ${name}`),
  ),
  OWN_NAMESPACE_SETTING,
];

/** The remedy without commands: a namespace that nobody else uses has room. */
export const OWN_NAMESPACE_SETTING = 'TEMPORAL_NAMESPACE=signalbox   # or another namespace of its own';
