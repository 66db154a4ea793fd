/** Compares paths by what they lead to: a link, or another mount, leads to one folder under several of them. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';

/** Returns true for two paths of one file or folder, and for the same path of none. */
export function isSamePath(one: string, other: string): boolean {
  if (resolve(one) === resolve(other)) return true;
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
