/** Reads an archive whose format is found out: a maildir, a file in mbox format, or a directory of such files. */
import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { validFolderName } from './fit-name.ts';
import { folderOfFile, readFromLine } from './mbox-format.ts';
import { type ArchivedMessage, PIECE_BYTES } from './message.ts';
import { isMaildir, readMaildir } from './read-maildir.ts';
import { readMbox } from './read-mbox.ts';

/** Reports a path that holds no mail in a known format. */
export class UnknownArchiveError extends Error {
  override readonly name = 'UnknownArchiveError';
}

/**
 * Yields the messages of an archive, folder by folder.
 *
 * @param folder the folder that takes the messages: those of INBOX, or of a single file, are in it and those of other folders below it
 * @throws UnknownArchiveError before the first message; errors of the file system
 */
export async function* readArchive(path: string, folder = 'INBOX'): AsyncGenerator<ArchivedMessage> {
  for await (const message of readAny(path))
    yield {
      ...message,
      folder: validFolderName(folder === 'INBOX' ? message.folder : nameBelow(folder, message.folder)),
    };
}

function nameBelow(folder: string, name: string): string {
  return name === 'INBOX' ? folder : `${folder}/${name}`;
}

async function* readAny(path: string): AsyncGenerator<ArchivedMessage> {
  const found = await stat(path);
  if (!found.isDirectory()) {
    if (found.size > 0 && !(await isMbox(path)))
      throw new UnknownArchiveError(`${path} is neither a maildir nor a file in mbox format`);
    yield* readMbox(openFile(path), 'INBOX');
    return;
  }
  if (await isMaildir(path)) return yield* readMaildir(path);
  let isEmpty = true;
  for await (const file of findMboxes(path, '')) {
    isEmpty = false;
    yield* readMbox(openFile(join(path, file)), folderOfFile(file));
  }
  if (isEmpty) throw new UnknownArchiveError(`${path} holds neither a maildir nor files in mbox format`);
}

function openFile(path: string): AsyncIterable<Buffer> {
  return createReadStream(path, { highWaterMark: PIECE_BYTES });
}

/** Maximum number of levels of directories in which files are looked for. */
const MAX_LEVELS = 20;

/** Yields the paths of the mbox files below a directory, relative to the root. */
async function* findMboxes(root: string, below: string): AsyncGenerator<string> {
  const entries = await readdir(join(root, below), { withFileTypes: true });
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isFile() && (await isMbox(join(root, path)))) yield path;
    if (entry.isDirectory() && path.split('/').length < MAX_LEVELS) yield* findMboxes(root, path);
  }
}

/** Maximum length of the first line, which names the sender and a date. */
const MAX_FIRST_BYTES = 1_024;

async function isMbox(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_FIRST_BYTES), 0, MAX_FIRST_BYTES, 0);
    const start = buffer.subarray(0, bytesRead);
    return readFromLine(start.subarray(0, start.indexOf('\n') + 1)) !== undefined;
  } finally {
    await file.close();
  }
}
