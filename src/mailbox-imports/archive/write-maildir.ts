/**
 * Writes a maildir in the layout of Maildir++. A message is written in `tmp` and gets its name in `cur` when it is durable, so that
 * programs that read the maildir meanwhile see whole messages alone.
 */
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { flushDirectory } from '../../db/flush-files.ts';
import { errorCode } from '../../system/errors.ts';
import {
  directoryOfFolder,
  formatFlags,
  formatKeywords,
  hasOwnLetter,
  KEYWORDS_FILE,
  keyOf,
  MAX_KEYWORDS,
  readKeywords,
} from './maildir-format.ts';
import { type ArchiveWriter, DIRECTORY_MODE, FILE_MODE, type WrittenMessage, withLf } from './write.ts';

type Folder = {
  path: string;
  keywords: string[];
  /** Keys of the messages that it has. */
  known: Set<string>;
};

/** A message that was written and has no name in `cur` yet. */
type Written = { file: FileHandle; temporary: string; name: string };

/** Opens a maildir, which need not exist yet. The host is part of the names of new messages. */
export function createMaildirWriter(root: string, host: string): ArchiveWriter {
  const folders = new Map<string, Folder>();
  let written: Written[] = [];

  async function folderOf(name: string): Promise<Folder> {
    const known = folders.get(name);
    if (known) return known;
    // Folders come one after another, so only one list of names is held.
    folders.clear();
    const folder = await openFolder(join(root, directoryOfFolder(name)), name);
    folders.set(name, folder);
    return folder;
  }

  return {
    async add(message) {
      const folder = await folderOf(message.folder);
      const key = fileKey(message, host);
      if (folder.known.has(key)) return;
      folder.known.add(key);
      await learnKeywords(folder, message.flags);
      const temporary = join(folder.path, 'tmp', key);
      const name = join(folder.path, 'cur', `${key}${formatFlags(message.flags, folder.keywords)}`);
      await rm(temporary, { force: true });
      const file = await open(temporary, 'wx', FILE_MODE);
      written.push({ file, temporary, name });
      for await (const piece of withLf(message.content)) await file.writeFile(piece);
      const seconds = message.receivedAt / 1_000;
      await utimes(temporary, seconds, seconds);
    },
    async flush() {
      const ready = written;
      written = [];
      await Promise.all(ready.map(({ file }) => file.datasync().finally(() => file.close())));
      for (const { temporary, name } of ready) await rename(temporary, name);
      for (const directory of new Set(ready.map(({ name }) => join(name, '..'))))
        await flushDirectory(directory);
    },
    async close() {
      for (const { file, temporary } of written.splice(0)) {
        await file.close();
        await rm(temporary, { force: true });
      }
    },
  };
}

/** Returns the part of a file name that stays the same: time, message and host, in the customary order. */
function fileKey({ receivedAt, key }: WrittenMessage, host: string): string {
  return `${Math.floor(receivedAt / 1_000)}.${key}.${host}`;
}

async function openFolder(path: string, name: string): Promise<Folder> {
  for (const part of ['tmp', 'new', 'cur'])
    await mkdir(join(path, part), { recursive: true, mode: DIRECTORY_MODE });
  // This file marks a folder below another maildir.
  if (name !== 'INBOX') await writeFile(join(path, 'maildirfolder'), '', { mode: FILE_MODE });
  const names = [...(await readdir(join(path, 'cur'))), ...(await readdir(join(path, 'new')))];
  const keywords = readKeywords(await readKeywordsFile(path));
  return { path, keywords: keywords.map((keyword) => keyword ?? ''), known: new Set(names.map(keyOf)) };
}

async function readKeywordsFile(path: string): Promise<string> {
  try {
    return await readFile(join(path, KEYWORDS_FILE), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}

/** Gives new keywords a letter, as long as there are letters. */
async function learnKeywords(folder: Folder, flags: readonly string[]): Promise<void> {
  const unknown = flags.filter(
    (flag) => !flag.startsWith('\\') && !hasOwnLetter(flag) && !folder.keywords.includes(flag),
  );
  const learned = unknown.slice(0, MAX_KEYWORDS - folder.keywords.length);
  if (learned.length === 0) return;
  folder.keywords.push(...learned);
  await writeFile(join(folder.path, KEYWORDS_FILE), formatKeywords(folder.keywords), { mode: FILE_MODE });
}
