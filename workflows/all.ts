/** Every workflow that the worker registers, by the name under which it is started. */
export async function run(argument: unknown): Promise<unknown> {
  return argument;
}

export { definition } from './definition.ts';
export { hook } from './hook.ts';
export { organization } from './organization.ts';
export { version } from './version.ts';
