/**
 * Stores the bytes of messages, for one owner (blobs/owner.ts). Small ones are part of the transaction of their mail. Large ones
 * become files that are named by their hash and flushed before that transaction begins, so that a committed row always finds its
 * bytes. Large ones are never completely in memory: they are written as they arrive, and read in pieces.
 */
import { isAscii } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import { isWithin } from '../db/installation/uses.ts';
import type { BlobRow } from '../db/tables.ts';
import type { DiskSpace } from '../system/disk-space.ts';
import { AppError, errorCode, errorMessage } from '../system/errors.ts';
import { type Id, newId } from '../system/ids.ts';
import type { System } from '../system/system.ts';
import { checkedChunks, checkFile, checkInline } from './check.ts';
import { FileHolds } from './file-holds.ts';
import { FileWriter, fileHead, pathOf, removeFile } from './files.ts';
import { type CollectedFiles, NewFiles } from './new-files.ts';
import type { BlobOwner } from './owner.ts';
import { type ScratchFile, writeScratch } from './scratch.ts';
import type { StoredBytes } from './store.ts';
import { SWEEP_AGE_MS, type Swept, sweepFiles } from './sweep.ts';

type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

export type BlobContent = {
  sizeBytes: number;
  /** True when the bytes contain octets outside ASCII (RFC 6152). */
  isEightBit: boolean;
  /** All bytes, when they are stored in the database; otherwise undefined. */
  inline: Buffer | undefined;
  /** The file that holds all bytes, when they are not stored in the database. Nobody changes it, so it may be linked. */
  file: { path: string; sha256: string } | undefined;
  /** Returns the bytes before `end`, or fewer when the blob is shorter. */
  head(end: number): Promise<Buffer>;
  /**
   * Yields all bytes in order. The file is closed after the last byte was read, or when the reader stops early.
   * @throws DamagedBlobError before the last bytes of a file that does not match its hash
   */
  chunks(): AsyncIterable<Buffer>;
};

export type Blobs = {
  /**
   * Makes large bytes durable and returns the row that `insertBlob` adds in the caller's transaction. The caller must
   * not change a piece after handing it over. After an error no bytes stay behind.
   *
   * @param mayHold asked before more bytes are held in memory; when it returns false, all bytes go to a file at once
   * @throws AppError unavailable, when the disk is full or the file cannot be written; any error of `pieces`
   */
  prepare(pieces: Pieces, mayHold?: (bytes: number) => boolean): Promise<BlobRow>;
  /**
   * Opens a stored blob. The bytes of a file are compared with their hash while they are read.
   * @throws Error when there is no such blob
   * @throws DamagedBlobError when its bytes are missing, incomplete, or were changed in the database
   */
  open(id: Id<'blob'>): Promise<BlobContent>;
  /** Opens the bytes of a blob that was prepared and is not committed yet. */
  openPrepared(row: BlobRow): BlobContent;
  /**
   * Writes bytes that can be made again to a file that is not part of any blob. The caller removes it.
   * @throws AppError unavailable, when the disk is full or the file cannot be written; any error of `pieces`
   */
  writeScratch(pieces: Iterable<Buffer>): Promise<ScratchFile>;
  /**
   * Deletes the file of a blob that was never committed, or whose row no longer names it. The file stays when another
   * row names the same bytes, or when another request has prepared them and may still commit; the sweep removes it
   * later.
   */
  discard(bytes: StoredBytes): Promise<void>;
  /** Begins to note the files that are new, without those that were noted before, or ends that. */
  followFiles(isFollowed?: boolean): void;
  /** Returns the files that are new since the last call, among them those of all rows that were committed before. */
  takeNewFiles(): CollectedFiles;
  /** Keeps files from being removed. `discard` leaves them to a later sweep then. */
  readonly holds: FileHolds;
  /**
   * Moves files that no row names to the trash. Stops without moving any when they are suspiciously many, unless
   * `forced`.
   */
  sweep(options?: { forced: boolean }): Promise<Swept>;
};

/** The part of blobs that a thread needs which sends mail. */
export type ReadableBlobs = Pick<Blobs, 'open' | 'writeScratch'>;

/** Maximum size of a blob that is stored in the database. */
export const INLINE_BYTES = 256 * 1024;
/** Number of bytes that are hashed between two waits for the disk. Hashing them takes a fraction of a millisecond. */
const SLICE_BYTES = 256 * 1024;

