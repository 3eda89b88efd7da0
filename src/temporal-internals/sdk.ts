/**
 * Everything of the SDK's packages that they do not export, and that client, workers and command line use all the same.
 * It is the only file with imports from `@temporalio/…/lib` (test/house.test.ts), so that a new version of the SDK is
 * compared with this list. The README beside it says what each part is for.
 */

// Functions that the SDK's own client and worker call: they are used as they are.
export { executionInfoFromRaw } from '@temporalio/client/lib/helpers.js';
export { encodeScheduleSpec } from '@temporalio/client/lib/schedule-helpers.js';
export { decodeTypedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
// What the patches of this room change. The modules are CommonJS: their functions are replaced on the module itself.
export { default as storageVisitor } from '@temporalio/common/lib/internal-non-workflow/external-storage-visitor.js';
export {
  decodeArrayFromPayloads,
  decodeFromPayloadsAtIndex,
  decodeMapFromPayloads,
  decodeOptionalFailureToOptionalError,
  decodeOptionalSinglePayload,
  ExternalStorageRunner,
  encodeToPayload,
  extstoreInboundOptions,
  isReferencePayload,
  loadDataConverter,
  visit,
  walkGetWorkflowExecutionHistoryResponse,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
export {
  default as payloadVisitor,
  type VisitOptions,
  type WalkEnv,
} from '@temporalio/common/lib/internal-non-workflow/payload-visitor.js';
export { LoggerWithComposedMetadata } from '@temporalio/common/lib/logger.js';
export { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
export { msToTs } from '@temporalio/common/lib/time.js';
export { WorkflowCodecRunner } from '@temporalio/worker/lib/workflow-codec-runner.js';
