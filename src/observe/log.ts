/** Logs: one JSON object a line, to a file that rotates or to standard output. */
import { chmodSync, renameSync, statSync } from 'node:fs';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import type { Config } from '../config/config.ts';
import { loggedScope } from './scope.ts';

/** The buffer for lines while nothing can be written; further lines are dropped. */
const MOST_WAITING_BYTES = 1_000_000;
const STANDARD_OUTPUT = 1;
/** A file beyond this becomes `….1`, and the one before `….2`. */
const MOST_FILE_BYTES = 20_000_000;
/** How many earlier files are kept. */
const KEPT_FILES = 4;
/** Nobody else reads it. */
const MODE = 0o600;

/**
 * A log whose lines name the current request, run, step, organization and trace (scope.ts). `file`: see logTo.
 */
export function openLogger(
  config: Pick<Config, 'logLevel'>,
  name: string,
  file?: string,
  options: LoggerOptions = {},
): Logger {
  return pino({ ...options, name, level: config.logLevel, mixin: () => loggedScope() }, logTo(file));
}

/**
 * Logs to a file, whose folder is created, or to standard output. A full disk or a closed pipe does not end the
 * program: buffered lines are written with the next line. A file of more than `mostBytes` is renamed and begun again.
 */
export function logTo(file?: string, mostBytes = MOST_FILE_BYTES): DestinationStream {
  const sink = pino.destination({
    dest: file ?? STANDARD_OUTPUT,
    mkdir: file !== undefined,
    sync: true,
    maxLength: MOST_WAITING_BYTES,
    mode: MODE,
  });
  sink.on('error', () => undefined);
  if (file === undefined) return sink;
  keepPrivate(file);
  let bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return {
    write: (line) => {
      if (bytes > mostBytes) {
        rotate(file);
        sink.reopen();
        bytes = 0;
      }
      bytes += Buffer.byteLength(line);
      sink.write(line);
    },
  };
}

/** Earlier versions have left it readable for all. */
function keepPrivate(file: string): void {
  for (let place = 0; place <= KEPT_FILES; place++) {
    try {
      chmodSync(place === 0 ? file : `${file}.${place}`, MODE);
    } catch {
      // There is none, or it is somebody else's.
    }
  }
}

/** A file that cannot be renamed grows on. */
function rotate(file: string): void {
  for (let place = KEPT_FILES; place > 0; place--) {
    try {
      renameSync(place === 1 ? file : `${file}.${place - 1}`, `${file}.${place}`);
    } catch {
      // There is none yet.
    }
  }
}
