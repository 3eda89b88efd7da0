/**
 * The actions that every host offers, by `action.type`. A new one is an entry here and a file in activities/.
 */

import type { z } from 'zod';
import type { JsonObject } from '../../json/json.ts';
import type { Parse, RunSpec, StepContext } from '../kind.ts';
import { httpSchema, planHttp } from './http.ts';

interface ActionType {
  readonly type: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** The activity's name in the activities' table. */
  readonly activity: string;
  /** Short enough for a local activity (ARCHITECTURE.md §3). */
  readonly light?: boolean;
  /** The written `parameters`. Lazy, as for kinds. */
  readonly schema: () => z.ZodType;
  /** Parses the parameters; `at` is their JSON pointer within the config. Throws as a kind's plan does. */
  plan(parameters: JsonObject, at: string, parse: Parse): (visit: StepContext) => RunSpec;
}

export const actionTypes: readonly ActionType[] = [
  {
    type: 'http.request',
    aliases: ['http.http_request'],
    summary: 'Makes an HTTP request, as the kind http does.',
    activity: 'http',
    schema: httpSchema,
    plan: planHttp,
  },
];

/** The action of that name or alias; undefined for actions of the host's own. */
export function actionOf(name: string): ActionType | undefined {
  return byName.get(name);
}

const byName: ReadonlyMap<string, ActionType> = new Map(
  actionTypes.flatMap((action) => [action.type, ...(action.aliases ?? [])].map((name) => [name, action] as const)),
);
