/** Every workflow that the worker registers, by the name under which it is started. */

export { audit } from './audit.ts';
export { bulkRetry } from './bulk-retry.ts';
export { debounce } from './debounce.ts';
export { definition } from './definition.ts';
export { event } from './event.ts';
export { fire } from './fire.ts';
export { gate } from './gate.ts';
export { hook } from './hook.ts';
export { inbox } from './inbox.ts';
export { run } from './interpret.ts';
export { mcpTools } from './mcp-tools.ts';
export { organization } from './organization.ts';
export { request } from './request.ts';
export { sync } from './sync.ts';
export { trigger } from './trigger.ts';
export { version } from './version.ts';
