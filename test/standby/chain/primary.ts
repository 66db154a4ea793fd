/**
 * A primary for tests of a chain that goes on: databases with their taps, files, the chain and the spool. It can die at any moment. Its follower
 * applies the segments as another host does.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { applyPages } from '../../../src/db/apply-pages.ts';
import { checkpointWhenLong, openPrivate, openWriting } from '../../../src/db/connection.ts';
import { CopyPace, copyDatabase, markWithoutWal } from '../../../src/db/copy-database.ts';
import { createPageBudget, WaitingPages } from '../../../src/db/waiting-pages.ts';
import { WalTap } from '../../../src/db/wal-tap.ts';
import { Chain } from '../../../src/standby/chain/chain.ts';
import { type Scanned, type ScanOptions, scan } from '../../../src/standby/chain/scan.ts';
import { readSegment } from '../../../src/standby/segment/read.ts';
import { CutWriter } from '../../../src/standby/ship/cut-writer.ts';
import { Spool } from '../../../src/standby/ship/spool.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

export const GENERATION = '20270101T000000Z-00000000';
export const ACCOUNTS = ['mailboxes/mbx_1/index.db', 'mailboxes/mbx_2/index.db'];
const DATABASES = ['postrider.db', ...ACCOUNTS];
const INSTALLATION = 'inst';

export type Keys = { identity: string; recipient: string };

/** Is thrown at the point at which the process dies. */
const DEATH = new Error('the process dies here');

/** Copies a database as it is now. */
async function copyOf(database: Database, file: string): Promise<void> {
  rmSync(file, { force: true });
  mkdirSync(dirname(file), { recursive: true });
  await copyDatabase(database, file, new CopyPace());
  markWithoutWal(file);
}

/** The copy of another host. */
export class Copy {
  readonly folder = temporaryDirectory('follower');
  readonly #identity: string;
  #previous: string | null = null;
  sequence = 0;

  constructor(identity: string) {
    this.#identity = identity;
  }

