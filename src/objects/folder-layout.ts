/**
 * Where a folder store keeps objects, and how it lists them. The name of an object is its path, with one exception: names that end with a
 * number of ten digits or more follow each other by the hundred thousand, and each thousand of them has a folder of its own. The object
 * `a/0000012345` is the file `a/0000012+/0000012345`. No name has a `+`, so no object can be there by its own path.
 */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { errorCode } from '../system/errors.ts';
import { isObjectName, MAX_LISTED } from './object-store.ts';

/** Matches a name whose last part begins with ten digits. The last three of these count the objects of one thousand. */
const NUMBERED = /^(.*\/)?((\d{7})\d{3}[^/]*)$/;
/** Matches the folder of a thousand. */
const THOUSAND = /^\d{7}\+$/;

/** Returns the path of an object below the folder of the store. */
export function pathOfObject(name: string): string {
  const [, folder = '', last, digits] = NUMBERED.exec(name) ?? [];
  return last === undefined ? name : `${folder}${digits}+/${last}`;
}

type Page = { root: string; prefix: string; after: string };

/**
 * Returns up to `MAX_LISTED` names of a page, in the order of their bytes, which is not that of a walk through the folders by name.
 * @throws the error of the file system
 */
export async function listFolder(page: Page): Promise<string[]> {
  const names: string[] = [];
  await collect('', page, names);
  return names;
}

/** Adds the names below `path`, which is empty or ends with a slash. */
async function collect(path: string, page: Page, names: string[]): Promise<void> {
  const entries = await readEntries(path, page);
  for (let at = 0; at < entries.length && names.length < MAX_LISTED; at++) {
    const entry = entries[at] ?? '';
    if (entry.endsWith('/')) await collect(entry, page, names);
    else if (!entry.endsWith('+')) names.push(entry);
    else {
      // The names in the folder of a thousand stand among the others that begin with its digits, which follow it here.
      const digits = entry.slice(0, -1);
      const others = entries.slice(at + 1).findIndex((other) => !other.startsWith(digits));
      const same = others < 0 ? entries.slice(at + 1) : entries.slice(at + 1, at + 1 + others);
      const numbered = await readEntries(`${entry}/`, page, path);
      entries.splice(at, same.length + 1, ...[...numbered, ...same].sort(compareBytes));
      at--;
    }
  }
}

/**
 * Returns the sorted entries of a folder that can belong to the page: files, other folders with a slash at their end, and folders of a thousand.
 * `path` begins the names of the objects in the folder.
 */
async function readEntries(folder: string, page: Page, path = folder): Promise<string[]> {
  return (await readFolder(`${page.root}/${folder}`))
    .filter((entry) => (entry.isFile() ? !entry.name.endsWith('+') : entry.isDirectory()))
    .map((entry) =>
      // A folder is compared with its slash, because the names in it have one there.
      entry.isFile() || THOUSAND.test(entry.name) ? `${path}${entry.name}` : `${path}${entry.name}/`,
    )
    .filter((entry) => mayMatch(entry, page))
    .sort(compareBytes);
}

/** Returns true for a name of the page, and for a folder in which there may be one. */
function mayMatch(entry: string, { prefix, after }: Page): boolean {
  const isFolder = /[/+]$/.test(entry);
  if (!isFolder) return isObjectName(entry) && entry.startsWith(prefix) && compareBytes(entry, after) > 0;
  const start = entry.replace(/\+$/, '');
  if (!isObjectName(start.replace(/\/$/, ''))) return false;
  const leadsToPrefix = start.startsWith(prefix) || prefix.startsWith(start);
  return leadsToPrefix && (after.startsWith(start) || compareBytes(start, after) > 0);
}

/** Names consist of ASCII, whose characters have the order of their bytes. */
function compareBytes(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

async function readFolder(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
