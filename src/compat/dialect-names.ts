/**
 * The systems whose definitions are read (LANGUAGE.md §9), by number. Their names are taken on input; what is stored
 * and answered holds the numbers, since they are hashed. 003, rivet, is code and has no dialect.
 */
export const DIALECT_NAMES = { '000': 'tale', '001': 'mesh', '002': 'agent-ops', '004': 'alloy' } as const;

export type DialectNumber = keyof typeof DIALECT_NAMES;

export const DIALECT_NUMBERS = Object.keys(DIALECT_NAMES) as DialectNumber[];

/** The number of a system by its name. */
export function dialectNumber(name: unknown): DialectNumber | undefined {
  return DIALECT_NUMBERS.find((number) => DIALECT_NAMES[number] === name);
}
