/**
 * Remembers on disk what was shipped, so that the chain of segments goes on after a restart, a crash and a gap. The folder has a **log**, with a record
 * for each cut, and a **snapshot** of what a follower had at some cut. The snapshot with the records after it says what a follower has now.
 *
 * - A segment has its name in the spool, durably, before its record is in the log, and is sent only after its record is durable there. So the log
 *   has each segment that may have been sent. After a crash, the spool may have one segment that the log does not have: it was not sent, and is removed.
 * - A record has the fingerprints of its pages. They are durable with it, and not written later: an old fingerprint would stand for a page
 *   that the follower has not any more.
 * - A snapshot that a scan makes (scan.ts) counts only once the first cut that was collected after the scan has its record. It has pages that no
 *   segment had before that cut.
 * - Half a record at the end of the log was not durable. Anything else that is not as it should be makes the chain unknown, and a new base follows.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { flushPath } from '../../db/flush-files.ts';
import { decodeFrames, encodeFrame, type Frame } from './frames.ts';
import {
  type ChainHead,
  type ChainIdentity,
  type ChainRecord,
  decodeRecord,
  decodeSnapshot,
  encodeRecord,
  encodeSnapshot,
} from './records.ts';
import type { Shipped } from './shipped.ts';

/** Size of the log from which it is folded into the snapshot, in bytes: 20 for each page that was shipped. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;
/** Number of such sizes that the log may have while there is no snapshot. Then the chain stays unknown: a base took too long, or its scan has failed. */
const MAX_UNFOLDED = 16;

const LOG = 'log';
const SNAPSHOT = 'snapshot';
/** The snapshot of a scan, until it counts. */
const SCANNED = 'scanned';

/** The newest cut. */
type LastCut = Pick<ChainRecord, 'number' | 'takenAt' | 'cuts'>;

export class Chain {
  readonly #folder: string;
  readonly #identity: () => ChainIdentity;
  readonly #maxLogBytes: number;
  #head: ChainHead | undefined;
  #logBytes = 0;
  #last: LastCut | undefined;
  /** True while a snapshot of a scan does not count yet. The records that it needs stay in the log. */
  #isScanned = false;
  /** True after the log had too much to keep without a snapshot. */
  #isGivenUp = false;

  /** Opens the chain in a folder, which is made when it does not exist. One with another identity is forgotten. */
  constructor(folder: string, identity: () => ChainIdentity, maxLogBytes = MAX_LOG_BYTES) {
    this.#folder = folder;
    this.#identity = identity;
    this.#maxLogBytes = maxLogBytes;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const log = readIfExists(join(folder, LOG));
    if (log) this.#open(log);
  }

  /** The newest cut; undefined when none is known. */
  get last(): LastCut | undefined {
    return this.#last;
  }

  /** True when the pages that a follower has are known, so that the chain can go on. */
  get isKnown(): boolean {
    return this.#last !== undefined && existsSync(join(this.#folder, SNAPSHOT));
  }

