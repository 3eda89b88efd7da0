/**
 * What a command sees in bubblewrap: the system's programs, read only; /proc, /dev and /tmp of its own; one folder to
 * work in. No network, no other processes, no environment but its own, nothing of the worker's files.
 */
import { lstatSync, readlinkSync } from 'node:fs';

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
const NOBODY = '65534';

/** `folder`: one of the host's that may be written to. `env` goes to bwrap by a pipe: others can read a command line. */
export function sandboxArguments(folder: string | undefined): string[] {
  return [
    ...['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--uid', NOBODY, '--gid', NOBODY, '--hostname', 'signalbox'],
    ...['--ro-bind', '/usr', '/usr'],
    ...SYSTEM_FOLDERS.flatMap(systemFolder),
    ...SYSTEM_FILES.flatMap((file) => ['--ro-bind-try', file, file]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...inMemory('/tmp'),
    ...(folder === undefined ? inMemory(EMPTY_FOLDER) : ['--bind', folder, folder]),
    ...['--remount-ro', '/'],
  ];
}

export function environmentArguments(env: ReadonlyMap<string, string>): string[] {
  return ['--clearenv', ...[...env].flatMap(([name, value]) => ['--setenv', name, value])];
}

function inMemory(folder: string): string[] {
  return ['--size', String(MEMORY_FOLDER_BYTES), '--tmpfs', folder];
}

function systemFolder(folder: string): string[] {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isSymbolicLink() ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder];
}
