/** A real HTTP server on loopback, and the activities under test that may reach it. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ActivityDependencies, ActivitySettings } from '../../activities/registry.ts';
import { createActivities } from '../../activities/registry.ts';
import type { ActivityInput, ActivityOutput } from '../../src/contract/run/activity.ts';
import type { JsonObject } from '../../src/json/json.ts';
import type { SecretString } from '../../src/template/types.ts';

const ATTEMPT = 2;

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body: string;
}

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly seen: Seen[];
  close(): Promise<void>;
}

/** Every request is read to its end and noted before `answer` is asked. */
export async function serve(answer: (seen: Seen, response: ServerResponse) => void): Promise<TestServer> {
  const seen: Seen[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const noted = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
    seen.push(noted);
    answer(noted, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** An activity's surroundings in its second attempt; failures are expected here, so the SDK need not log them. */
export function environment(): MockActivityEnvironment {
  return new MockActivityEnvironment({ attempt: ATTEMPT }, { logger: new DefaultLogger('ERROR') });
}

export const LOOPBACK: ActivitySettings = {
  bash: 'off',
  bashFolders: [],
  httpAllow: ['127.0.0.0/8', '::1/128'],
  mcpStdioAllowed: false,
  mcpCommands: [],
  ownPorts: [],
  port: 0,
  mail: {},
  temporal: { namespace: 'test' },
};

export interface Call {
  readonly config: JsonObject;
  readonly secrets?: readonly SecretString[];
  readonly settings?: ActivitySettings;
  readonly parts?: ActivityDependencies;
  readonly environment?: MockActivityEnvironment;
}

export function inputOf(config: JsonObject, secrets: readonly SecretString[] = []): ActivityInput {
  return {
    config,
    secrets,
    idempotencyKey: 'run.default.w.1/pay#2',
    path: 'pay#2',
    stepSlug: 'pay',
    execution: { id: 'run.default.w.1', workflow: 'w', organizationId: 'default' },
  };
}

/** Runs the activity `http` as a worker would. */
export function http({ config, secrets, settings, parts, environment: given }: Call): Promise<ActivityOutput> {
  const activity = createActivities(settings ?? LOOPBACK, parts)['http']!;
  return (given ?? environment()).run(activity, inputOf(config, secrets));
}

export interface Failed {
  readonly code: string | undefined | null;
  readonly message: string;
  readonly nonRetryable: boolean | undefined | null;
  readonly nextRetryDelay: unknown;
  readonly details: { readonly retryable: boolean; readonly attempts: number; readonly details?: unknown };
  readonly whole: string;
}

/** The failure as Temporal gets it. */
export async function failure(call: Call): Promise<Failed> {
  const error = await http(call).then(
    (result) => {
      throw new Error(`It did not fail: ${JSON.stringify(result)}`);
    },
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApplicationFailure)) throw error;
  return {
    code: error.type,
    message: error.message,
    nonRetryable: error.nonRetryable,
    nextRetryDelay: error.nextRetryDelay,
    details: error.details?.[0] as Failed['details'],
    whole: `${error.stack} ${JSON.stringify(error.details)} ${error.message}`,
  };
}
