/** Creates the data folder, with an error that says why it failed and what to do. */
import { accessSync, constants } from 'node:fs';
import { makeFolder } from '../../config/folders.ts';

const REASON_BY_CODE: { readonly [code: string]: string } = {
  EEXIST: 'a file with this name exists',
  ENOTDIR: 'a parent is not a folder',
  ENOENT: 'the file system does not accept new folders',
  EACCES: 'this user has no permission to write there',
  EPERM: 'this user has no permission to write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: "this user's disk quota is used up",
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its symbolic links form a loop',
};

/** The folder cannot be created or is not writable. */
export class DataFolderError extends Error {
  readonly code = 'data_folder';
  readonly exitCode = 1;
  constructor(folder: string, reason: string) {
    super(`The data folder ${folder} cannot be used: ${reason}. Use one that this user can write to: SIGNALBOX_DATA=…`);
    this.name = 'DataFolderError';
  }
}

/** Creates the folder with permissions for its owner only. @throws DataFolderError */
export function makeDataFolder(folder: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new DataFolderError(folder, REASON_BY_CODE[code] ?? `system error ${code}`);
  }
}
