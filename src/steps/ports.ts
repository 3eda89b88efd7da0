/** Ports that containers keep for themselves: all their other ports lead into their bodies (LANGUAGE.md §3.2). */
export const CONTAINER_RESERVED: ReadonlySet<string> = new Set(['done', 'error', 'skipped', 'timeout']);

/** Ports that every kind but an ending one may have wired. */
export const COMMON_PORTS: ReadonlySet<string> = new Set(['error', 'skipped']);

/** The target that ends the run with success from anywhere (LANGUAGE.md §2.2). */
export const END_TARGET = '$end';
