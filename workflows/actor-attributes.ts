/** Search attributes of actors, by which lists find them. Values are cut: a keyword over 2,048 bytes ends a workflow. */
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributeUpdatePair } from '@temporalio/common';
import type { DefinitionHead } from '../src/definition/actors.ts';

const ORG = defineSearchAttributeKey('SignalboxOrg', SearchAttributeType.KEYWORD);
const WORKFLOW = defineSearchAttributeKey('SignalboxWorkflow', SearchAttributeType.KEYWORD);
const STATUS = defineSearchAttributeKey('SignalboxStatus', SearchAttributeType.KEYWORD);
const TAGS = defineSearchAttributeKey('SignalboxTags', SearchAttributeType.KEYWORD_LIST);

const LONGEST_VALUE = 200;
const MOST_TAGS = 50;

/** `SignalboxStatus` of a definition: enabled, disabled or deleted. */
export function definitionAttributes(
  organizationId: string,
  slug: string,
  head: DefinitionHead | null,
): SearchAttributeUpdatePair[] {
  const status = head === null ? 'deleted' : head.enabled ? 'enabled' : 'disabled';
  const tags = (head?.tags ?? []).slice(0, MOST_TAGS).map((tag) => tag.slice(0, LONGEST_VALUE));
  return [
    { key: ORG, value: organizationId },
    { key: WORKFLOW, value: slug },
    { key: STATUS, value: status },
    { key: TAGS, value: tags.length === 0 ? null : tags },
  ];
}
