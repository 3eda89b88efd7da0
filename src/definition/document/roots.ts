/** The names that an expression may begin with (LANGUAGE.md §3, "Roots"), each with its meaning for the manual. */
export const ROOT_MEANINGS = {
  input: 'The input of the run.',
  steps:
    '`steps.SLUG` is `{stepType, name, output: {type, data, meta}}` of the last visit of a step, and ' +
    '`undefined` before the first one. A branch reads its own entries, then those around it.',
  lastOutput: 'The output of the previous step in this branch or iteration. A skipped step does not change it.',
  loop:
    '`item`, `index`, `items`, `batch`, `state`, `carry` of the innermost loop, or of the loop that ended last. ' +
    '`loop.parent` is the loop around it.',
  item: 'The item of the innermost forEach. `as` gives it another name.',
  index: 'The index of the innermost forEach, from 0.',
  state: 'The declared values of the run. `saveToState` and `set` write them.',
  variables: 'The variables of the run, from `config.variables` and `set`. Each is also readable without the prefix.',
  outputs: 'The data of outputs, by `outputVariable`.',
  secrets:
    '`secrets.NAME` is the placeholder of a secret that only the activity resolves: alone or inside a text, ' +
    'without a transform, where the kind allows it.',
  organizationId: 'The organization of the run.',
  execution:
    '`{id, path, workflow, version, hash, startedAt, parentId, trigger: {type, id, metadata}}` of the run. ' +
    '`path` is the path of the visit.',
  error:
    'The last error that a port `error` or `onError: continue` handled: `{code, message, path, step, attempts, ' +
    'retryable, details}`. `stepSlug` equals `step`. Null before the first error.',
  now: "The time of the run's clock, as ISO 8601.",
  nowMs: "The time of the run's clock, in milliseconds since 1970.",
} as const;

export const ROOTS: readonly string[] = Object.keys(ROOT_MEANINGS);

const ROOT_NAMES: ReadonlySet<string> = new Set(ROOTS);

export function isRoot(name: string): boolean {
  return ROOT_NAMES.has(name);
}
