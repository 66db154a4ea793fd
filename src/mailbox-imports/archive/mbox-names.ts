/**
 * The names of mbox files: `Lists/dev.mbox` holds the folder `Lists/dev`. Other programs have names without an ending, and directories
 * such as `Lists.sbd`.
 */

import { fitName, MAX_FILE_OCTETS } from './fit-name.ts';

const ENDING = '.mbox';

/** Returns the path of the file of a folder, relative to the archive. It leads to no other place, whatever the folder is called. */
export function fileOfFolder(folder: string): string {
  const levels = folder.split('/').map((level, index, { length }) => {
    // A level such as `..` would be another directory, and one with a dot in front a hidden one.
    const escaped = level.replaceAll('%', '%25').replace(/^\./, '%2E');
    if (index === length - 1) return fitName(escaped, MAX_FILE_OCTETS - ENDING.length);
    // A directory that ends like a file could have the name of the file of another folder.
    return fitName(escaped.replace(/\.(?=mbox$)/i, '%2E'), MAX_FILE_OCTETS);
  });
  return `${levels.join('/')}${ENDING}`;
}

/** Returns the folder of a file, whose path is relative to the archive. */
export function folderOfFile(path: string): string {
  const levels = path.split('/').map((level, index, { length }) => {
    const name = index === length - 1 ? level.replace(/\.mbox$/i, '') : level.replace(/\.sbd$/, '');
    return name.replaceAll('%2E', '.').replaceAll('%25', '%');
  });
  const name = levels.join('/');
  return name.replace(/^inbox(?=\/|$)/i, 'INBOX');
}
