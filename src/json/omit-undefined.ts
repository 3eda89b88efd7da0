/** `members` as an object type in which a member that may be undefined is optional, and never undefined. */
type OmitUndefined<T extends object> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * A copy of `members` without those that are undefined. JSON has no undefined, and `exactOptionalPropertyTypes` refuses
 * it.
 */
export function omitUndefined<T extends object>(members: T): OmitUndefined<T> {
  const present: Partial<T> = {};
  for (const name of Object.keys(members) as (keyof T)[])
    if (members[name] !== undefined) present[name] = members[name];
  return present as unknown as OmitUndefined<T>;
}
