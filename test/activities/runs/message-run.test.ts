import type { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { createActivities } from '../../../activities/registry.ts';
import type { RunMessenger } from '../../../activities/runs/message-run.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { environment, inputOf, LOOPBACK } from '../server.ts';

const MESSAGE = { executionId: 'run.default.other.1', name: 'agent_message', payload: { content: 'Hello' } };

function send(config: JsonObject, messenger?: RunMessenger) {
  const activities = createActivities(LOOPBACK, messenger === undefined ? {} : { messenger });
  return environment().run(activities['messageRun']!, inputOf(config));
}
const refusing = (code: string): RunMessenger => ({
  send: () => Promise.reject(Object.assign(new Error(`It is ${code}.`), { code })),
});
const failing = (config: JsonObject, messenger?: RunMessenger): Promise<ApplicationFailure> =>
  send(config, messenger).then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  );

describe('the activity messageRun', () => {
  it('sends a message to a run of its own organization, as one however often it is tried', async () => {
    const sent: unknown[] = [];
    const messenger: RunMessenger = { send: async (...message) => void sent.push(message) };
    for (let attempt = 0; attempt < 2; attempt++)
      expect(await send(MESSAGE, messenger)).toEqual({ data: { executionId: MESSAGE.executionId } });
    const { name, payload } = MESSAGE;
    const message = ['default', MESSAGE.executionId, { name, payload, id: 'run.default.w.1/pay#2' }];
    expect(sent).toEqual([message, message]);
  });

  it.each([
    ['not_found', 'recipient_not_found', true],
    ['closed', 'closed', true],
    ['payload_too_large', 'payload_too_large', true],
    ['inbox_overflow', 'inbox_overflow', false],
    ['unavailable', 'recipient_unavailable', false],
  ])('fails typed where the run is %s', async (code, type, nonRetryable) => {
    expect(await failing(MESSAGE, refusing(code))).toMatchObject({ type, nonRetryable });
  });

  it('fails typed where it has no recipient, or cannot reach runs', async () => {
    expect(await failing({ name: 'x' }, refusing('closed'))).toMatchObject({ type: 'invalid_config' });
    expect(await failing({ executionId: 'run.default.x.1' }, refusing('closed'))).toMatchObject({
      type: 'invalid_config',
    });
    expect(await failing(MESSAGE)).toMatchObject({ type: 'runs_unavailable', nonRetryable: true });
  });
});
