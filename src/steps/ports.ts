import type { Ports } from './kind.ts';

/** Ports of containers that do not lead into the body. All their other ports do (LANGUAGE.md §3.2). */
export const CONTAINER_RESERVED: ReadonlySet<string> = new Set(['done', 'error', 'skipped']);

/** Ports that every kind has, except those of class end. */
export const COMMON_PORTS: ReadonlySet<string> = new Set(['error', 'skipped']);

/** The target that ends the run with success from anywhere (LANGUAGE.md §2.2). */
export const END_TARGET = '$end';

/** The ports of a wait that ends by `normal`, or too late by `timeout`: not wired, it fails with the code. */
export const timedPorts = (normal: string, fails: string, message: (slug: string) => string): Ports => ({
  normal,
  names: [normal, 'timeout'],
  unwired: { timeout: { fails, message } },
});
