/** The data folder, made where it is missing; where that cannot be, a sentence says why and what to do. */
import { accessSync, constants } from 'node:fs';
import { makeFolder } from '../../config/folders.ts';

const WHY: { readonly [code: string]: string } = {
  EEXIST: 'something that is no folder has its name',
  ENOTDIR: 'something above it is no folder',
  ENOENT: 'the file system above it takes no new folders',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: "this user's quota of the disk is used up",
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'links lead round in a circle',
};

/** The folder cannot be made, or not be written to. */
export class DataFolderError extends Error {
  readonly code = 'data_folder';
  readonly exitCode = 1;
  constructor(folder: string, reason: string) {
    super(
      `The data folder ${folder} cannot be used: ${reason}. Name a folder that this user can write to: SIGNALBOX_DATA=…`,
    );
    this.name = 'DataFolderError';
  }
}

/** Its owner's alone where it is made here. @throws DataFolderError */
export function makeDataFolder(folder: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new DataFolderError(folder, WHY[code] ?? `the system says ${code}`);
  }
}
