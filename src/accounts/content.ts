/**
 * The bytes of messages. Small ones are in the database. Large ones are in files, which are durable before a row names them. What
 * clients ask for is read from the bytes once, when they arrive.
 */
import { createHash, type Hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { DamagedBlobError } from '../blobs/damaged.ts';
import { FileWriter, fileChunks, fileRange, linkFile, pathOf, removeFile } from '../blobs/files.ts';
import type { MailboxMessage } from '../mail/mailbox-message/read.ts';
import type { OctetRange } from '../mail/message/header-block.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { errorCode } from '../system/errors.ts';
import type { OpenAccount } from './account.ts';
import { findHeader, findStoredContent, isFileInUse, type NewContent } from './content-store.ts';
import { contentFolder } from './folder.ts';

/**
 * Maximum size of a content in the database. A larger one costs less in a file, which is not copied through the WAL.
 */
export const INLINE_BYTES = 64 * 1024;

/** Maximum number of large messages of this thread that are in memory, twice each, while they are read. */
const MAX_LARGE_IN_MEMORY = 4;
const largeContents = new ConcurrencyLimiter({ maxRunning: MAX_LARGE_IN_MEMORY });

/** A durable file of another owner, such as a blob of the main database. */
type SourceFile = { path: string; sha256: string };

/** Bytes that no row names yet. They are added to folders (add.ts), or discarded. */
export type PreparedContent = {
  row: NewContent;
  header: Buffer;
  /** Everything after the header; null when a file holds all bytes. */
  body: Buffer | null;
  search: MailboxMessage['search'];
};

/**
 * Makes the bytes of a message durable if they are large, and reads from them what clients ask for. The caller bounds the size
 * of a message.
 *
 * @param source the bytes in order, or a file to link to
 * @throws any error of `source`; AppError unavailable when the disk is full or the parser is busy; DamagedBlobError when the file
 * does not match its hash
 */
export async function prepareContent(
  account: OpenAccount,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | SourceFile,
): Promise<PreparedContent> {
  const { octets, blobSha256 } =
    'path' in source ? await linkContent(account, source) : await collect(account, source);
  if (octets) return await describeContent(account, octets, null);
  try {
    const file = pathOf(contentFolder(account.folder), blobSha256);
    return await largeContents.run(async () => describeContent(account, await readFile(file), blobSha256), {
      owner: account.id,
    });
  } catch (error) {
    await discardFile(account, blobSha256);
    throw error;
  }
}

/**
 * Reads from the bytes of a message what clients ask for.
 * @param blobSha256 names the file of the bytes; null when the database holds them
 */
export async function describeContent(
  { id, app }: Pick<OpenAccount, 'id' | 'app'>,
  octets: Buffer,
  blobSha256: string | null,
): Promise<PreparedContent> {
  const message = await app.parser.read(octets, id);
  const headerEnd = message.root.body;
  return {
    row: { ...describe(message), sizeBytes: octets.length, crc32: crc32(octets), blobSha256 },
    header: Buffer.from(octets.subarray(0, headerEnd)),
    body: blobSha256 === null ? Buffer.from(octets.subarray(headerEnd)) : null,
    search: message.search,
  };
}

function describe(message: MailboxMessage): Omit<NewContent, 'sizeBytes' | 'crc32' | 'blobSha256'> {
  const { parserVersion, isOpaque, root, envelope, body, bodyStructure, sort, thread, preview } = message;
  return {
    parserVersion,
    isOpaque: isOpaque ? 1 : 0,
    root: JSON.stringify(root),
    envelope: envelope.ascii,
    envelopeUtf8: envelope.utf8,
    body: body.ascii,
    bodyUtf8: body.utf8,
    bodyStructure: bodyStructure.ascii,
    bodyStructureUtf8: bodyStructure.utf8,
    sort: JSON.stringify(sort),
    messageId: thread.messageId,
    references: JSON.stringify(thread.references),
    preview,
  };
}

/** The bytes of a small content, or the name of the file of a large one. */
type Collected = { octets: Buffer; blobSha256: null } | { octets: undefined; blobSha256: string };

/** Holds small contents in memory, and writes larger ones to a file while they arrive, which may take a slow client long. */
async function collect(
  account: OpenAccount,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Collected> {
  const root = contentFolder(account.folder);
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let hash: Hash | undefined;
  let file: FileWriter | undefined;
  try {
    for await (const piece of source) {
      if (!file && heldBytes + piece.length <= INLINE_BYTES) {
        held.push(piece);
        heldBytes += piece.length;
        continue;
      }
      file ??= await FileWriter.open(root);
      hash ??= createHash('sha256');
      for (const bytes of [...held.splice(0), piece]) {
        hash.update(bytes);
        await file.write(bytes);
      }
    }
    if (!file || !hash) return { octets: Buffer.concat(held), blobSha256: null };
    const sha256 = hash.digest('hex');
    // The file is known to be needed before it has its name, so that nothing removes it in between.
    account.preparedFiles.add(sha256);
    await file.finish(sha256).catch((error) => {
      account.preparedFiles.delete(sha256);
      throw error;
    });
    account.app.followed.addFile(account.id, sha256);
    return { octets: undefined, blobSha256: sha256 };
  } finally {
    await file?.close();
  }
}

/** Small files are copied into the database like others. */
async function linkContent(account: OpenAccount, { path, sha256 }: SourceFile): Promise<Collected> {
  const { size } = await stat(path);
  const hash = createHash('sha256');
  const held: Buffer[] = [];
  for await (const chunk of fileChunks(path, size)) {
    hash.update(chunk);
    if (size <= INLINE_BYTES) held.push(chunk);
  }
  if (hash.digest('hex') !== sha256)
    throw new DamagedBlobError(path, 'the file holds other bytes than were stored');
  if (size <= INLINE_BYTES) return { octets: Buffer.concat(held), blobSha256: null };
  account.preparedFiles.add(sha256);
  await linkFile(contentFolder(account.folder), path, sha256).catch((error) => {
    account.preparedFiles.delete(sha256);
    throw error;
  });
  account.app.followed.addFile(account.id, sha256);
  return { octets: undefined, blobSha256: sha256 };
}

/** Yields the bytes of a content that was prepared and not added yet. */
export function preparedChunks(
  account: OpenAccount,
  { row, header, body }: PreparedContent,
): AsyncIterable<Buffer> {
  if (row.blobSha256 !== null)
    return fileChunks(pathOf(contentFolder(account.folder), row.blobSha256), row.sizeBytes);
  return Readable.from([header, body ?? Buffer.alloc(0)]);
}

/** Discards a content that was prepared and is not added. */
export function discard(account: OpenAccount, content: PreparedContent): Promise<void> {
  return discardFile(account, content.row.blobSha256);
}

async function discardFile(account: OpenAccount, sha256: string | null): Promise<void> {
  if (sha256 === null) return;
  account.preparedFiles.delete(sha256);
  await removeUnusedFile(account, sha256);
}

/** Removes a file unless a content is in it, or was prepared with it. */
export async function removeUnusedFile(account: OpenAccount, sha256: string): Promise<void> {
  const { db, preparedFiles, fileHolds } = account;
  if ((await isFileInUse(db.read, sha256)) || preparedFiles.has(sha256) || fileHolds.isHeld) return;
  await removeFile(contentFolder(account.folder), sha256);
}

/**
 * Returns all bytes of a content.
 * @throws DamagedBlobError when they are not those that were stored
 */
export async function readContent(account: OpenAccount, contentId: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of contentChunks(account, contentId)) pieces.push(piece);
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
}

/**
 * Yields all bytes of a content in order, each chunk in memory of its own.
 * @throws DamagedBlobError before the last chunk, when the bytes are not those that were stored
 */
export async function* contentChunks(account: OpenAccount, contentId: number): AsyncGenerator<Buffer> {
  const { sizeBytes, blobSha256, header, body, crc32: expected } = await stored(account, contentId);
  if (blobSha256 === null) {
    const bytes = Buffer.concat([header, body ?? Buffer.alloc(0)]);
    if (bytes.length !== sizeBytes || crc32(bytes) !== expected)
      throw new DamagedBlobError(account.db.file, `content ${contentId} has other bytes than were stored`);
    yield bytes;
    return;
  }
  const path = pathOf(contentFolder(account.folder), blobSha256);
  let checksum = 0;
  let leftBytes = sizeBytes;
  for await (const chunk of namingMissing(path, fileChunks(path, sizeBytes))) {
    checksum = crc32(chunk, checksum);
    leftBytes -= chunk.length;
    if (leftBytes === 0 && checksum !== expected)
      throw new DamagedBlobError(path, 'the file holds other bytes than were stored');
    yield chunk;
  }
}

/**
 * Returns a range of the bytes of a content. Those of a file are not compared with their checksum.
 * @throws DamagedBlobError when bytes are missing
 */
export async function readRange(
  account: OpenAccount,
  contentId: number,
  { start, end }: OctetRange,
): Promise<Buffer> {
  const { blobSha256, header } = await stored(account, contentId);
  if (end <= header.length) return Buffer.from(header.subarray(start, end));
  if (blobSha256 === null) return (await readContent(account, contentId)).subarray(start, end);
  const path = pathOf(contentFolder(account.folder), blobSha256);
  try {
    return await fileRange(path, start, end);
  } catch (error) {
    throw missing(path, error);
  }
}

/** Returns the header of a content, with the empty line at its end. */
export async function readHeader(account: OpenAccount, contentId: number): Promise<Buffer> {
  const header = await findHeader(account.db.read, contentId);
  if (!header) throw new Error(`content ${contentId} does not exist`);
  return asBuffer(header);
}

async function stored(account: OpenAccount, contentId: number) {
  const content = await findStoredContent(account.db.read, contentId);
  if (!content) throw new Error(`content ${contentId} does not exist`);
  return content;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

async function* namingMissing(path: string, chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    throw missing(path, error);
  }
}

function missing(path: string, error: unknown): unknown {
  if (errorCode(error) !== 'ENOENT') return error;
  return new DamagedBlobError(path, 'the file is missing', { cause: error });
}
