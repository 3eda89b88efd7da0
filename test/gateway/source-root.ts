import { join } from 'node:path';

/** The project's folder, for tests that read its sources. */
export const sourceRoot = join(import.meta.dirname, '../..');
