import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { beforeAll, expect, it, vi } from 'vitest';
import { isEncrypted, payloadCodecOf } from '../../src/client/payloads/codec.ts';
import { skipCodecForPlainPayloads } from '../../src/temporal-internals/plain-payloads.ts';
import { WorkflowCodecRunner } from '../../src/temporal-internals/sdk.ts';

const settings = { masterKey: new Uint8Array(32).fill(7), formerMasterKeys: [], dataDir: '' };
const codec = payloadCodecOf({ ...settings, codec: false });
const plain: Payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('1') };
const context = { type: 'workflow', namespace: 'default', workflowId: 'w' } as const;
const { WorkflowActivationCompletion: ActivationCompletion } = proto.coresdk.workflow_completion;
const { WorkflowActivation: Activation } = proto.coresdk.workflow_activation;

const activationOf = (result: Payload) => ({
  runId: 'r',
  jobs: [{ resolveActivity: { seq: 1, result: { completed: { result } } } }],
});
const completionOf = (payload: Payload) => ({
  runId: 'r',
  successful: { commands: [{ scheduleActivity: { seq: 1, activityId: 'a', arguments: [payload] } }] },
});
const make = () => new WorkflowCodecRunner([codec], context);

/** What the SDK makes of both messages, before it is changed. */
let sent: Uint8Array;
let received: Uint8Array;
beforeAll(async () => {
  sent = ActivationCompletion.encode((await make().encodeCompletion(completionOf(plain))) as never).finish();
  received = Activation.encode((await make().decodeActivation(activationOf(plain))) as never).finish();
  skipCodecForPlainPayloads(isEncrypted);
});

it('makes the same messages as the SDK, and waits for none of their payloads', async () => {
  const all = vi.spyOn(Promise, 'allSettled');
  const completion = await make().encodeCompletion(completionOf(plain));
  const activation = await make().decodeActivation(activationOf(plain));
  expect(all).not.toHaveBeenCalled();
  all.mockRestore();
  expect(ActivationCompletion.encode(completion as never).finish()).toEqual(sent);
  expect(Activation.encode(activation as never).finish()).toEqual(received);
});

it('decrypts what was encrypted before encryption was switched off', async () => {
  const [encrypted] = await payloadCodecOf({ ...settings, codec: true }).encode([plain]);
  const { jobs } = await make().decodeActivation(activationOf(encrypted!));
  const result = jobs[0]?.resolveActivity?.result?.completed?.result as Payload | undefined;
  expect(Buffer.from(result?.data ?? []).toString()).toBe('1');
});
