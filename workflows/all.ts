/** Every workflow that the worker registers, by the name under which it is started. */

export { audit } from './actors/audit.ts';
export { bulkRetry } from './actors/bulk-retry.ts';
export { debounce } from './actors/debounce.ts';
export { definition } from './actors/definition.ts';
export { event } from './actors/event.ts';
export { fire } from './actors/fire.ts';
export { hook } from './actors/hook.ts';
export { inbox } from './actors/inbox.ts';
export { gate } from './actors/limiter.ts';
export { mcpTools } from './actors/mcp-tools.ts';
export { organization } from './actors/organization.ts';
export { request } from './actors/request.ts';
export { sync } from './actors/sync.ts';
export { trigger } from './actors/trigger.ts';
export { version } from './actors/version.ts';
export { run } from './run/interpret.ts';