type BlobSystem = Pick<System, 'clock' | 'log'> & { disk: Pick<DiskSpace, 'reportFull'> };

/** Opens the blobs of an owner. It does not access the disk yet. */
export function openBlobs(system: BlobSystem, owner: BlobOwner): Blobs {
  const { root } = owner;
  const report = createFailureReport(system);
  const prepared = new PreparedBlobs();
  const holds = new FileHolds();
  const newFiles = new NewFiles();
  return {
    holds,
    followFiles: (isFollowed = true) => newFiles.follow(isFollowed),
    takeNewFiles: () => newFiles.take(),
    async prepare(pieces, mayHold = () => true) {
      const now = system.clock.now();
      const id = newId('blob', now);
      const onHash = (sha256: string) => prepared.add({ id, sha256 }, system.clock.elapsed());
      const stored = await store(root, pieces, { mayHold, onHash }).catch(report);
      if (stored.data === null) newFiles.add(stored.sha256);
      return { id, createdAt: now, ...stored };
    },
    ...readable(owner, report),
    openPrepared: (row) => (row.data === null ? inFile(row, root) : inDatabase(row, bufferOf(row.data))),
    async discard({ id, sha256, data }) {
      if (data !== null) return;
      prepared.delete({ id, sha256 });
      if ((await owner.isFileInUse(sha256)) || prepared.has(sha256) || holds.isHeld) return;
      await removeFile(root, sha256);
    },
    sweep({ forced } = { forced: false }) {
      const now = system.clock.now();
      prepared.deleteBefore(system.clock.elapsed() - SWEEP_AGE_MS);
      const isKeeping = (owner.keepFilesUntil ?? now) > now;
      return sweepFiles(root, {
        now,
        isNamed: owner.isFileInUse,
        isPrepared: (sha256) => prepared.has(sha256),
        wasInUse: (at) => isWithin(owner.uses, at),
        mode: holds.isHeld ? 'keep' : forced ? 'force' : isKeeping ? 'keep' : 'normal',
      });
    },
  };
}

type ReadOwner = Pick<BlobOwner, 'root' | 'find'>;

/** Opens the blobs of an owner in a thread that adds none. */
export function openReadableBlobs(system: BlobSystem, owner: ReadOwner): ReadableBlobs {
  return readable(owner, createFailureReport(system));
}

function readable(owner: ReadOwner, report: (error: unknown) => never): ReadableBlobs {
  return {
    open: (id) => openBlob(owner, id),
    writeScratch: (pieces) => writeScratch(owner.root, pieces).catch(report),
  };
}

/**
 * Opens a stored blob, as `Blobs.open` does. It is for threads, which only read.
 * @throws the errors of `Blobs.open`
 */
export async function openBlob({ root, find }: ReadOwner, id: Id<'blob'>): Promise<BlobContent> {
  const row = await find(id);
  if (!row) throw new Error(`blob ${id} does not exist`);
  if (row.data !== null) {
    checkInline(row, row.data);
    return inDatabase(row, bufferOf(row.data));
  }
  await checkFile(root, row);
  return inFile(row, root);
}

/** Limits the log: callers retry, so a folder that cannot be written would fill it. */
const REPORT_PERIOD_MS = 60_000;

/**
 * Passes an error on. A file that cannot be written is a problem for the operator, so it is logged, at most once a
 * minute.
 */
function createFailureReport({ clock, log, disk }: BlobSystem): (error: unknown) => never {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    const cause = error instanceof AppError ? error.cause : undefined;
    if (error instanceof AppError && error.options.shortage === 'disk') disk.reportFull();
    if (cause !== undefined && clock.elapsed() - reportedAt >= REPORT_PERIOD_MS) {
      reportedAt = clock.elapsed();
      const reason = errorMessage(cause);
      log.error(
        { code: errorCode(cause), reason },
        'a file of a message cannot be written; large messages are refused with 503',
      );
    }
    throw error;
  };
}

type Stored = Pick<BlobRow, 'sha256' | 'sizeBytes' | 'eightBit' | 'data'>;

type Storing = {
  mayHold: (bytes: number) => boolean;
  /** Called with the hash of a file before the file gets its name. */
  onHash: (sha256: string) => void;
};

/**
 * Collects pieces in memory until they are too large for a row, or no more may be held. From then on they are written to
 * a file.
 */
