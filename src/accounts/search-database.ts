/**
 * The search texts of an account. They are written some seconds after their messages, together, and opened when they are first needed.
 * When they are lost, damaged or those of another database, they are made again.
 */
import { rmSync } from 'node:fs';
import { DamagedDatabaseError, openPrivateDatabase, type PrivateDatabase } from '../db/private-database.ts';
import type { SearchText } from '../mail/message/search-text.ts';
import { sleep, type Timer } from '../system/clock.ts';
import { nextSlice } from '../system/slices.ts';
import type { System } from '../system/system.ts';
import {
  type FieldMatches,
  type FieldSought,
  findInField,
  insertFields,
  type NewFields,
} from './search-field-store.ts';
import {
  deleteTexts,
  findByTrigrams,
  findMatches,
  findSource,
  indexNextTexts,
  insertTexts,
  listKnown,
  type Match,
  type NewText,
  type Sought,
  setIdentity,
} from './search-store.ts';
import { SEARCH_SCHEMA, type SearchTables } from './search-tables.ts';

type SearchSystem = Pick<System, 'clock' | 'log' | 'crashPoint'>;

/** Time for which texts are collected before they are written. Our own. */
const COLLECTING_MS = 5_000;
/** Maximum size of the texts that are collected, in characters. */
const MAX_COLLECTED_CHARACTERS = 1024 * 1024;
/** Size of all texts above which they are indexed. Smaller ones are read through in 60 ms. Our own. */
const INDEXED_BYTES = 20 * 1024 * 1024;
/** Time between two steps of indexing, which leaves most of the time to sessions. Our own. */
const INDEXING_PAUSE_MS = 10;
/** Time in which a step of a search should end. */
const STEP_MS = 5;
const FIRST_STEP = 256;
/** Time without use after which the database is closed. It costs 300 KiB and two descriptors. Our own. */
const IDLE_MS = 30_000;
/** Maximum number of texts that one step reads. */
const MAX_STEP = 4_096;

type SearchOptions = { file: string; identity: string; indexedBytes?: number };

export class SearchDatabase {
  readonly #system: SearchSystem;
  readonly #file: string;
  readonly #identity: string;
  readonly #indexedBytes: number;
  #database: Promise<PrivateDatabase<SearchTables>> | undefined;
  #collected: NewText[] = [];
  #collectedCharacters = 0;
  #flushing: Promise<void> | undefined;
  /** Resolves when earlier connections are closed. Their lock would refuse another one. */
  #closed: Promise<void> = Promise.resolve();
  #uses = 0;
  #idle: Timer | undefined;
  #indexing: Promise<void> | undefined;
  readonly #closing = new AbortController();
  /** Last answer of the index. The slices of one search ask for the same. */
  #choice: { needle: string; indexedTo: number; ids: ReadonlySet<number> } | undefined;

  constructor(system: SearchSystem, { file, identity, indexedBytes = INDEXED_BYTES }: SearchOptions) {
    this.#system = system;
    this.#file = file;
    this.#identity = identity;
    this.#indexedBytes = indexedBytes;
  }

  /** Collects the text of a content that was committed. It is on disk some seconds later, unless the daemon crashes. */
  add(contentId: number, text: SearchText): void {
    this.#collected.push({ contentId, ...text });
    this.#collectedCharacters += text.header.length + text.body.length;
    const isFull = this.#collectedCharacters > MAX_COLLECTED_CHARACTERS;
    if (isFull) this.#runInBackground(this.flush());
    else this.#flushing ??= this.#flushLater();
  }

  /** Writes what was collected. */
  async flush(): Promise<void> {
    const texts = this.#collected;
    if (texts.length === 0) return;
    this.#collected = [];
    this.#collectedCharacters = 0;
    await this.#use((db) => db.commit(insertTexts, { texts }));
    this.#choice = undefined;
    this.#indexing ??= this.#indexInBackground();
  }

  /** Removes the texts of contents that were removed. */
  async remove(contentIds: readonly number[]): Promise<void> {
    if (contentIds.length === 0) return;
    await this.flush();
    await this.#use((db) => db.commit(deleteTexts, { contentIds }));
  }

  /** Returns those of the contents that have no text here. */
  async listMissing(contentIds: readonly number[]): Promise<number[]> {
    await this.flush();
    const known = await this.#use((db) => listKnown(db.read, contentIds));
    return contentIds.filter((id) => !known.has(id));
  }

  /**
   * Returns the contents that contain what is sought, and those that may, because their texts are not complete; undefined when the
   * texts turned out to be damaged and were deleted, so that all are missing.
   */
  async find(contentIds: readonly number[], sought: Sought): Promise<Match[] | undefined> {
    try {
      return await this.#using(async () => this.#find(await this.#open(), contentIds, sought));
    } catch (error) {
      await this.#deleteDamaged(error);
      return undefined;
    }
  }

  /** Finds contents by one of their header fields. */
  async findInField(contentIds: readonly number[], sought: FieldSought): Promise<FieldMatches> {
    return await this.#use((db) => findInField(db.read, contentIds, sought));
  }

  /** Stores the header fields of contents. Where that fails, they stay unknown. */
  async addFields(added: readonly NewFields[]): Promise<void> {
    await this.#use((db) => db.commit(insertFields, { added })).catch((error) => this.#report(error));
  }