  async apply(path: string): Promise<void> {
    const expected = {
      ...{ installation: INSTALLATION, generation: GENERATION },
      ...{ sequence: this.sequence + 1, previous: this.#previous },
    };
    const options = { identities: [this.#identity], expected };
    await readSegment(createReadStream(path), options, {
      pages: (database, pages) => {
        mkdirSync(dirname(join(this.folder, database)), { recursive: true });
        return applyPages(join(this.folder, database), pages);
      },
      file: async (name, bytes) => {
        const pieces: Uint8Array[] = [];
        for await (const piece of bytes) pieces.push(piece);
        mkdirSync(dirname(join(this.folder, name)), { recursive: true });
        writeFileSync(join(this.folder, name), Buffer.concat(pieces));
      },
    });
    this.sequence++;
    this.#previous = createHash('sha256').update(readFileSync(path)).digest('hex');
  }
}

export class Primary {
  dataDir = temporaryDirectory('primary');
  readonly #keys: Keys;
  readonly #copy: Copy;
  readonly #open = new Map<string, Database>();
  readonly #taps = new Map<string, { pages: WaitingPages; tap: WalTap }>();
  #files = new Set<string>();
  #isFollowed = false;
  #chain: Chain;
  #spool: Spool;
  /** Bytes of all databases, and the names of all files, at the last cut of the chain. */
  #atCut = new Map<string, Buffer>();
  #filesAtCut: string[] = [];

  constructor(keys: Keys, copy: Copy) {
    this.#keys = keys;
    this.#copy = copy;
    [this.#chain, this.#spool] = this.#openChain();
  }

  get isKnown(): boolean {
    return this.#chain.isKnown;
  }

  database(path: string): Database {
    const known = this.#open.get(path);
    if (known) return known;
    const file = join(this.dataDir, path);
    mkdirSync(dirname(file), { recursive: true });
    const database = path === 'postrider.db' ? openWriting(file, 'NORMAL') : openPrivate(file);
    database.exec('CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT');
    this.#open.set(path, database);
    if (this.#isFollowed) this.#tap(path);
    return database;
  }

  checkpoint(path: string): void {
    const database = this.#open.get(path);
    const after = () => this.#taps.get(path)?.tap.read();
    if (database) checkpointWhenLong(database, 0, { after });
  }

  close(path: string): void {
    const database = this.#open.get(path);
    if (!database) return;
    this.#taps.get(path)?.tap.read();
    database.close();
    this.#open.delete(path);
  }

  addFile(content: string): void {
    const sha256 = createHash('sha256').update(content).digest('hex');
    const path = join('blobs', sha256.slice(0, 2), sha256);
    mkdirSync(dirname(join(this.dataDir, path)), { recursive: true });
    writeFileSync(join(this.dataDir, path), content);
    this.#files.add(path);
  }

  removeFiles(): void {
    rmSync(join(this.dataDir, 'blobs'), { recursive: true, force: true });
  }

  /** Begins to follow all changes, without those of before. */
  follow(): void {
    this.#isFollowed = true;
    this.#files.clear();
    this.#taps.clear();
    for (const path of this.#open.keys()) this.#tap(path);
  }

  /** Begins the generation with a base, which the follower has at once. `meanwhile` runs between its steps. */
  async begin(meanwhile: () => void): Promise<void> {
    this.#chain.reset();
    for (const path of DATABASES) this.database(path);
    this.follow();
    meanwhile();
    await this.#spool.begin(GENERATION);
    for (const path of DATABASES) await copyOf(this.database(path), join(this.#copy.folder, path));
    if (existsSync(join(this.dataDir, 'blobs')))
      cpSync(join(this.dataDir, 'blobs'), join(this.#copy.folder, 'blobs'), { recursive: true });
    meanwhile();
    await this.cut();
    await this.cut(await this.scan({ isBase: true, meanwhile }));
    const path = join(this.dataDir, 'standby', 'spool', GENERATION, 'making', 'base');
    mkdirSync(path);
    await this.#spool.addBase({ generation: GENERATION, path, firstCut: { sequence: 1, takenAt: 0 } });
    const base = this.#spool.nextBase();
    if (base) await this.#spool.removeBase(base);
  }

  /** Compares everything with what the follower has. */
  async scan({
    isBase = false,
    meanwhile,
    ...options
  }: { isBase?: boolean; meanwhile: () => void } & Partial<ScanOptions>): Promise<Scanned> {
    const known = isBase ? undefined : this.#chain.load();
    assert.ok(isBase || known);
    const scanning = scan({
      ...{ dataDir: this.dataDir, known, now: Date.now(), signal: new AbortController().signal },
      ...options,
    });
    await new Promise((resolve) => void setImmediate(resolve));
    meanwhile();
    const found = await scanning;
    assert.ok(found);
    this.#chain.keepScan(found.shipped, isBase ? 0 : (this.#chain.last?.number ?? 0));
    // The daemon copies back the WAL of each account that has one, so that its pages are collected too.
    for (const id of found.withWal) this.checkpoint(this.#opened(`mailboxes/${id}/index.db`));
    meanwhile();
    return found;
  }

  /** Stores a cut. `diesAt` is the point at which the process dies. */
  async cut(scanned?: Scanned, diesAt?: string): Promise<void> {
    const crashPoint = (name: string) => {
      if (name === diesAt) throw DEATH;
    };
    const config = { dataDir: this.dataDir, backup: { recipients: [this.#keys.recipient] } };
    const writer = new CutWriter({ config, crashPoint } as never, { spool: this.#spool, chain: this.#chain });
    const databases = [...this.#taps].flatMap(([path, { pages, tap }]) => {
      if (this.#open.has(path)) tap.read();
      const collected = pages.take();
      assert.ok(collected !== 'lost');
      return collected ? [{ path, pages: collected }] : [];
    });
    const files = [...this.#files];
    this.#files.clear();
    const sequence = (this.#chain.last?.cuts[0]?.sequence ?? 0) + 1;
    const cut = {
      format: 1 as const,
      installation: INSTALLATION,
      generation: GENERATION,
      sequence,
      takenAt: sequence,
    };
    const atCut = this.#state();
    const present = this.#filesNow();
    try {
      await writer.add({ cuts: [cut], databases, files }, scanned);
    } catch (error) {
      if (error !== DEATH) throw error;
      // A record that is complete is that of a cut, whose segment is sent later.
      if (diesAt !== 'shipping-segment-recorded') return;
    }
    this.#atCut = atCut;
    this.#filesAtCut = present;
  }

  /** Sends what waits in the spool, and compares the copy with the state at the last cut. */
  async send(): Promise<void> {
    for (let next = this.#spool.nextSegment(); next; next = this.#spool.nextSegment()) {
      await this.#copy.apply(next.path);
      await this.#spool.removeSegment(next);
    }
    assert.equal(this.#copy.sequence, this.#chain.last?.cuts[0]?.sequence);
    for (const [path, bytes] of this.#atCut)
      assert.equal(
        differingPages(withoutSetFields(readFileSync(join(this.#copy.folder, path))), bytes),
        '',
        `${path} differs`,
      );
    for (const path of this.#filesAtCut) assert.ok(existsSync(join(this.#copy.folder, path)), path);
  }

  /**
   * Dies and starts again: nothing is closed, and what is in memory is gone. `isRecordCut` loses a part of the last record of the chain, as a power
   * cut does while it is written.
   */
  die({ isRecordCut = false } = {}): void {
    const next = temporaryDirectory('primary');
    cpSync(this.dataDir, next, { recursive: true, filter: (from) => !from.endsWith('-shm') });
    for (const database of this.#open.values()) database.close();
    this.#open.clear();
    this.#taps.clear();
    this.#isFollowed = false;
    rmSync(this.dataDir, { recursive: true });
    this.dataDir = next;
    const log = join(next, 'standby', 'chain', 'log');
    if (isRecordCut) truncateSync(log, readFileSync(log).length - 10);
    // Each start copies the WAL of the main database back.
    this.database('postrider.db').pragma('wal_checkpoint(TRUNCATE)');
    [this.#chain, this.#spool] = this.#openChain();
  }

  closeAll(): void {
    for (const path of [...this.#open.keys()]) this.close(path);
    rmSync(this.dataDir, { recursive: true });
    rmSync(this.#copy.folder, { recursive: true });
  }

  #opened(path: string): string {
    this.database(path);
    return path;
  }

  #openChain(): [Chain, Spool] {
    const folder = join(this.dataDir, 'standby');
    const identity = { installation: INSTALLATION, recipients: [this.#keys.recipient] };
    // The log is folded after each few cuts.
    const chain = new Chain(join(folder, 'chain'), () => identity, 2_000);
    return [chain, new Spool(join(folder, 'spool'), chain.isKnown ? chain.last?.cuts : [])];
  }

  #tap(path: string): void {
    const database = this.database(path);
    const pages = this.#taps.get(path)?.pages ?? new WaitingPages(createPageBudget());
    const tap = new WalTap(database, pages);
    tap.skipCopied();
    this.#taps.set(path, { pages, tap });
  }

  #state(): Map<string, Buffer> {
    const state = new Map<string, Buffer>();
    for (const path of DATABASES) {
      const wasOpen = this.#open.has(path);
      state.set(path, withoutSetFields(this.database(path).serialize()));
      if (!wasOpen) this.close(path);
    }
    return state;
  }

  #filesNow(): string[] {
    const root = join(this.dataDir, 'blobs');
    const names = existsSync(root) ? readdirSync(root, { recursive: true, encoding: 'utf8' }) : [];
    return names.filter((name) => name.length > 64).map((name) => join('blobs', name));
  }
}

/**
 * Fields of the header of a database that a backup of SQLite sets: its versions, the counter of changes, the number of the schema, and the counter
 * for which the size is valid.
 */
const SET_BY_BACKUPS = [
  [18, 20],
  [24, 28],
  [40, 44],
  [92, 100],
] as const;

function withoutSetFields(database: Buffer): Buffer {
  for (const [start, end] of SET_BY_BACKUPS) database.fill(0, start, end);
  return database;
}

/** Returns the numbers of the pages in which two databases differ, and their sizes when those differ. */
function differingPages(one: Buffer, other: Buffer): string {
  const numbers: string[] = one.length === other.length ? [] : [`${one.length}/${other.length} bytes`];
  for (let at = 0; at < Math.max(one.length, other.length); at += 4_096)
    if (!one.subarray(at, at + 4_096).equals(other.subarray(at, at + 4_096)))
      numbers.push(String(at / 4_096 + 1));
  return numbers.join(' ');
}

/** Returns a text that no page has had. */
export const freshText = (bytes: number): string => randomBytes(bytes / 2).toString('hex');
