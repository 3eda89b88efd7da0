/** Search attributes of actors, by which lists find them. */
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributeUpdatePair } from '@temporalio/common';
import type { DefinitionHead } from '../../src/contract/actors.ts';
import { ATTRIBUTES, attributeValue, attributeValues } from '../../src/contract/search-attributes.ts';
import { eventTag, type Trigger } from '../../src/contract/trigger.ts';

const ORG = defineSearchAttributeKey(ATTRIBUTES.org, SearchAttributeType.KEYWORD);
const WORKFLOW = defineSearchAttributeKey(ATTRIBUTES.workflow, SearchAttributeType.KEYWORD);
const TRIGGER = defineSearchAttributeKey(ATTRIBUTES.trigger, SearchAttributeType.KEYWORD);
const TRIGGER_TYPE = defineSearchAttributeKey(ATTRIBUTES.triggerType, SearchAttributeType.KEYWORD);
const STATUS = defineSearchAttributeKey(ATTRIBUTES.status, SearchAttributeType.KEYWORD);
const TAGS = defineSearchAttributeKey(ATTRIBUTES.tags, SearchAttributeType.KEYWORD_LIST);

/** `SignalboxStatus` of a definition: enabled, disabled or deleted. */
export function definitionAttributes(
  organizationId: string,
  slug: string,
  head: DefinitionHead | null,
): SearchAttributeUpdatePair[] {
  const status = head === null ? 'deleted' : head.enabled ? 'enabled' : 'disabled';
  const tags = attributeValues(head?.tags ?? []);
  return [
    { key: ORG, value: organizationId },
    { key: WORKFLOW, value: slug },
    { key: STATUS, value: status },
    { key: TAGS, value: tags.length === 0 ? null : tags },
  ];
}

/** `SignalboxStatus` of a trigger: enabled, disabled or deleted. One that takes events is tagged with the event's name. */
export function triggerAttributes(
  organizationId: string,
  workflow: string,
  id: string,
  trigger: Trigger | null,
): SearchAttributeUpdatePair[] {
  const status = trigger === null ? 'deleted' : trigger.enabled ? 'enabled' : 'disabled';
  const name = trigger?.type === 'event' ? trigger.config?.['name'] : undefined;
  return [
    { key: ORG, value: organizationId },
    { key: WORKFLOW, value: workflow },
    { key: TRIGGER, value: attributeValue(id) },
    { key: TRIGGER_TYPE, value: trigger?.type ?? null },
    { key: STATUS, value: status },
    { key: TAGS, value: typeof name === 'string' ? attributeValues([eventTag(name)]) : null },
  ];
}
