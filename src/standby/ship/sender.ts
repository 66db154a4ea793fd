/** Sends what waits in the spool to the store, in order. A store that fails is tried again, and nothing is left out meanwhile. */
import { createHash } from 'node:crypto';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ObjectBody, type ObjectStore, StoreError } from '../../objects/object-store.ts';
import { sleep } from '../../system/clock.ts';
import { errorMessage } from '../../system/errors.ts';
import type { System } from '../../system/system.ts';
import {
  type BaseList,
  baseCompleteObject,
  baseObject,
  PIECE_BYTES,
  type Piece,
  pieceSuffix,
  segmentObject,
} from '../names.ts';
import { pruneGenerations } from './prune.ts';
import { FIRST_CUT_FILE, type Spool, type SpooledBase, type SpooledSegment } from './spool.ts';

/** Time until a store that has failed is tried again: it doubles from the first to the last, in milliseconds. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

/** Time after which old generations are looked for again, in milliseconds. A store that is full gets no base, after which they would be. */
const PRUNE_MS = 3_600_000;

/** The newest segment that the store has. */
export type StoredSegment = { generation: string; sequence: number };

type SenderOptions = {
  store: ObjectStore;
  spool: Spool;
  installation: string;
  keepDays: () => number;
  /** Is called before anything in the store is changed. @throws StoreError while this host may have been replaced */
  requireOwner: () => void;
};

export class Sender {
  readonly #system: Pick<System, 'clock' | 'log'>;
  readonly #store: ObjectStore;
  readonly #spool: Spool;
  readonly #installation: string;
  readonly #keepDays: () => number;
  readonly #requireOwner: () => void;
  readonly #stopping = new AbortController();
  #added = Promise.withResolvers<void>();
  #ended: Promise<void> = Promise.resolve();
  /** Time of the monotonic clock, in milliseconds. */
  #pruneAt = 0;
  /** The reason why the store did not take the last object; undefined when it did. */
  failure: string | undefined;
  stored: StoredSegment | undefined;
  objects = 0;
  bytes = 0;

  constructor(
    system: Pick<System, 'clock' | 'log'>,
    { store, spool, installation, keepDays, requireOwner }: SenderOptions,
  ) {
    this.#system = system;
    this.#store = store;
    this.#spool = spool;
    this.#installation = installation;
    this.#keepDays = keepDays;
    this.#requireOwner = requireOwner;
  }

  start(): void {
    this.#ended = this.#run();
  }

  /** Tells that something was added to the spool. */
  wake(): void {
    this.#added.resolve();
    this.#added = Promise.withResolvers();
  }

  /** Ends after the object that is sent now. What waits stays in the spool. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    for (let retryMs = FIRST_RETRY_MS; !signal.aborted; ) {
      const added = this.#added.promise;
      try {
        await this.#pruneIfDue();
        if (!(await this.#sendNext())) {
          await added;
          continue;
        }
        this.failure = undefined;
        retryMs = FIRST_RETRY_MS;
      } catch (error) {
        this.#reportFailure(error);
        await sleep(this.#system.clock, retryMs, signal);
        retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
      }
    }
  }

  #reportFailure(error: unknown): void {
    const reason = errorMessage(error);
    if (reason !== this.failure)
      this.#system.log.error({ err: error }, 'the standby store did not take an object; it is tried again');
    this.failure = reason;
  }

  /** Sends one segment, or a base when no segment waits. Returns false when nothing waits. */
  async #sendNext(): Promise<boolean> {
    const segment = this.#spool.nextSegment();
    if (segment) {
      await this.#sendSegment(segment);
      return true;
    }
    const base = this.#spool.nextBase();
    if (base) await this.#sendBase(base);
    return base !== undefined;
  }

  async #sendSegment(segment: SpooledSegment): Promise<void> {
    const { generation, sequence, path, bytes } = segment;
    const name = segmentObject(this.#installation, generation, sequence);
    // The first piece is stored last: a segment whose own name is there is complete.
    for (let piece = Math.max(1, Math.ceil(bytes / PIECE_BYTES)) - 1; piece >= 0; piece--) {
      const start = piece * PIECE_BYTES;
      const body = { file: path, start, end: Math.min(bytes, start + PIECE_BYTES) };
      await this.#put(piece === 0 ? name : name + pieceSuffix(piece), body);
    }
    this.stored = { generation, sequence };
    await this.#spool.removeSegment(segment);
  }

  /**
   * Sends the files of a base in pieces, and the list of them last. Between two pieces it sends the segments of the generation before, so
   * that a new base delays nothing. After a failure it begins anew: the same pieces replace themselves.
   */
  async #sendBase(base: SpooledBase): Promise<void> {
    const { generation, path: folder, firstCut } = base;
    const pieces: Piece[] = [];
    const files = (await readdir(folder)).filter((name) => name !== FIRST_CUT_FILE).sort();
    for (const file of files)
      for await (const { bytes, ...piece } of piecesOf(folder, file)) {
        await this.#put(baseObject(this.#installation, generation, piece.name), { bytes });
        pieces.push({ ...piece, bytes: bytes.length });
        for (let next = this.#spool.nextSegment(); next; next = this.#spool.nextSegment())
          await this.#sendSegment(next);
        if (this.#stopping.signal.aborted) throw new Error('the daemon stops');
      }
    const list = Buffer.from(`${JSON.stringify({ pieces, firstCut } satisfies BaseList)}\n`);
    await this.#put(baseCompleteObject(this.#installation, generation), { bytes: list });
    await this.#spool.removeBase(base);
    this.#system.log.info({ generation, pieces: pieces.length }, 'the standby store has a new base');
    this.#pruneAt = 0;
  }

  /** Removes what is too old. An error of this keeps nothing from being sent. */
  async #pruneIfDue(): Promise<void> {
    const { clock, log } = this.#system;
    if (clock.elapsed() < this.#pruneAt) return;
    this.#pruneAt = clock.elapsed() + PRUNE_MS;
    try {
      this.#requireOwner();
      const options = { installation: this.#installation, keepDays: this.#keepDays(), now: clock.now() };
      const removed = await pruneGenerations(this.#store, options);
      if (removed > 0) log.info({ removed }, 'old generations were removed from the standby store');
    } catch (error) {
      // The object that is sent next says that the store cannot be reached.
      if (error instanceof StoreError && error.kind === 'unreachable') return;
      log.warn({ err: error }, 'old generations could not be removed from the standby store');
    }
  }

  async #put(name: string, body: ObjectBody): Promise<void> {
    this.#requireOwner();
    await this.#store.put(name, body);
    this.objects++;
    this.bytes += 'bytes' in body ? body.bytes.length : body.end - body.start;
  }
}

/** Yields the pieces of a file, of which one is in memory at a time. The name of the only piece of a small file is that of the file. */
async function* piecesOf(
  folder: string,
  file: string,
): AsyncGenerator<{ name: string; bytes: Buffer; sha256: string }> {
  const handle = await open(join(folder, file), 'r');
  try {
    const { size } = await handle.stat();
    const count = Math.max(1, Math.ceil(size / PIECE_BYTES));
    for (let piece = 0; piece < count; piece++) {
      const bytes = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, size - piece * PIECE_BYTES));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, piece * PIECE_BYTES);
      if (bytesRead !== bytes.length) throw new Error(`${file} became shorter while it was sent`);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      yield { name: count === 1 ? file : file + pieceSuffix(piece), bytes, sha256 };
    }
  } finally {
    await handle.close();
  }
}