  /** Forgets everything, and begins a chain. */
  reset(): void {
    // The snapshot goes first: a log without it is of no use.
    for (const name of [SNAPSHOT, SCANNED]) rmSync(join(this.#folder, name), { force: true });
    this.#last = undefined;
    this.#isScanned = false;
    this.#isGivenUp = false;
    this.#head = { format: 1, id: randomUUID(), ...this.#identity() };
    this.#writeLog([]);
  }

  /**
   * Adds the record of a cut, which is durable then.
   * @param hasScan true for the first cut that was collected after the scan: from now on, its snapshot counts
   * @throws errors of the file system, after which the chain is not known any more
   */
  append(record: ChainRecord, hasScan: boolean): void {
    try {
      const file = openSync(join(this.#folder, LOG), 'r+');
      try {
        const bytes = encodeRecord(record);
        writeFully(file, bytes, this.#logBytes);
        fdatasyncSync(file);
        this.#logBytes += bytes.length;
      } finally {
        closeSync(file);
      }
      const { number, takenAt, cuts } = record;
      this.#last = { number, takenAt, cuts };
      if (hasScan && !this.#isGivenUp) this.#install(SCANNED);
      if (this.#logBytes > this.#maxLogBytes && this.isKnown && !this.#isScanned) this.#fold();
      if (this.#logBytes > MAX_UNFOLDED * this.#maxLogBytes) this.#giveUp(record);
    } catch (error) {
      this.#last = undefined;
      rmSync(join(this.#folder, SNAPSHOT), { force: true });
      throw error;
    }
  }

  /** Returns what a follower has at the newest cut; undefined when that is not known. */
  load(): Shipped | undefined {
    const file = this.isKnown ? readIfExists(join(this.#folder, SNAPSHOT)) : undefined;
    const [head, frame] = file ? decodeFrames(file) : [];
    if (!head || !frame || !isDeepStrictEqual(head.value, this.#head)) return undefined;
    const { shipped, after } = decodeSnapshot(frame);
    for (const record of this.#records()) if (record.number > after) shipped.apply(record);
    return shipped;
  }

  /** Writes what a scan has found. `after` is the number of the last record before the changes were followed that the scan relies on. */
  keepScan(shipped: Shipped, after: number): void {
    this.#isScanned = true;
    this.#write(SCANNED, [encodeSnapshot(shipped, after)]);
  }

  /** Forgets what a scan has found, because it failed. */
  dropScan(): void {
    this.#isScanned = false;
    rmSync(join(this.#folder, SCANNED), { force: true });
  }

  #open(log: Buffer): void {
    const [head] = decodeFrames(log);
    const { id, ...known } = (head?.value ?? {}) as ChainHead;
    if (!head || !isDeepStrictEqual(known, { format: 1, ...this.#identity() })) return;
    this.#head = { ...known, id };
    this.#logBytes = head.end;
    for (const { value, end } of [...decodeFrames(log)].slice(1)) {
      const { number, takenAt, cuts } = value as LastCut;
      this.#last = { number, takenAt, cuts };
      this.#logBytes = end;
    }
    this.#dropHalf();
  }

  /** Removes half a record. A whole one of a process that was killed may not be on the disk yet, and its segment is about to be sent. */
  #dropHalf(): void {
    const file = openSync(join(this.#folder, LOG), 'r+');
    try {
      ftruncateSync(file, this.#logBytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  /** Yields the records of the log. */
  *#records(): Generator<ChainRecord> {
    const log = readFileSync(join(this.#folder, LOG)).subarray(0, this.#logBytes);
    let isHead = true;
    for (const frame of decodeFrames(log)) {
      if (!isHead) yield decodeRecord(frame as Frame);
      isHead = false;
    }
  }

  /** Makes the snapshot that of the newest cut, and keeps only its record in the log. */
  #fold(): void {
    const shipped = this.load();
    const last = [...this.#records()].at(-1);
    if (!shipped || !last) return;
    this.#write(SNAPSHOT, [encodeSnapshot(shipped, last.number)]);
    this.#writeLog([encodeRecord(last)]);
  }

  /** Ends to keep what was shipped, but for the last record: the next segment names the one before it. */
  #giveUp(last: ChainRecord): void {
    for (const name of [SNAPSHOT, SCANNED]) rmSync(join(this.#folder, name), { force: true });
    this.#isGivenUp = true;
    this.#writeLog([encodeRecord(last)]);
  }

  #writeLog(records: readonly Buffer[]): void {
    this.#logBytes = this.#write(LOG, records);
  }

  /** Replaces a file durably. Returns its size. */
  #write(name: string, frames: readonly Buffer[]): number {
    const temporary = join(this.#folder, `${name}.new`);
    const bytes = Buffer.concat([encodeFrame(this.#head, []), ...frames]);
    const file = openSync(temporary, 'w', 0o600);
    try {
      writeFully(file, bytes, 0);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, join(this.#folder, name));
    flushPath(this.#folder);
    return bytes.length;
  }

  #install(name: string): void {
    renameSync(join(this.#folder, name), join(this.#folder, SNAPSHOT));
    flushPath(this.#folder);
    this.#isScanned = false;
  }
}

function readIfExists(file: string): Buffer | undefined {
  return existsSync(file) ? readFileSync(file) : undefined;
}

function writeFully(file: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(file, bytes, done, bytes.length - done, at + done);
}
