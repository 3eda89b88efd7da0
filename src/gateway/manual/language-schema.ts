/**
 * `/schema.json`: the definition language as a JSON Schema (draft 7, which editors know best), for completion, hovers
 * and squiggles: `$schema` in a JSON document, `# yaml-language-server: $schema=…` in YAML. It is made from the schemas
 * that the checker itself uses, of the document as an author may write it (LANGUAGE.md §1); other dialects have none.
 *
 * It accepts everything that the checker accepts. Only the checker reports problems that a schema cannot express, such
 * as a missing step or a wrong expression.
 */

import { z } from 'zod';
import { type HostActions, NO_ACTIONS } from '../../actions/load.ts';
import { triggerSchemas } from '../../check/triggers.ts';
import { definitionSchema } from '../../definition/document/schema.ts';
import { FIELD_TYPES } from '../../definition/payload/format.ts';
import { asJson, type Json, type JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { StepKind } from '../../steps/kind.ts';
import { actionTypes } from '../../steps/kinds/built-in-actions.ts';
import { kinds } from '../../steps/kinds/table.ts';
import { COMMON_PORTS, END_TARGET } from '../../steps/ports.ts';
import { embeddableSchema, templatedSchema } from './action-schema.ts';
import { objectOf } from './schema-tables.ts';

/** A JSON Schema, as JSON. */
type JsonSchema = JsonObject;

/** The schema of a written definition, with the actions of the host's own. */
export function languageSchema(actions: HostActions = NO_ACTIONS): JsonSchema {
  return makeSchema([
    ...actionTypes.map(({ type, aliases, schema }) => ({
      type,
      names: [type, ...(aliases ?? [])],
      parameters: jsonSchemaOf(schema()),
    })),
    ...[...actions.values()].map(({ type, input, summary }) => ({
      type,
      names: [type],
      parameters: { description: summary, ...templatedSchema(embeddableSchema(jsonSchemaOf(input))) },
    })),
  ]);
}

/** The values of `action.type`, and the parameters of each. */
interface NamedAction {
  readonly type: string;
  readonly names: readonly string[];
  readonly parameters: JsonSchema;
}

/** The JSON Schema of a zod schema's input, without `$schema`. */
export function jsonSchemaOf(schema: z.ZodType, target: 'draft-7' | 'draft-2020-12' = 'draft-7'): JsonSchema {
  const { $schema: _draft, ...plain } = z.toJSONSchema(schema, { target, io: 'input', unrepresentable: 'any' });
  return plain as JsonSchema;
}

/** Every value of `stepType`, with the kind that it means. */
function kindNames(): { readonly name: string; readonly kind: StepKind }[] {
  return kinds.flatMap((kind) => [kind.type, ...(kind.aliases ?? [])].map((name) => ({ name, kind })));
}

/** Whether the kind's ports do not depend on its config. The schema then lists the ports that can be wired. */
export function portsAreFixed(kind: StepKind): boolean {
  // A function without parameters cannot depend on the step.
  return kind.ports.length === 0 && kind.ports(kind.example).body !== 'any';
}

function makeSchema(actions: readonly NamedAction[]): JsonSchema {
  const document = jsonSchemaOf(definitionSchema());
  const members = membersOf(document);
  const { additionalProperties: step, ...steps } = objectOf(members['steps']);
  const { items: trigger, ...triggers } = objectOf(members['triggers']);
  const { additionalProperties: field, ...state } = objectOf(members['state']);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Signalbox definition',
    description: 'A workflow in the canonical form. The manual is at /docs of the gateway.',
    ...document,
    properties: {
      $schema: { type: 'string', description: 'Where this schema is, for editors.' },
      ...members,
      steps: { ...steps, minProperties: 1, additionalProperties: { $ref: '#/definitions/step' } },
      state: { ...state, additionalProperties: { anyOf: [shortField(objectOf(field)), field ?? {}] } },
      config: withTimeoutMs(objectOf(members['config'])),
      input: inputSchema(objectOf(members['input'])),
      triggers: { ...triggers, items: { $ref: '#/definitions/trigger' } },
      // The store's, in documents that were read from it.
      createdAt: {},
      updatedAt: {},
    },
    patternProperties: { '^x-': { description: 'A note, or a place for anchors of YAML. It is not read.' } },
    required: ['steps'],
    // A name makes the slug, and a slug stands in for the name.
    anyOf: [{ required: ['name'] }, { required: ['slug'] }],
    definitions: {
      step: stepSchema(objectOf(step), actions),
      trigger: triggerSchema(objectOf(trigger)),
      ...Object.fromEntries(kinds.map((kind) => [configName(kind), jsonSchemaOf(kind.schema())])),
      ...Object.fromEntries(actions.map(({ type, parameters }) => [parametersName(type), parameters])),
    },
  };
}

