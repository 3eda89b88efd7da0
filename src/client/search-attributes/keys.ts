import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { NAMESPACE_DIVISION_ATTRIBUTE } from '../../contract/namespace-division.ts';
import { ATTRIBUTES } from '../../contract/search-attributes.ts';

const { KEYWORD, KEYWORD_LIST, DATETIME, INT } = SearchAttributeType;

/**
 * The search attributes of runs (ARCHITECTURE.md §4), typed for starts and upserts. The bootstrap registers all of
 * them.
 */
export const searchAttributes = {
  org: defineSearchAttributeKey(ATTRIBUTES.org, KEYWORD),
  workflow: defineSearchAttributeKey(ATTRIBUTES.workflow, KEYWORD),
  status: defineSearchAttributeKey(ATTRIBUTES.status, KEYWORD),
  trigger: defineSearchAttributeKey(ATTRIBUTES.trigger, KEYWORD),
  triggerType: defineSearchAttributeKey(ATTRIBUTES.triggerType, KEYWORD),
  model: defineSearchAttributeKey(ATTRIBUTES.model, KEYWORD),
  channel: defineSearchAttributeKey(ATTRIBUTES.channel, KEYWORD),
  employee: defineSearchAttributeKey(ATTRIBUTES.employee, KEYWORD),
  conversation: defineSearchAttributeKey(ATTRIBUTES.conversation, KEYWORD),
  tags: defineSearchAttributeKey(ATTRIBUTES.tags, KEYWORD_LIST),
  state: defineSearchAttributeKey(ATTRIBUTES.state, KEYWORD_LIST),
  waiting: defineSearchAttributeKey(ATTRIBUTES.waiting, KEYWORD_LIST),
  started: defineSearchAttributeKey(ATTRIBUTES.started, DATETIME),
  durationMs: defineSearchAttributeKey(ATTRIBUTES.durationMs, INT),
  tokens: defineSearchAttributeKey(ATTRIBUTES.tokens, INT),
} as const;

/** Temporal predefines it, so the bootstrap does not register it. */
export const divisionKey = defineSearchAttributeKey(NAMESPACE_DIVISION_ATTRIBUTE, KEYWORD);

/** One of the keys: its name at the server and its type. */
export type SignalboxKey = (typeof searchAttributes)[keyof typeof searchAttributes];

/** All keys, in the order in which they are registered. */
export const searchAttributeKeys: readonly SignalboxKey[] = Object.values(searchAttributes);

const CLI_TYPES: Record<SearchAttributeType, string> = {
  [SearchAttributeType.TEXT]: 'Text',
  [SearchAttributeType.KEYWORD]: 'Keyword',
  [SearchAttributeType.INT]: 'Int',
  [SearchAttributeType.DOUBLE]: 'Double',
  [SearchAttributeType.BOOL]: 'Bool',
  [SearchAttributeType.DATETIME]: 'Datetime',
  [SearchAttributeType.KEYWORD_LIST]: 'KeywordList',
};

/** The name of a type in commands of the `temporal` CLI. */
export const cliTypeOf = (type: SearchAttributeType): string => CLI_TYPES[type];
