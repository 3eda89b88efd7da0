/** Routes of a collection that an organization keeps by name, such as secrets: list, get, put and delete. */
import { z } from 'zod';
import type { Access, WriteAccess } from '../../../client/temporal/access.ts';
import type { Role } from '../../../contract/organization/organization.ts';
import { pageOf } from '../../answers/named.ts';
import type { Gateway } from '../../http/context.ts';
import { namedPage } from '../../http/pagination.ts';
import { createdOrOk, type DeepReadonly, ok, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { LIST_PROBLEMS, type ProblemCode, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { pageQuery } from '../../validation/validation.ts';

interface NamedCollection<Name extends string, Item extends { name: string }, Settings> {
  /** The name of the collection in paths, such as `models`. */
  readonly collection: Name;
  /** The end of operationIds: `get` + `Model`, `list` + `Models`. */
  readonly operation: { readonly one: string; readonly many: string };
  /** The noun in the texts of answers. */
  readonly noun: { readonly one: string; readonly many: string };
  readonly roles: { readonly read: Role; readonly write: Role };
  readonly name: z.ZodType<string>;
  readonly item: z.ZodType<Item>;
  /** Default: a page of items. */
  readonly page?: z.ZodType<PageOf<Item>>;
  readonly missing: ProblemCode;
  readonly list: {
    readonly summary: string;
    readonly description: string;
    all(access: Access, org: string): Promise<readonly DeepReadonly<Item>[]>;
  };
  /** Absent: single items cannot be read. */
  readonly get?: {
    readonly summary: string;
    readonly description: string;
    read(access: Access, org: string, name: string): Promise<DeepReadonly<Item>>;
  };
  readonly put: {
    readonly summary: string;
    readonly description: string;
    readonly body: z.ZodType<Settings>;
    readonly problems: readonly ProblemCode[];
    write(
      gateway: Gateway,
      access: WriteAccess,
      org: string,
      name: string,
      settings: Settings,
    ): Promise<{ readonly created: boolean; readonly item: DeepReadonly<Item> }>;
  };
  readonly remove: {
    readonly summary: string;
    readonly description: string;
    remove(access: WriteAccess, org: string, name: string): Promise<void>;
  };
}

type PageOf<Item> = z.output<ReturnType<typeof pageOf<z.ZodType<Item>>>>;

export function namedCollection<const Name extends string, Item extends { name: string }, Settings>(
  spec: NamedCollection<Name, Item, Settings>,
) {
  const { collection, operation, noun, roles, missing, list, get, put, remove } = spec;
  const { item } = spec;
  const page: z.ZodType<PageOf<Item>> = spec.page ?? pageOf(item);
  const params = { name: spec.name };
  const path = `/api/${collection}` as const;
  return [
    route({
      method: 'GET',
      path,
      role: roles.read,
      id: `list${operation.many}`,
      summary: list.summary,
      description: list.description,
      query: z.strictObject(pageQuery()),
      answers: { 200: { text: `A page of ${noun.many}.`, schema: page } },
      problems: LIST_PROBLEMS,
      handle: async ({ gateway, access, principal: { organizationId }, query }) => {
        const items = (await list.all(access, organizationId)) as readonly (DeepReadonly<Item> & {
          readonly name: string;
        })[];
        return ok(namedPage(gateway, collection, organizationId, items, query));
      },
    }),
    ...(get === undefined
      ? []
      : [
          route({
            method: 'GET',
            path: `${path}/:name` as const,
            role: roles.read,
            id: `get${operation.one}`,
            summary: get.summary,
            description: get.description,
            params,
            answers: { 200: { text: `The ${noun.one}.`, schema: item } },
            problems: [missing],
            handle: ({ access, principal: { organizationId }, params: { name } }) =>
              get.read(access, organizationId, name).then((body) => ({ status: 200, body })),
          }),
        ]),
    route({
      method: 'PUT',
      path: `${path}/:name` as const,
      role: roles.write,
      id: `put${operation.one}`,
      summary: put.summary,
      description: put.description,
      params,
      body: jsonOf(put.body),
      answers: { 201: { text: 'Stored; it is new.', schema: item }, 200: { text: 'Stored.', schema: item } },
      problems: [...WRITE_PROBLEMS, ...put.problems],
      handle: async ({ gateway, access, principal: { organizationId }, params: { name }, body }) => {
        const stored = await put.write(gateway, access, organizationId, name, body);
        return createdOrOk(stored.created, stored.item);
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}/:name` as const,
      role: roles.write,
      id: `delete${operation.one}`,
      summary: remove.summary,
      description: remove.description,
      params,
      answers: { 204: { text: 'Deleted.' } },
      problems: [...WRITE_PROBLEMS, missing],
      handle: async ({ access, principal: { organizationId }, params: { name } }) => {
        await remove.remove(access, organizationId, name);
        return { status: 204 };
      },
    }),
  ];
}