function stepSchema(step: JsonSchema, actions: readonly NamedAction[]): JsonSchema {
  const members = membersOf(step);
  const rollback = objectOf(members['rollback']);
  const rollbackMembers = membersOf(rollback);
  return {
    ...step,
    properties: {
      ...members,
      stepType: stepTypeOf(objectOf(members['stepType']), kindNames()),
      rollback: {
        ...rollback,
        properties: {
          ...rollbackMembers,
          stepType: stepTypeOf(
            objectOf(rollbackMembers['stepType']),
            kindNames().filter(({ kind }) => kind.class === 'effect'),
          ),
        },
        allOf: kinds
          .filter((kind) => kind.class === 'effect')
          .map((kind) => kindCondition(kind, configOf(kind, actions))),
      },
    },
    allOf: kinds.map((kind) => kindCondition(kind, { ...configOf(kind, actions), nextSteps: portsOf(kind) })),
    defaultSnippets: kinds.map((kind) => ({
      label: kind.type,
      description: kind.summary,
      body: escapedSnippet(asJson(kind.example)),
    })),
  };
}

/** `enumDescriptions` is not part of JSON Schema: editors show it, and validators ignore it. */
function stepTypeOf(written: JsonSchema, named: readonly { name: string; kind: StepKind }[]): JsonSchema {
  return {
    ...omitUndefined({ description: written['description'] }),
    type: 'string',
    enum: named.map(({ name }) => name),
    enumDescriptions: named.map(({ name, kind }) =>
      name === kind.type ? kind.summary : `Another name of ${kind.type}. ${kind.summary}`,
    ),
  };
}

function kindCondition(kind: StepKind, properties: JsonSchema): Json {
  const names = [kind.type, ...(kind.aliases ?? [])];
  const required: JsonSchema = needsConfig(kind) ? { required: ['config'] } : {};
  return conditional({ stepType: { enum: names } }, ['stepType'], { properties, ...required });
}

/** Whether a step of the kind needs a config. */
function needsConfig(kind: StepKind): boolean {
  const { anyOf, ...schema } = jsonSchemaOf(kind.schema());
  const forms = Array.isArray(anyOf) ? anyOf.map(objectOf) : [schema];
  return forms.every(({ required }) => Array.isArray(required) && required.length > 0);
}

function configOf(kind: StepKind, actions: readonly NamedAction[]): JsonSchema {
  const config: Json = { $ref: `#/definitions/${configName(kind)}` };
  if (kind.type !== 'action') return { config };
  return {
    config: {
      allOf: [
        config,
        ...actions.map(({ type, names }) =>
          conditional({ type: { enum: [...names] } }, ['type'], {
            properties: { parameters: { $ref: `#/definitions/${parametersName(type)}` } },
          }),
        ),
      ],
    },
  };
}

function portsOf(kind: StepKind): Json {
  const { names, normal } = kind.ports(kind.example);
  const known = [...new Set([...names, ...COMMON_PORTS])];
  const descriptions: { readonly [port: string]: string } = {
    error: 'Taken when the step fails.',
    skipped: 'Taken when the step is skipped.',
    ...(normal === null ? {} : { [normal]: `The normal port. A step, or ${END_TARGET}.` }),
  };
  return {
    properties: Object.fromEntries(
      known.map((port) => [port, { type: 'string', description: descriptions[port] ?? `A step, or ${END_TARGET}.` }]),
    ),
    ...(portsAreFixed(kind) ? { additionalProperties: false } : {}),
  };
}

function triggerSchema(trigger: JsonSchema): JsonSchema {
  return {
    ...trigger,
    allOf: Object.entries(triggerSchemas()).map(([type, schema]) =>
      conditional({ type: { const: type } }, ['type'], { properties: { config: jsonSchemaOf(schema) } }),
    ),
  };
}

/** In the short form every member is a field. Other JSON Schema keywords are not inspected. */
function inputSchema(input: JsonSchema): Json {
  const types = { enum: [...FIELD_TYPES] };
  const field: Json = { anyOf: [types, { type: 'object', properties: { type: types } }] };
  const keywords = ['$schema', '$ref', 'anyOf', 'oneOf', 'allOf'].map((keyword): Json => ({ required: [keyword] }));
  const isSchema: Json = [{ properties: { type: { const: 'object' } }, required: ['type'] }, ...keywords];
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema, and the object is never awaited.
  return { ...input, if: { not: { anyOf: isSchema } }, then: { additionalProperties: field } };
}

/** `attempts: number` is short for `attempts: {type: number}`. */
function shortField(field: JsonSchema): Json {
  return membersOf(field)['type'] ?? {};
}

function withTimeoutMs(config: JsonSchema): JsonSchema {
  const timeoutMs = { type: 'number', minimum: 0, description: 'Another name of timeout, in milliseconds.' };
  return { ...config, properties: { ...membersOf(config), timeoutMs } };
}

const configName = (kind: StepKind): string => `${kind.type}.config`;
const parametersName = (action: string): string => `${action}.parameters`;

function conditional(properties: JsonSchema, required: string[], consequence: JsonSchema): Json {
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema, and the object is never awaited.
  return { if: { properties, required }, then: consequence };
}

/** `$` begins a placeholder in a snippet. */
function escapedSnippet(body: Json): Json {
  if (typeof body === 'string') return body.replaceAll('$', '\\$');
  if (Array.isArray(body)) return body.map(escapedSnippet);
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, escapedSnippet(value)]));
}

function membersOf(schema: JsonSchema): JsonSchema {
  return objectOf(schema['properties']);
}
