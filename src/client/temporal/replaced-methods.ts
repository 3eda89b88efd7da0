import type { ConnectionLike } from '@temporalio/client';

/** The connection, with some methods of Temporal's service replaced. The others keep what they inherit. */
export const withMethods = <Connection extends ConnectionLike>(
  connection: Connection,
  methods: { readonly [name in keyof Connection['workflowService']]?: (request: never) => Promise<unknown> },
): Connection =>
  Object.create(connection, {
    workflowService: { value: Object.assign(Object.create(connection.workflowService), methods) },
  });
