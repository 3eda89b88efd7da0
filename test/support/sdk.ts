/** What tests alone use of the SDK's packages beyond what these export. Sources have src/temporal-internals/sdk.ts. */
export {
  default as internals,
  encodeReferencePayload,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
export { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
export { ThreadedVMWorkflowCreator } from '@temporalio/worker/lib/workflow/threaded-vm.js';
export { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';
