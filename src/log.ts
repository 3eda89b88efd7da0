/** The destination of logs. */
import { type DestinationStream, pino } from 'pino';

/** The buffer for lines while nothing can be written; further lines are dropped. */
const MOST_WAITING_BYTES = 1_000_000;
const STANDARD_OUTPUT = 1;

/**
 * Logs to a file, whose folder is created, or to standard output. A full disk or a closed pipe does not end the
 * program: buffered lines are written with the next line.
 */
export function logTo(file?: string): DestinationStream {
  const sink = pino.destination({
    dest: file ?? STANDARD_OUTPUT,
    mkdir: file !== undefined,
    sync: true,
    maxLength: MOST_WAITING_BYTES,
  });
  sink.on('error', () => undefined);
  return sink;
}
