/**
 * Without encryption the codec leaves all payloads as they are, except encrypted ones from before. The SDK visits every
 * payload of a workflow task all the same, with a signal and promises for each. Here only a task that brings an
 * encrypted payload is visited.
 */

import type { Payload } from '@temporalio/common';
// The package is CommonJS without named exports: its values come by the default, its types by name.
import proto, { type coresdk } from '@temporalio/proto';
import { everyPayload } from './payload-walk.ts';
import { payloadVisitor, WorkflowCodecRunner } from './sdk.ts';

type Activation = coresdk.workflow_activation.IWorkflowActivation;
type Completion = coresdk.workflow_completion.IWorkflowActivationCompletion;

const { WorkflowActivation } = proto.coresdk.workflow_activation;
const { WorkflowActivationCompletion } = proto.coresdk.workflow_completion;
/** As the SDK visits for codecs. */
const VISITOR_OPTIONS = { skipHeaders: true, skipSearchAttributes: true };

let isInstalled = false;

/** Changes the SDK's class, once for a process whose codec does not encrypt. `isEncrypted`: the codec wrote it. */
export function skipCodecForPlainPayloads(isEncrypted: (payload: Payload) => boolean): void {
  if (isInstalled) return;
  isInstalled = true;
  const { prototype } = WorkflowCodecRunner;
  const { decodeActivation } = prototype;
  Object.assign(prototype, {
    async decodeActivation(this: WorkflowCodecRunner, given: Activation) {
      const activation = WorkflowActivation.fromObject(given);
      const isPlain = everyPayload(
        activation,
        payloadVisitor.walkWorkflowActivation,
        VISITOR_OPTIONS,
        (one) => !isEncrypted(one),
      );
      return isPlain ? activation : decodeActivation.call(this, activation);
    },
    async encodeCompletion(completion: Completion) {
      return WorkflowActivationCompletion.fromObject(completion);
    },
  });
}
