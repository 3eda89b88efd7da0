/** The names that only the engine writes (LANGUAGE.md §3, "Roots"), and what each reads: the manual lists them. */
export const ROOT_MEANINGS = {
  input: 'What the run was started with.',
  steps:
    '`steps.SLUG` is `{stepType, name, output: {type, data, meta}}` of the last visit of a step; `undefined` before the first. A branch reads its own entries, then those of what it is in.',
  lastOutput: 'The output of the step before, in this branch or iteration; a skipped step leaves it.',
  loop: '`item`, `index`, `items`, `batch`, `state`, `carry` of the innermost loop, or of the one that was just left; `loop.parent` is the loop around it.',
  item: 'The item of the nearest forEach; `as` gives it another name.',
  index: 'The index of the nearest forEach, from 0.',
  state: 'The declared values of the run, by `saveToState` and `set`.',
  variables: 'The variables of the run, by `config.variables` and `set`. Each is readable without the prefix too.',
  outputs: "Outputs' data by `outputVariable`.",
  secrets:
    '`secrets.NAME` stands for a secret that only the activity sees: alone or inside a text, with no transform, where the kind allows it.',
  organizationId: 'The organization of the run.',
  execution:
    '`{id, path, workflow, version, hash, startedAt, parentId, trigger: {type, id, metadata}}` of the run; `path` is that of the visit.',
  error:
    'The error that a port `error` or `onError: continue` took, until the next; `{code, message, path, step, attempts, retryable, details}`; `stepSlug` is `step`. Null before.',
  now: "The run's clock, as a text in ISO 8601.",
  nowMs: "The run's clock in milliseconds since 1970.",
} as const;

export const ROOTS: readonly string[] = Object.keys(ROOT_MEANINGS);

const NAMES: ReadonlySet<string> = new Set(ROOTS);

export function isRoot(name: string): boolean {
  return NAMES.has(name);
}
