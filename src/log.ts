/** Where the programs write their logs. */
import { type DestinationStream, pino } from 'pino';

/** What waits to be written, while nothing can be, is kept up to this; what comes then is dropped. */
const MOST_WAITING_BYTES = 1_000_000;
const STANDARD_OUTPUT = 1;

/**
 * A file, whose folder is made, or standard output. A disk that is full, or a pipe that is gone, ends no program: what could
 * not be written is written with the next line that can be.
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
