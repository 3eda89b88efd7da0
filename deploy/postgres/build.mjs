// Builds the Temporal server that go.mod pins, and its tool for SQL schemas, into the user's cache folder. The server's
// releases are container images; from the Go module proxy it is built once, in about eight minutes on two cores.
import { fileURLToPath } from 'node:url';
import { buildPrograms, pinnedVersion } from '../go-programs.mjs';

const source = fileURLToPath(new URL('.', import.meta.url));

/** The pinned version, such as 1.31.2. */
export const serverVersion = pinnedVersion(source, 'go.temporal.io/server');

/** The folder of the two programs. Builds them if they are missing. @throws Error without Go, or with its output */
export const buildServer = () =>
  buildPrograms({
    source,
    what: 'the Temporal server',
    name: 'temporal-server',
    version: serverVersion,
    programs: {
      'temporal-server': 'go.temporal.io/server/cmd/server',
      'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
    },
  });
