import type { Connection } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { searchAttributeKeys } from '../../src/client/search-attributes/keys.ts';
import { BootstrapError, bootstrap } from '../../src/client/temporal/bootstrap.ts';
import { retryOptions, type TemporalConnection } from '../../src/client/temporal/connect.ts';

/** What grpc-js throws. */
const grpcError = (code: number, details: string): Error =>
  Object.assign(new Error(`${code} ${details}`), { code, details, metadata: {} });

const refuse = (code: number) => async (): Promise<never> => {
  throw grpcError(code, 'refused');
};

type Calls = {
  describeNamespace?: () => Promise<unknown>;
  registerNamespace?: () => Promise<unknown>;
  listSearchAttributes?: () => Promise<unknown>;
  addSearchAttributes?: () => Promise<unknown>;
  count?: () => Promise<unknown>;
};

/** A server that grants everything but what is given. */
function serverThat(calls: Calls): TemporalConnection {
  const granted = async () => ({});
  const connection = {
    workflowService: { describeNamespace: granted, registerNamespace: granted, updateNamespace: granted, ...calls },
    operatorService: { listSearchAttributes: granted, addSearchAttributes: granted, ...calls },
  };
  return {
    connection: connection as unknown as Connection,
    client: { workflow: { count: calls.count ?? granted } } as unknown as TemporalConnection['client'],
    namespace: 'mine',
    close: async () => {},
  };
}

const refusalOf = (server: TemporalConnection): Promise<BootstrapError> =>
  bootstrap(server, { retentionDays: 30 }).then(
    () => {
      throw new Error('It was accepted.');
    },
    (error: BootstrapError) => error,
  );

describe('bootstrap without the rights to do it', () => {
  test.each([
    ['PERMISSION_DENIED', 7],
    ['UNIMPLEMENTED', 12],
  ])('says which namespace an operator has to create (%s)', async (_name, code) => {
    const error = await refusalOf(serverThat({ describeNamespace: refuse(5), registerNamespace: refuse(code) }));
    expect(error).toBeInstanceOf(BootstrapError);
    expect(error.commands[0]).toBe('temporal operator namespace create --namespace mine --retention 30d');
    expect(error.commands).toHaveLength(1 + searchAttributeKeys.length);
  });

  test('says which search attributes are missing, and no others', async () => {
    const some = Object.fromEntries(searchAttributeKeys.slice(2).map(({ name }) => [name, 2]));
    const error = await refusalOf(
      serverThat({ listSearchAttributes: async () => ({ customAttributes: some }), addSearchAttributes: refuse(7) }),
    );
    expect(error.commands).toEqual([
      'temporal operator search-attribute create --namespace mine --name SignalboxOrg --type Keyword',
      'temporal operator search-attribute create --namespace mine --name SignalboxWorkflow --type Keyword',
    ]);
    expect(error.message).toContain(error.commands[1]);
  });

  test('continues where attributes may not be listed, but exist', async () => {
    await bootstrap(serverThat({ listSearchAttributes: refuse(7) }), { retentionDays: 30 });
  });

  test('names all attributes where they may not be listed, and a query does not know them', async () => {
    const error = await refusalOf(serverThat({ listSearchAttributes: refuse(12), count: refuse(3) }));
    expect(error).toBeInstanceOf(BootstrapError);
    expect(error.commands).toHaveLength(searchAttributeKeys.length);
  });

  test('gives up after a timeout where attributes are registered, and never appear', async () => {
    let asked = 0;
    const server = serverThat({ listSearchAttributes: async () => ({ asked: ++asked }) });
    const error = await bootstrap(server, { retentionDays: 30, timeoutMs: 0 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'bootstrap_timeout', message: expect.stringContaining('Namespace mine') });
    expect(asked).toBeLessThan(10);
  });

  test('passes on any other error', async () => {
    const error = await refusalOf(serverThat({ describeNamespace: refuse(14) }));
    expect(error).toMatchObject({ code: 14 });
  });
});

test('a workflow that is closing is asked again after 10 ms, any other exhaustion later', () => {
  const { delayFunction, retryableDecider } = retryOptions();
  const closing = { code: 8, details: 'Workflow is closing', metadata: { get: () => [] } } as unknown as Parameters<
    typeof delayFunction
  >[1];
  const busy = { ...closing, details: 'namespace rate limit exceeded' };
  expect(retryableDecider(1, closing)).toBe(true);
  expect(delayFunction(1, closing)).toBe(10);
  expect(delayFunction(1, busy)).toBeGreaterThan(100);
});
