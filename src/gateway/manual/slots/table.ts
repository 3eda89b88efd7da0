/** The slots of the written pages: name → the text that the gateway puts there. */
import type { HostActions } from '../../../actions/load.ts';
import type { Route } from '../../http/route.ts';
import { openApiDocument } from '../openapi-document.ts';
import { hostActions } from './actions.ts';
import { operationReference, rolesTable } from './api.ts';
import {
  definitionFields,
  expressionRoots,
  kindList,
  stateFields,
  stepFields,
  transforms,
  triggerConfig,
  triggerFields,
} from './definition.ts';
import { NUMBERS, sizeLimits } from './limits.ts';
import { program } from './program.ts';
import { definitionProblems, queries, requestProblems, settings, signals } from './reference.ts';

export interface SlotContext {
  readonly actions: HostActions;
  readonly routes: readonly Route[];
  /** The path in the project that the slot's link leads to. */
  readonly file: string;
}

type Slot = (context: SlotContext) => string;

export const SLOTS: { readonly [name: string]: Slot } = {
  kinds: kindList,
  'definition fields': definitionFields,
  'step fields': stepFields,
  'state fields': stateFields,
  'trigger fields': triggerFields,
  'webhook config': () => triggerConfig('webhook'),
  'schedule config': () => triggerConfig('schedule'),
  'event config': () => triggerConfig('event'),
  roots: expressionRoots,
  transforms,
  'host actions': ({ actions }) => hostActions(actions),
  'api reference': ({ routes }) => operationReference(openApiDocument(routes)),
  roles: ({ routes }) => rolesTable(openApiDocument(routes)),
  signals,
  queries,
  'definition problems': definitionProblems,
  'request problems': requestProblems,
  settings,
  'size limits': sizeLimits,
  program: ({ file }) => program(file),
  ...Object.fromEntries(Object.entries(NUMBERS).map(([name, value]) => [name, () => value.toLocaleString('en')])),
};
