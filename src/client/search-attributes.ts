import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

const { KEYWORD, KEYWORD_LIST, DATETIME, INT } = SearchAttributeType;

/** The search attributes of runs (design.md §4), typed for starting and upserting; bootstrap registers all of them. */
export const searchAttributes = {
  org: defineSearchAttributeKey('SignalboxOrg', KEYWORD),
  workflow: defineSearchAttributeKey('SignalboxWorkflow', KEYWORD),
  status: defineSearchAttributeKey('SignalboxStatus', KEYWORD),
  trigger: defineSearchAttributeKey('SignalboxTrigger', KEYWORD),
  triggerType: defineSearchAttributeKey('SignalboxTriggerType', KEYWORD),
  model: defineSearchAttributeKey('SignalboxModel', KEYWORD),
  channel: defineSearchAttributeKey('SignalboxChannel', KEYWORD),
  employee: defineSearchAttributeKey('SignalboxEmployee', KEYWORD),
  conversation: defineSearchAttributeKey('SignalboxConversation', KEYWORD),
  tags: defineSearchAttributeKey('SignalboxTags', KEYWORD_LIST),
  state: defineSearchAttributeKey('SignalboxState', KEYWORD_LIST),
  waiting: defineSearchAttributeKey('SignalboxWaiting', KEYWORD_LIST),
  started: defineSearchAttributeKey('SignalboxStarted', DATETIME),
  durationMs: defineSearchAttributeKey('SignalboxDurationMs', INT),
  tokens: defineSearchAttributeKey('SignalboxTokens', INT),
} as const;

/** One of the keys: its name at the server and its type. */
export type SignalboxKey = (typeof searchAttributes)[keyof typeof searchAttributes];

/** All keys, in the order in which they are registered. */
export const searchAttributeKeys: readonly SignalboxKey[] = Object.values(searchAttributes);