  async #find(
    db: PrivateDatabase<SearchTables>,
    contentIds: readonly number[],
    sought: Sought,
  ): Promise<Match[]> {
    const candidates = await this.#chooseCandidates(db, contentIds, sought);
    const found: Match[] = [];
    let step = FIRST_STEP;
    for (let at = 0; at < candidates.length; ) {
      const ids = candidates.slice(at, at + step);
      const began = this.#system.clock.elapsed();
      for (const match of await findMatches(db.read, ids, sought)) found.push(match);
      at += ids.length;
      const tookMs = this.#system.clock.elapsed() - began;
      step = tookMs > STEP_MS ? Math.max(1, step >> 1) : Math.min(step * 2, MAX_STEP);
      if (at < candidates.length) await nextSlice();
    }
    return found;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#flushing;
    await this.#indexing;
    await this.flush().catch((error) => this.#report(error));
    await this.#indexing;
    this.#idle?.cancel();
    await this.#closeDatabase();
  }

  async #chooseCandidates(
    db: PrivateDatabase<SearchTables>,
    contentIds: readonly number[],
    { needle }: Sought,
  ): Promise<readonly number[]> {
    const { indexedTo } = await findSource(db.read);
    if (indexedTo === 0) return contentIds;
    if (this.#choice?.needle !== needle || this.#choice.indexedTo !== indexedTo) {
      const ids = await findByTrigrams(db.read, needle);
      this.#choice = ids && { needle, indexedTo, ids };
    }
    const { ids } = this.#choice ?? {};
    return ids ? contentIds.filter((id) => id > indexedTo || ids.has(id)) : contentIds;
  }

  /** Runs work with the database, which is deleted and made again when it is damaged. */
  #use<Result>(work: (db: PrivateDatabase<SearchTables>) => Promise<Result>): Promise<Result> {
    return this.#using(async () => {
      try {
        return await work(await this.#open());
      } catch (error) {
        await this.#deleteDamaged(error);
        return work(await this.#open());
      }
    });
  }

  /** Keeps the database open while work runs, and for some time afterwards. */
  async #using<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#uses++;
    this.#idle?.cancel();
    try {
      return await work();
    } finally {
      this.#uses--;
      if (this.#uses === 0)
        this.#idle = this.#system.clock.after(IDLE_MS, () => this.#runInBackground(this.#closeDatabase()));
    }
  }

  /** Closes the database if it is open. `afterwards` runs before it can be opened again. */
  #closeDatabase(afterwards: () => void = () => {}): Promise<void> {
    const opened = this.#database?.catch(() => undefined);
    this.#database = undefined;
    this.#choice = undefined;
    this.#closed = this.#closed.then(async () => (await opened)?.close()).then(afterwards);
    return this.#closed;
  }

  /**
   * Deletes the database when it is damaged.
   * @throws any other error again
   */
  async #deleteDamaged(error: unknown): Promise<void> {
    if (!(error instanceof DamagedDatabaseError)) throw error;
    this.#system.log.warn({ file: this.#file, err: error }, 'search texts are damaged and are made again');
    await this.#closeDatabase(() => removeFiles(this.#file));
  }

  #open(): Promise<PrivateDatabase<SearchTables>> {
    this.#database ??= this.#openDatabase().catch((error) => {
      this.#database = undefined;
      throw error;
    });
    return this.#database;
  }

  async #openDatabase(): Promise<PrivateDatabase<SearchTables>> {
    await this.#closed;
    const nowMs = this.#system.clock.now();
    // A power cut may take the last texts, which are made again. It does not damage the database.
    const options = { file: this.#file, schema: SEARCH_SCHEMA, nowMs, isDurable: false };
    const db = openPrivateDatabase<SearchTables>(this.#system, options);
    const { identity } = await findSource(db.read);
    if (identity !== '' && identity !== this.#identity) {
      await db.close();
      removeFiles(this.#file);
      return this.#openDatabase();
    }
    if (identity === '') await db.commit(setIdentity, { identity: this.#identity });
    return db;
  }

  async #flushLater(): Promise<void> {
    await sleep(this.#system.clock, COLLECTING_MS, this.#closing.signal);
    this.#flushing = undefined;
    await this.flush().catch((error) => this.#report(error));
  }

  #runInBackground(work: Promise<void>): void {
    work.catch((error) => this.#report(error));
  }

  /** A failure costs nothing but time: what is missing is read from the messages again. */
  #report(error: unknown): void {
    this.#system.log.warn({ file: this.#file, err: error }, 'search texts could not be written');
  }

  /** Indexes texts while there are many and some are not indexed. */
  async #indexInBackground(): Promise<void> {
    const { clock } = this.#system;
    try {
      const { textBytes } = await this.#use((db) => findSource(db.read));
      if (textBytes < this.#indexedBytes) return;
      while (!this.#closing.signal.aborted && (await this.#use((db) => db.commit(indexNextTexts, null))))
        await sleep(clock, INDEXING_PAUSE_MS, this.#closing.signal);
    } catch (error) {
      this.#report(error);
    } finally {
      this.#indexing = undefined;
    }
  }
}

function removeFiles(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}
