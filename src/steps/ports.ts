/** Ports of containers that do not lead into the body. All their other ports do (LANGUAGE.md §3.2). */
export const CONTAINER_RESERVED: ReadonlySet<string> = new Set(['done', 'error', 'skipped']);

/** Ports that every kind has, except those of class end. */
export const COMMON_PORTS: ReadonlySet<string> = new Set(['error', 'skipped']);

/** The target that ends the run with success from anywhere (LANGUAGE.md §2.2). */
export const END_TARGET = '$end';
