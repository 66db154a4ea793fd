/** Compares paths by what they lead to: a link, or another mount, leads to one folder under several of them. */
import { type BigIntStats, statSync } from 'node:fs';
import { resolve } from 'node:path';

/** Returns true for two paths of one file or folder, and for the same path of none. */
export function isSamePath(one: string, other: string): boolean {
  if (resolve(one) === resolve(other)) return true;
  const first = statOf(one);
  const second = first && statOf(other);
  return second !== undefined && first?.dev === second.dev && first.ino === second.ino;
}

/** Returns undefined for what cannot be looked at, such as a folder on a mount that has gone: nothing is known to lead there. */
function statOf(path: string): BigIntStats | undefined {
  try {
    // A number would lose the end of a large inode number.
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
