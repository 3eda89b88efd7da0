/** Search attributes of actors, by which lists find them. */
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributeUpdatePair } from '@temporalio/common';
import type { DefinitionHead } from '../src/definition/actors.ts';
import { ATTRIBUTES, attributeValues } from '../src/definition/attributes.ts';

const ORG = defineSearchAttributeKey(ATTRIBUTES.org, SearchAttributeType.KEYWORD);
const WORKFLOW = defineSearchAttributeKey(ATTRIBUTES.workflow, SearchAttributeType.KEYWORD);
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
