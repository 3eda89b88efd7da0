import type { Definition } from './types.ts';

/**
 * The types of a definition's actions that are among these: what `RunInput.light` says to the run. Undefined where the
 * light actions are not known.
 */
export function lightActionsOf(
  { steps }: Definition,
  light: readonly string[] | undefined,
): readonly string[] | undefined {
  if (light === undefined) return undefined;
  const used = new Set(Object.values(steps).map(({ config }) => config?.['type']));
  return light.filter((type) => used.has(type));
}
