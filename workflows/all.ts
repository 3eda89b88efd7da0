/** Every workflow that the worker registers, by the name under which it is started. */

export { bulkRetry } from './jobs/bulk-retry.ts';
export { event } from './jobs/event.ts';
export { fire } from './jobs/fire.ts';
export { mcpTools } from './jobs/mcp-tools.ts';
export { recordedCall } from './jobs/recorded-call.ts';
export { request } from './jobs/request.ts';
export { run } from './run/run-workflow.ts';
export {
  debounce,
  definition,
  gate,
  hook,
  inbox,
  lender,
  organization,
  recording,
  sync,
  trigger,
} from './shell/actors.ts';
export { audit, version } from './shell/records.ts';
