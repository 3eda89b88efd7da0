/** Logs: one JSON object a line, to a file that rotates or to standard output. */
import { chmodSync, renameSync, statSync } from 'node:fs';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import type { Config } from '../config/config.ts';
import { scopeLogFields } from './scope.ts';

/** The buffer for lines while nothing can be written; further lines are dropped. */
const MAX_BUFFERED_BYTES = 1_000_000;
const STANDARD_OUTPUT = 1;
/** A file beyond this becomes `….1`, and the one before `….2`. */
const MAX_FILE_BYTES = 20_000_000;
/** How many earlier files are kept. */
const ROTATED_FILES = 4;
/** Only its owner reads it. */
const MODE = 0o600;

/**
 * A log whose lines name the current request, run, step, organization and trace (scope.ts). `file`: see logDestination.
 */
export function openLogger(
  config: Pick<Config, 'logLevel'>,
  name: string,
  file?: string,
  options: LoggerOptions = {},
): Logger {
  return pino({ ...options, name, level: config.logLevel, mixin: () => scopeLogFields() }, logDestination(file));
}

/**
 * Logs to a file, whose folder is created, or to standard output. A full disk or a closed pipe does not end the
 * program: buffered lines are written with the next line. A file of more than `maxBytes` is renamed and begun again.
 */
export function logDestination(file?: string, maxBytes = MAX_FILE_BYTES): DestinationStream {
  const sink = pino.destination({
    dest: file ?? STANDARD_OUTPUT,
    mkdir: file !== undefined,
    sync: true,
    maxLength: MAX_BUFFERED_BYTES,
    mode: MODE,
  });
  sink.on('error', () => undefined);
  if (file === undefined) return sink;
  restrictPermissions(file);
  let bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return {
    write: (line) => {
      if (bytes > maxBytes) {
        rotate(file);
        sink.reopen();
        bytes = 0;
      }
      bytes += Buffer.byteLength(line);
      sink.write(line);
    },
  };
}

/** Earlier versions have left the files readable for all. */
function restrictPermissions(file: string): void {
  for (let n = 0; n <= ROTATED_FILES; n++) {
    try {
      chmodSync(n === 0 ? file : `${file}.${n}`, MODE);
    } catch {
      // There is none, or it is somebody else's.
    }
  }
}

/** A file that cannot be renamed grows on. */
function rotate(file: string): void {
  for (let n = ROTATED_FILES; n > 0; n--) {
    try {
      renameSync(n === 1 ? file : `${file}.${n - 1}`, `${file}.${n}`);
    } catch {
      // There is none yet.
    }
  }
}
