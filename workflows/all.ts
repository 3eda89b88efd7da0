/** Every workflow that the worker registers, by the name under which it is started. */

export { definition } from './definition.ts';
export { gate } from './gate.ts';
export { hook } from './hook.ts';
export { run } from './interpret.ts';
export { organization } from './organization.ts';
export { version } from './version.ts';
