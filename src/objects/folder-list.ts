/** Lists the names of a folder store. They are the paths of its files, in the order of their bytes, which is not that of a walk by name alone. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { errorCode } from '../system/errors.ts';
import { isObjectName, MAX_LISTED } from './object-store.ts';

type Page = { root: string; prefix: string; after: string };

/**
 * Returns up to `MAX_LISTED` names. A directory is read whole, whatever part of it is asked for.
 * @throws the error of the file system
 */
export async function listFolder(page: Page): Promise<string[]> {
  const names: string[] = [];
  await collect('', page, names);
  return names;
}

/** Adds the names below `path`, which is empty or ends with a slash. */
async function collect(path: string, page: Page, names: string[]): Promise<void> {
  const entries = (await readEntries(`${page.root}/${path}`))
    .filter((entry) => entry.isFile() || entry.isDirectory())
    // A directory is compared with its slash, because the names in it have one there.
    .map((entry) => (entry.isDirectory() ? `${path}${entry.name}/` : `${path}${entry.name}`))
    .filter((name) => mayMatch(name, page))
    .sort(compareBytes);
  for (const name of entries) {
    if (names.length >= MAX_LISTED) return;
    if (name.endsWith('/')) await collect(name, page, names);
    else names.push(name);
  }
}

/** Returns true for a name of the page, and for a directory in which there may be one. */
function mayMatch(name: string, { prefix, after }: Page): boolean {
  if (!name.endsWith('/'))
    return isObjectName(name) && name.startsWith(prefix) && compareBytes(name, after) > 0;
  if (!isObjectName(name.slice(0, -1))) return false;
  const leadsToPrefix = name.startsWith(prefix) || prefix.startsWith(name);
  return leadsToPrefix && (after.startsWith(name) || compareBytes(name, after) > 0);
}

/** Names consist of ASCII, whose characters have the order of their bytes. */
function compareBytes(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

async function readEntries(directory: string): Promise<Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
