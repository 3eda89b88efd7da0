/** The names that only the engine writes (language.md §3, "Roots"). */
export const ROOTS: readonly string[] = [
  'input',
  'steps',
  'lastOutput',
  'loop',
  'item',
  'index',
  'state',
  'variables',
  'outputs',
  'secrets',
  'organizationId',
  'execution',
  'error',
  'now',
  'nowMs',
];

const NAMES: ReadonlySet<string> = new Set(ROOTS);

export function isRoot(name: string): boolean {
  return NAMES.has(name);
}
