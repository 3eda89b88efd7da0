/** The search attributes by which lists find definitions and triggers. */
import type { DefinitionHead } from '../../src/contract/actors.ts';
import { ATTRIBUTES, attributeValue, attributeValues } from '../../src/contract/search-attributes.ts';
import { eventTag, type Trigger } from '../../src/contract/triggers/trigger.ts';
import type { SearchAttributes } from './actor.ts';

/** `SignalboxStatus` of a definition: enabled, disabled or deleted. */
export function definitionAttributes(
  organizationId: string,
  slug: string,
  head: DefinitionHead | null,
): SearchAttributes {
  const tags = attributeValues(head?.tags ?? []);
  return {
    [ATTRIBUTES.org]: organizationId,
    [ATTRIBUTES.workflow]: slug,
    [ATTRIBUTES.status]: statusOf(head),
    [ATTRIBUTES.tags]: tags.length === 0 ? null : tags,
  };
}

/** `SignalboxStatus` of a trigger: enabled, disabled or deleted. The name of an event trigger's event is its tag. */
export function triggerAttributes(
  organizationId: string,
  workflow: string,
  id: string,
  trigger: Trigger | null,
): SearchAttributes {
  const event = trigger?.type === 'event' ? trigger.config?.['name'] : undefined;
  return {
    [ATTRIBUTES.org]: organizationId,
    [ATTRIBUTES.workflow]: workflow,
    [ATTRIBUTES.trigger]: attributeValue(id),
    [ATTRIBUTES.triggerType]: trigger?.type ?? null,
    [ATTRIBUTES.status]: statusOf(trigger),
    [ATTRIBUTES.tags]: typeof event === 'string' ? attributeValues([eventTag(event)]) : null,
  };
}

const statusOf = (one: { readonly enabled: boolean } | null): string =>
  one === null ? 'deleted' : one.enabled ? 'enabled' : 'disabled';
