/**
 * Exports a mailbox in slices. A file in the archive says how far each folder is, so an export that was interrupted goes on where it
 * ended, and a later one adds the messages that have come since.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ListedFolder } from '../../accounts/contents.ts';
import { errorCode } from '../../system/errors.ts';
import { makeDirectories } from '../../system/make-directories.ts';
import { writeFlushed } from '../../system/write-flushed.ts';
import { type ArchiveWriter, DIRECTORY_MODE } from '../archive/write.ts';
import { createMaildirWriter } from '../archive/write-maildir.ts';
import { createMboxWriter, type MboxSizes } from '../archive/write-mbox.ts';
import type { ExportRecord } from './admin-api.ts';
import { readRecords } from './records.ts';

export const FORMATS = ['maildir', 'mbox'] as const;
type Format = (typeof FORMATS)[number];

/** The mailbox that is exported. */
export type ExportSource = {
  listFolders(): Promise<readonly ListedFolder[]>;
  /** Yields a body with the next messages of a folder by UID; an empty one when there are none. */
  read(slice: { folder: string; after: number }): AsyncIterable<Uint8Array>;
};

type ExportOptions = {
  directory: string;
  format: Format;
  /** Address of the mailbox. Another one is not exported into the same directory. */
  address: string;
  /** Name of this installation, which is part of the names in a maildir. */
  hostname: string;
};

export type ExportProgress = { messages: number; bytes: number };

/** The position of a folder: all messages up to this UID are in the archive. `sizeBytes` is that of its mbox file. */
type Position = { uidValidity: number; lastUid: number; sizeBytes: number };
type State = { address: string; format: Format; folders: Record<string, Position> };

/** Reports that a directory holds something else. */
export class OtherExportError extends Error {
  override readonly name = 'OtherExportError';
}

const STATE_FILE = '.postrider-export.json';

/**
 * Exports all folders, and calls `onProgress` after each slice. Returns the numbers of what was added to the archive.
 * @throws OtherExportError; any error of the source and of the file system
 */
export async function exportMessages(
  source: ExportSource,
  options: ExportOptions,
  onProgress: (progress: ExportProgress) => void,
): Promise<ExportProgress> {
  const state = openState(options);
  const sizes: MboxSizes = new Map(
    Object.entries(state.folders).map(([folder, { sizeBytes }]) => [folder, sizeBytes]),
  );
  const writer = createWriter(options, sizes);
  const progress: ExportProgress = { messages: 0, bytes: 0 };
  try {
    for (const { name, uidValidity } of await source.listFolders()) {
      const start = startOf(state, { name, uidValidity }, sizes);
      for (let position = start; ; ) {
        const added = await addSlice(source, writer, { folder: name, ...position });
        if (added.lastUid === position.lastUid) break;
        await writer.flush();
        position = { uidValidity, lastUid: added.lastUid, sizeBytes: sizes.get(name) ?? 0 };
        state.folders[name] = position;
        writeFlushed(join(options.directory, STATE_FILE), `${JSON.stringify(state, null, 2)}\n`);
        progress.messages += added.messages;
        progress.bytes += added.bytes;
        onProgress({ ...progress });
      }
    }
  } finally {
    await writer.close();
  }
  return progress;
}

function openState({ directory, address, format }: ExportOptions): State {
  makeDirectories(directory, DIRECTORY_MODE);
  const state = readState(join(directory, STATE_FILE));
  if (!state) return { address, format, folders: {} };
  if (state.address === address && state.format === format) return state;
  throw new OtherExportError(`${directory} holds an export of ${state.address} as ${state.format}`);
}

function readState(file: string): State | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as State;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function createWriter({ directory, format, hostname }: ExportOptions, sizes: MboxSizes): ArchiveWriter {
  return format === 'mbox' ? createMboxWriter(directory, sizes) : createMaildirWriter(directory, hostname);
}

/** Returns where a folder goes on. One with another UIDVALIDITY is another folder, which is exported from its beginning. */
function startOf(
  { folders }: State,
  { name, uidValidity }: Pick<ListedFolder, 'name' | 'uidValidity'>,
  sizes: MboxSizes,
): Position {
  const known = folders[name];
  if (known?.uidValidity === uidValidity) return known;
  sizes.delete(name);
  return { uidValidity, lastUid: 0, sizeBytes: 0 };
}

type Slice = { messages: number; bytes: number; lastUid: number };

/** Adds the next messages of a folder. */
async function addSlice(
  source: ExportSource,
  writer: ArchiveWriter,
  { folder, uidValidity, lastUid }: Position & { folder: string },
): Promise<Slice> {
  const slice: Slice = { messages: 0, bytes: 0, lastUid };
  for await (const { about, content } of readRecords<ExportRecord>(source.read({ folder, after: lastUid }))) {
    const { uid, flags, receivedAt } = about;
    const message = { folder, key: `V${uidValidity}U${uid}`, flags, receivedAt, sender: senderOf(content) };
    await writer.add({ ...message, content: inOnePiece(content) });
    slice.messages += 1;
    slice.bytes += content.length;
    slice.lastUid = uid;
  }
  return slice;
}

async function* inOnePiece(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

/** Maximum length of a path with its field: addresses have at most 254 characters (RFC 5321 section 4.5.3.1.3). */
const MAX_PATH_BYTES = 400;

/** Returns the sender of the envelope, which delivery has put in front (RFC 5321 section 4.4); empty when there is none. */
function senderOf(content: Buffer): string {
  return /^Return-Path: <([^<>\r\n]*)>\r\n/.exec(content.toString('latin1', 0, MAX_PATH_BYTES))?.[1] ?? '';
}
