/**
 * Failures with the payload codec: message and stack go into a payload, which the codec encrypts. The type, which is
 * the code of an error, stays readable. In the sandbox the worker's build id shows whether there is a codec
 * (workers/workflow-options.ts). Outside of it, for activities, this module is loaded only where there is one.
 */
import { DefaultFailureConverter, type PayloadConverter, type ProtoFailure } from '@temporalio/common';
import { inWorkflowContext, workflowInfo } from '@temporalio/workflow';
import { encodesFailures } from '../src/contract/build-id.ts';

const encodingConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });

class FailureConverter extends DefaultFailureConverter {
  override errorToFailure(error: unknown, payloadConverter: PayloadConverter): ProtoFailure {
    return isEncoding()
      ? encodingConverter.errorToFailure(error, payloadConverter)
      : super.errorToFailure(error, payloadConverter);
  }
}

function isEncoding(): boolean {
  return !inWorkflowContext() || encodesFailures(workflowInfo().currentDeploymentVersion?.buildId);
}

export const failureConverter = new FailureConverter();