async function store(root: string, pieces: Pieces, { mayHold, onHash }: Storing): Promise<Stored> {
  const survey: Survey = { hash: createHash('sha256'), sizeBytes: 0, eightBit: 0 };
  const held: Uint8Array[] = [];
  let file: FileWriter | undefined;
  try {
    for await (const piece of pieces) {
      for (const slice of slicesOf(piece)) {
        take(survey, slice);
        if (file) {
          await file.write(slice);
          continue;
        }
        held.push(slice);
        if (survey.sizeBytes <= INLINE_BYTES && mayHold(slice.length)) continue;
        file = await FileWriter.open(root);
        for (const first of held.splice(0)) await file.write(first);
      }
    }
    const { hash, ...facts } = survey;
    const sha256 = hash.digest('hex');
    if (!file) return { ...facts, sha256, data: joined(held, facts.sizeBytes) };
    // The blob is registered before the file has its name, so that no sweep runs between the two.
    onHash(sha256);
    await file.finish(sha256);
    return { ...facts, sha256, data: null };
  } finally {
    await file?.close();
  }
}

type Survey = { hash: Hash; sizeBytes: number; eightBit: 0 | 1 };

function take(survey: Survey, bytes: Uint8Array): void {
  survey.hash.update(bytes);
  survey.sizeBytes += bytes.length;
  if (survey.eightBit === 0 && !isAscii(bytes)) survey.eightBit = 1;
}

function* slicesOf(piece: Uint8Array): Generator<Uint8Array> {
  if (piece.length <= SLICE_BYTES) return yield piece;
  for (let start = 0; start < piece.length; start += SLICE_BYTES) {
    yield piece.subarray(start, start + SLICE_BYTES);
  }
}

/**
 * Joins the pieces in memory of their own: a row is copied to the writer thread together with the whole memory that
 * its bytes are a view of.
 */
function joined(pieces: readonly Uint8Array[], sizeBytes: number): Buffer {
  const whole = Buffer.allocUnsafeSlow(sizeBytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Smallest memory that is moved to another thread. To copy less costs no more than to move it. */
const MIN_MOVED_BYTES = 16 * 1024;

/** Returns the memory of a prepared blob that the write which commits it may take, because nobody reads the bytes here any more. */
export function memoryOf({ data }: BlobRow): ArrayBuffer[] {
  const isOwn = data !== null && data.byteLength === data.buffer.byteLength;
  return isOwn && data.byteLength >= MIN_MOVED_BYTES && data.buffer instanceof ArrayBuffer
    ? [data.buffer]
    : [];
}

type Facts = Pick<BlobRow, 'sha256' | 'sizeBytes' | 'eightBit'>;

function inDatabase({ sizeBytes, eightBit }: Facts, bytes: Buffer): BlobContent {
  return {
    sizeBytes,
    isEightBit: eightBit === 1,
    inline: bytes,
    file: undefined,
    head: async (end) => bytes.subarray(0, end),
    async *chunks() {
      if (bytes.length > 0) yield bytes;
    },
  };
}

function inFile({ sha256, sizeBytes, eightBit }: Facts, root: string): BlobContent {
  return {
    sizeBytes,
    isEightBit: eightBit === 1,
    inline: undefined,
    file: { path: pathOf(root, sha256), sha256 },
    head: (end) => fileHead(root, sha256, Math.min(end, sizeBytes)),
    chunks: () => checkedChunks(pathOf(root, sha256), { sha256, sizeBytes }),
  };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

type Prepared = Pick<BlobRow, 'id' | 'sha256'>;

/**
 * Remembers large blobs that were prepared within about the last hour and whose rows may not be committed yet. Each is
 * known by the id of its row, so that a request that discards its own blob never takes the file of another request for
 * its own. Times are on the monotonic clock, because the wall clock may jump.
 */
class PreparedBlobs {
  /** Time of each preparation, by hash and then by the id of the blob. */
  readonly #times = new Map<string, Map<Prepared['id'], number>>();

  add({ id, sha256 }: Prepared, elapsedMs: number): void {
    const times = this.#times.get(sha256) ?? new Map();
    this.#times.set(sha256, times.set(id, elapsedMs));
  }

  has(sha256: string): boolean {
    return this.#times.has(sha256);
  }

  delete({ id, sha256 }: Prepared): void {
    const times = this.#times.get(sha256);
    times?.delete(id);
    if (times?.size === 0) this.#times.delete(sha256);
  }

  deleteBefore(elapsedMs: number): void {
    for (const [sha256, times] of this.#times)
      for (const [id, at] of times) if (at < elapsedMs) this.delete({ id, sha256 });
  }
}
