/**
 * What a command sees in bubblewrap: the system's programs, read-only; its own /proc, /dev and /tmp; one working
 * folder. It sees no network, no other processes, no environment of the worker, and none of the worker's files. Where
 * those are inside a visible folder (a clone in /usr/src, a data folder in the working folder), empty folders hide
 * them.
 */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import type { Limits } from './limits.ts';

export const BWRAP = 'bwrap';
/** The working folder if the step names none: in memory, and removed with the sandbox. */
export const EMPTY_FOLDER = '/work';
const MEMORY_FOLDER_BYTES = 256 * 1024 * 1024;
/** System folders beside /usr, on systems that have not merged them into it. */
const SYSTEM_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Files that programs in /usr need: links to alternatives, libraries, certificates, the time zone. */
const SYSTEM_FILES = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/ssl/certs',
  '/etc/localtime',
];
/** The size of an empty folder that hides another one. */
const HIDDEN_BYTES = 4_096;
const NOBODY = '65534';

/**
 * Sets the limits of each process, then runs its first argument in bash. `-p` ignores startup files that the
 * environment names. Virtual memory is not limited, because runtimes reserve terabytes of it; data segments are. The
 * kernel counts threads as processes, older ones also those of the worker's user: this only stops fork bombs, limits.ts
 * counts exactly.
 */
export const limitedShell = ({ memoryBytes, processes }: Limits): readonly string[] => [
  ...['bash', '-p', '-c'],
  `ulimit -c 0 -u ${16 * processes} -d ${Math.ceil(memoryBytes / 1024)} && exec bash -c "$1"`,
  'bash',
];

export interface Sandbox {
  /** A writable folder of the host. */
  readonly folder?: string | undefined;
  /** Folders that the command must not see. */
  readonly hidden: readonly string[];
  /** Whether this bubblewrap can forbid nested namespaces (0.8 or newer). */
  readonly forbidsNamespaces: boolean;
}

/** The environment is passed in environmentArguments through a pipe, since other users can read command lines. */
export function sandboxArguments({ folder, hidden, forbidsNamespaces }: Sandbox): string[] {
  const places = hidden.flatMap(realPaths);
  const hiddenIn = (within: readonly string[]) =>
    places.filter((place) => within.some((seen) => isWithin(place, seen) && place !== seen));
  // The working folder may be inside a hidden folder, and may contain hidden ones.
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
    ...tmpfs('/tmp'),
    ...before.flatMap(hide),
    ...(folder === undefined ? tmpfs(EMPTY_FOLDER) : ['--bind', folder, folder]),
    ...after.flatMap(hide),
    ...[...before, ...after].flatMap((place) => ['--remount-ro', place]),
    ...['--remount-ro', '/'],
  ];
}

export function environmentArguments(env: ReadonlyMap<string, string>): string[] {
  return ['--clearenv', ...[...env].flatMap(([name, value]) => ['--setenv', name, value])];
}

function tmpfs(folder: string): string[] {
  return ['--size', String(MEMORY_FOLDER_BYTES), '--tmpfs', folder];
}

/** The real path of the folder; empty if it does not exist. */
export function realPaths(folder: string): string[] {
  try {
    return [realpathSync(folder)];
  } catch {
    return [];
  }
}

/** Whether `place` is the folder or inside it. */
export function isWithin(place: string, folder: string): boolean {
  const way = relative(folder, place);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}

function systemFolder(folder: string): string[] {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isSymbolicLink() ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder];
}
