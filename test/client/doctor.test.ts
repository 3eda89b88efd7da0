// What `signalbox doctor` says of a server that answers, and yet cannot run anything.

import { expect, it } from 'vitest';
import { attributesFinding } from '../../src/client/doctor/attributes.ts';
import { examineServer } from '../../src/client/doctor/examine.ts';
import { searchAttributeKeys } from '../../src/client/search-attributes/keys.ts';
import type { TemporalConnection } from '../../src/client/temporal/connect.ts';
import { readConfig } from '../../src/config/config.ts';
import { encodeSearchAttributeIndexedValueType } from '../../src/temporal-internals/sdk.ts';

/** Each call fails with this status. */
function failing(code: number, details: string): TemporalConnection {
  const fail = () => Promise.reject(Object.assign(new Error(details), { code, details, metadata: {} }));
  const service = new Proxy({}, { get: () => fail });
  return {
    connection: { workflowService: service, operatorService: service },
    namespace: 'signalbox',
  } as unknown as TemporalConnection;
}

it.each([
  [14, 'no usable database connection found', 'blocks'],
  [4, 'context deadline exceeded', 'blocks'],
  [16, 'invalid API key', 'blocks'],
  [13, 'shard is not owned', 'blocks'],
  [7, 'Request unauthorized.', 'warning'],
  [12, 'unknown service', 'warning'],
  [8, 'rate limit exceeded', 'warning'],
])('status %i of the server and the namespace: %s', async (code, details, level) => {
  const findings = await examineServer(readConfig({}), failing(code, details));
  expect(findings.slice(1)).toEqual(
    ['server', 'namespace'].map((check) => ({ check, level, text: expect.stringContaining(details) })),
  );
});

const types = Object.fromEntries(
  searchAttributeKeys.map(({ name, type }) => [name, encodeSearchAttributeIndexedValueType(type) as number]),
);

it('blocks where a search attribute is missing that an installation had, and says the command', () => {
  const { SignalboxStatus: _missing, ...others } = types;
  expect(attributesFinding(others, true, 'signalbox')).toMatchObject({
    level: 'blocks',
    text: expect.stringContaining('SignalboxStatus of 15 are not registered'),
    lines: ['temporal operator search-attribute create --namespace signalbox --name SignalboxStatus --type Keyword'],
  });
  expect(attributesFinding(types, true, 'signalbox')).toMatchObject({ level: 'ok' });
  expect(attributesFinding({}, true, 'signalbox')).toMatchObject({ level: 'note' });
});
