/**
 * Test files that run side by side have a namespace each, since actors have the same ids in every file (`org.default`).
 * A slot is what Vitest calls a pool id: 1 to the number of files that run side by side.
 */
export const namespaceOfSlot = (slot: number): string => `signalbox-test-${slot}`;
