/**
 * What a command sees in bubblewrap: the system's programs, read only; /proc, /dev and /tmp of its own; one folder to
 * work in. No network, no other processes, no environment but its own, nothing of the worker's files: where those lie
 * within what it sees (a clone in /usr/src, a data folder in the folder to work in), empty folders hide them.
 */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import type { Limits } from './limits.ts';

export const BWRAP = 'bwrap';
/** The folder to work in where the step names none: in memory, and gone with the sandbox. */
export const EMPTY_FOLDER = '/work';
const MEMORY_FOLDER_BYTES = 256 * 1024 * 1024;
/** Beside /usr, on systems that have not merged them into it. */
const SYSTEM_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** What programs of /usr look for: links to alternatives, libraries, certificates, the time zone. */
const SYSTEM_FILES = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/ssl/certs',
  '/etc/localtime',
];
/** Of the empty folder that hides another. */
const HIDDEN_BYTES = 4_096;
const NOBODY = '65534';

/**
 * Sets the limits of each process, and then becomes bash with the command, its first argument. `-p` reads no file that the
 * environment names. Virtual memory has no limit, since runtimes reserve terabytes of it; what can be written to has. The
 * kernel counts threads as processes, in older ones those of the worker's user too: this stops a bomb, and watch.ts counts.
 */
export const limitedShell = ({ memoryBytes, processes }: Limits): readonly string[] => [
  ...['bash', '-p', '-c'],
  `ulimit -c 0 -u ${16 * processes} -d ${Math.ceil(memoryBytes / 1024)} && exec bash -c "$1"`,
  'bash',
];

export interface Sandbox {
  /** One of the host's that may be written to. */
  readonly folder?: string | undefined;
  /** Folders that it must not see. */
  readonly hidden: readonly string[];
  /** Whether this bubblewrap can keep a command from making namespaces of its own (0.8 or newer). */
  readonly forbidsNamespaces: boolean;
}

/** `env` goes to bwrap by a pipe: others can read a command line. */
export function sandboxArguments({ folder, hidden, forbidsNamespaces }: Sandbox): string[] {
  const places = hidden.flatMap(realPaths);
  const hiddenIn = (within: readonly string[]) =>
    places.filter((place) => within.some((seen) => isWithin(place, seen) && place !== seen));
  // The folder may lie in what is hidden of the system, and have something to hide itself.
  const before = hiddenIn(['/usr', ...SYSTEM_FOLDERS]);
  const after = folder === undefined ? [] : hiddenIn([folder]);
  const hide = (place: string): string[] => ['--size', String(HIDDEN_BYTES), '--tmpfs', place];
  return [
    ...(forbidsNamespaces ? ['--unshare-user', '--disable-userns'] : []),
    ...['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--uid', NOBODY, '--gid', NOBODY, '--hostname', 'signalbox'],
    ...['--ro-bind', '/usr', '/usr'],
    ...SYSTEM_FOLDERS.flatMap(systemFolder),
    ...SYSTEM_FILES.flatMap((file) => ['--ro-bind-try', file, file]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...inMemory('/tmp'),
    ...before.flatMap(hide),
    ...(folder === undefined ? inMemory(EMPTY_FOLDER) : ['--bind', folder, folder]),
    ...after.flatMap(hide),
    ...[...before, ...after].flatMap((place) => ['--remount-ro', place]),
    ...['--remount-ro', '/'],
  ];
}

export function environmentArguments(env: ReadonlyMap<string, string>): string[] {
  return ['--clearenv', ...[...env].flatMap(([name, value]) => ['--setenv', name, value])];
}

function inMemory(folder: string): string[] {
  return ['--size', String(MEMORY_FOLDER_BYTES), '--tmpfs', folder];
}

/** Links followed; none where there is no such folder. */
export function realPaths(folder: string): string[] {
  try {
    return [realpathSync(folder)];
  } catch {
    return [];
  }
}

/** Whether it is the folder, or lies in it. */
export function isWithin(place: string, folder: string): boolean {
  const way = relative(folder, place);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}

function systemFolder(folder: string): string[] {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isSymbolicLink() ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder];
}
