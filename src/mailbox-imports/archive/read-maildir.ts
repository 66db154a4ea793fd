/**
 * Reads a maildir with its folders. Folders in the layout of Maildir++ and those in directories of their own, as mail programs keep
 * them, are both found. The messages of a folder come in the order of their names, which begin with the time of their arrival.
 */
import { createReadStream, type Dirent, type Stats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LineEnds } from '../../mail/message/crlf.ts';
import { errorCode } from '../../system/errors.ts';
import { folderOfDirectory, KEYWORDS_FILE, keyOf, readFlags, readKeywords } from './maildir-format.ts';
import { type ArchivedMessage, PIECE_BYTES } from './message.ts';

/** Maximum number of levels of directories in which folders are looked for. */
const MAX_LEVELS = 20;

type Folder = { name: string; path: string };

/** Returns true when the path is a maildir, or a directory with one. */
export async function isMaildir(path: string): Promise<boolean> {
  for await (const _ of findFolders({ name: '', path }, 0)) return true;
  return false;
}

/**
 * Yields the messages of a maildir, folder by folder, INBOX first. Messages that are deleted meanwhile are left out.
 * @throws errors of the file system
 */
export async function* readMaildir(path: string): AsyncGenerator<ArchivedMessage> {
  for await (const folder of findFolders({ name: '', path }, 0)) yield* readFolder(folder);
}

/** Yields a directory, when it holds messages, and the ones below it. A name of a folder is empty for INBOX. */
async function* findFolders({ name, path }: Folder, level: number): AsyncGenerator<Folder> {
  const entries = await readdir(path, { withFileTypes: true });
  const directories = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const isFolder = directories.includes('cur');
  if (isFolder) yield { name: name === '' ? 'INBOX' : name, path };
  if (level === MAX_LEVELS) return;
  for (const directory of directories.sort()) {
    if (isFolder && ['cur', 'new', 'tmp'].includes(directory)) continue;
    const below = { name: nameBelow(name, directory), path: join(path, directory) };
    yield* findFolders(below, level + 1);
  }
}

function nameBelow(parent: string, directory: string): string {
  const name = directory.startsWith('.') ? folderOfDirectory(directory) : directory;
  if (parent !== '') return `${parent}/${name}`;
  return name.toUpperCase() === 'INBOX' ? 'INBOX' : name;
}

async function* readFolder({ name: folder, path }: Folder): AsyncGenerator<ArchivedMessage> {
  const keywords = readKeywords(await readOptional(join(path, KEYWORDS_FILE)));
  const files = await listFiles(path);
  for (const file of files.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))) {
    const found = (await statOptional(file.path)) ? file : (await listFiles(path)).find(isSame(file));
    const stats = found && (await statOptional(found.path));
    if (!found || !stats?.isFile()) continue;
    const { key, path: at, name } = found;
    const flags = readFlags(name, keywords);
    yield { folder, key, flags, receivedAt: Math.round(stats.mtimeMs), content: readContent(at) };
  }
}

type File = { key: string; name: string; path: string };

/** A program that changes flags meanwhile gives the file another name. */
function isSame({ key }: File): (other: File) => boolean {
  return (other) => other.key === key;
}

/** Lists the messages of a folder, those that no program has seen (`new`) among them. */
async function listFiles(path: string): Promise<File[]> {
  const files: File[] = [];
  for (const part of ['cur', 'new'])
    for (const name of await listNames(join(path, part)))
      files.push({ key: keyOf(name), name, path: join(path, part, name) });
  return files;
}

/** Returns the names in a directory. Those of other files than messages begin with a dot. */
async function listNames(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(missing<Dirent[]>([]));
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.')).map(({ name }) => name);
}

async function* readContent(path: string): AsyncGenerator<Buffer> {
  const ends = new LineEnds();
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) yield ends.next(piece);
}

function readOptional(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(missing(''));
}

function statOptional(path: string): Promise<Stats | undefined> {
  return stat(path).catch(missing<Stats | undefined>(undefined));
}

/** Returns a handler of errors that takes `value` for a file that does not exist. */
function missing<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (errorCode(error) === 'ENOENT') return value;
    throw error;
  };
}
