/**
 * Ships what changes: begins generations, collects a cut in each period, and lets a generation go on after a restart or a gap. The base of a
 * generation is a backup, which is made while changes are collected already: they apply to it, whatever it has of them. A generation goes on with a
 * cut that has all differences from what a follower has, which are collected in the same way (resync.ts). When there are too many, a new base follows.
 */
import type { App } from '../../app.ts';
import type { MadeBackup } from '../../backups/create.ts';
import { DAY_MS } from '../../system/clock.ts';
import { errorMessage } from '../../system/errors.ts';
import { type CollectingApp, collectChanges, followChanges } from './collect.ts';
import type { ShippedSegment } from './cut-writer.ts';
import { addGeneration, type Generation, resumed } from './generation.ts';
import type { ShipCalls, ShipState } from './part.ts';
import { copyBack, findDifferences } from './resync.ts';
import { SmallFiles } from './small-files.ts';

/** Time after which a cut is shipped although nothing has changed: it says that this host lives. In milliseconds. */
const HEARTBEAT_MS = 60_000;
/** Period in which small files are compared, in milliseconds. */
const SMALL_FILES_MS = 30_000;
/** Time until a base is tried again that could not be made, in milliseconds. */
const BASE_RETRY_MS = 60_000;
/** Time after a gap until the differences are looked for, in milliseconds. */
const RESYNC_MS = 5_000;
/** Number of times that a generation is tried to go on, before a new base takes its place. The disk may be full for a while, or the load too high. */
const MAX_RESYNCS = 3;
const BYTES_PER_MEGABYTE = 1024 * 1024;

export type ShippingApp = CollectingApp &
  Pick<App, 'disk' | 'egress' | 'log'> & {
    /** Makes the base of a generation in a folder. @throws as `Backups.create` */
    makeBase(folder: string): Promise<MadeBackup>;
    shipCalls: ShipCalls;
    installation: string;
  };

/** How far shipping is. Times are in Unix milliseconds. */
export type Progress = {
  /** Start of the daemon. */
  startedAt: number;
  /** True in a restored installation that is not released: nothing is shipped. */
  isHeld: boolean;
  generation: string | null;
  /** Time of the newest cut that the store has; null when it has none of this run. */
  storedCutAt: number | null;
  /** Time of the oldest change that the store does not have; null when it has all. */
  oldestUnstoredAt: number | null;
  /** True while the differences are looked for with which a generation goes on. */
  isResyncing: boolean;
  /** Number of times that a generation went on after a restart or a gap. */
  resyncs: number;
  /** Reason for the last gap; null when there was none. */
  gap: string | null;
  gaps: number;
} & Omit<ShipState, 'stored'>;

const NOTHING: ShipState = {
  stored: undefined,
  waitingBytes: 0,
  failure: undefined,
  replacedBy: undefined,
  objects: 0,
  bytes: 0,
};

export class Shipper {
  readonly #app: ShippingApp;
  readonly #smallFiles: SmallFiles;
  readonly #startedAt: number;
  /** The generation that the store has, and one whose base is not there yet. */
  #generations: Generation[] = [];
  /** The generation that had a gap, and is to go on. */
  #interrupted: Generation | undefined;
  /** Number of times in a row that a generation could not go on. */
  #failedResyncs = 0;
  /** `scanning` while differences are looked for, and nothing is collected; `scanned` until the first cut after that. */
  #resync: 'none' | 'scanning' | 'scanned' = 'none';
  /** True while differences are looked for, also after a gap meanwhile: two searches would disturb each other. */
  #isSearching = false;
  #resyncs = 0;
  #state = NOTHING;
  #storedCutAt: number | null = null;
  /** Times of the monotonic clock, in milliseconds. */
  #shippedAt = 0;
  #smallFilesAt = 0;
  #retryAt = 0;
  #gap: string | null = null;
  #gaps = 0;

  constructor(app: ShippingApp) {
    this.#app = app;
    this.#smallFiles = new SmallFiles(app.config.dataDir);
    this.#startedAt = app.clock.now();
  }

  get progress(): Progress {
    const { stored: _, ...state } = this.#state;
    const [current] = this.#generations;
    const { unstored } = current ?? this.#interrupted ?? {};
    return {
      startedAt: this.#startedAt,
      isHeld: this.#app.egress.isHeld,
      generation: current?.name ?? null,
      storedCutAt: this.#storedCutAt,
      oldestUnstoredAt: unstored?.values().next().value ?? null,
      isResyncing: this.#resync !== 'none' && current?.isComplete === true,
      resyncs: this.#resyncs,
      gap: this.#gap,
      gaps: this.#gaps,
      ...state,
    };
  }

  /** Ships one cut. It never rejects. */
  async tick(): Promise<void> {
    const { egress, shipCalls, log } = this.#app;
    // A restored installation may be a copy of one that ships too, until its operator releases it.
    if (egress.isHeld) return;
    try {
      this.#state = await shipCalls.state(null);
      await this.#noteStored(this.#state);
      if (this.#state.replacedBy) return;
      await this.#beginIfDue();
      if (this.#generations.length > 0 && this.#resync !== 'scanning') await this.#ship();
    } catch (error) {
      log.error({ err: error }, 'shipping to the standby store failed');
      await this.#giveUp(errorMessage(error));
    }
  }

  /** Remembers which cuts the store has, and ends the generation that a new one has replaced. */
  async #noteStored({ stored }: ShipState): Promise<void> {
    if (this.#interrupted) this.#noteCuts(this.#interrupted, stored);
    const at = this.#generations.findIndex(({ name }) => name === stored?.generation);
    const generation = this.#generations[at];
    if (!generation) return;
    this.#noteCuts(generation, stored);
    for (const { name } of this.#generations.splice(0, at))
      await this.#app.shipCalls.end({ generation: name });
  }

  #noteCuts({ name, unstored }: Generation, stored: ShipState['stored']): void {
    if (stored?.generation !== name) return;
    for (const [sequence, takenAt] of unstored) {
      if (sequence > stored.sequence) break;
      this.#storedCutAt = takenAt;
      unstored.delete(sequence);
    }
  }

  /**
   * Lets a generation go on, or begins one: the first, or one that is to replace an old one. Without an answer of the store, a new one would only fill the
   * disk.
   */
  async #beginIfDue(): Promise<void> {
    const { clock, config } = this.#app;
    const newest = this.#generations.at(-1);
    const isOld = newest && clock.elapsed() - newest.startedAt > config.standby.keepDays * DAY_MS;
    if (this.#isSearching || (newest && (!isOld || this.#resync !== 'none'))) return;
    if (this.#state.failure !== undefined || clock.elapsed() < this.#retryAt) return;
    if (!newest && this.#failedResyncs < MAX_RESYNCS && (await this.#resume())) return;
    await this.#begin(newest === undefined);
  }

  /** Lets the last generation go on. Returns false when there is none that can; true also when it is too early. */
  async #resume(): Promise<boolean> {
    const { clock, shipCalls } = this.#app;
    if (this.#isSpoolFull()) return true;
    const found = await shipCalls.resume(null);
    if (!found) return false;
    this.#generations = [resumed(found, { clock, interrupted: this.#interrupted })];
    this.#interrupted = undefined;
    this.#resync = 'scanning';
    this.#isSearching = true;
    void this.#findDifferences(found.generation).finally(() => {
      this.#isSearching = false;
    });
    return true;
  }

  async #findDifferences(generation: string): Promise<void> {
    const { log } = this.#app;
    try {
      const found = await findDifferences(this.#app);
      if (!this.#isCurrent(generation)) return;
      if (found === 'too much') {
        this.#failedResyncs = MAX_RESYNCS;
        return await this.#giveUp('too much differs from what the store has');
      }
      log.info({ generation }, 'the standby store gets what differs from what it has');
      this.#resync = 'scanned';
    } catch (error) {
      log.error({ err: error }, 'the differences from what the standby store has could not be found');
      if (this.#isCurrent(generation)) await this.#giveUp(errorMessage(error));
    }
  }

  #isCurrent(generation: string): boolean {
    return this.#generations.some(({ name }) => name === generation);
  }

  async #begin(isFirst: boolean): Promise<void> {
    const { clock, disk, shipCalls } = this.#app;
    disk.requireReserve();
    const { generation: name, folder } = await shipCalls.begin({ now: clock.now(), isFirst });
    this.#interrupted = undefined;
    if (isFirst) {
      await copyBack(this.#app, await shipCalls.listWithWal(null));
      await followChanges(this.#app, true);
      // The base has the small files as they are now.
      await this.#smallFiles.takeChanged();
    }
    this.#generations.push(addGeneration(name, clock.elapsed()));
    this.#shippedAt = clock.elapsed();
    void this.#makeBase(name, { folder, isFirst });
  }

  /** Makes the base of a generation, while its changes are collected. */
  async #makeBase(name: string, { folder, isFirst }: { folder: string; isFirst: boolean }): Promise<void> {
    const { clock, log, makeBase, shipCalls } = this.#app;
    try {
      const { path } = await makeBase(folder);
      if (isFirst) await this.#scanBase(name);
      const generation = this.#generations.find((one) => one.name === name);
      if (generation) generation.base = path;
    } catch (error) {
      log.error({ err: error, retryInMs: BASE_RETRY_MS }, 'the base for the standby store could not be made');
      this.#retryAt = clock.elapsed() + BASE_RETRY_MS;
      this.#generations = this.#generations.filter((generation) => generation.name !== name);
      if (this.#generations.length === 0) await followChanges(this.#app, false);
      await shipCalls.end({ generation: name });
    }
  }

  /** Remembers which pages the base of the first generation has. While this fails, each restart sends a new base. */
  async #scanBase(name: string): Promise<void> {
    try {
      if (!this.#isCurrent(name)) return;
      const found = await this.#app.shipCalls.scan({ isBase: true });
      const failure = found === 'too much' ? found : await copyBack(this.#app, found.withWal);
      if (failure !== undefined) throw failure;
      if (this.#isCurrent(name)) this.#resync = 'scanned';
    } catch (error) {
      this.#app.log.error(
        { err: error },
        'the next start of the daemon sends a new base to the standby store',
      );
    }
  }

  #isSpoolFull(): boolean {
    return this.#state.waitingBytes > this.#app.config.standby.spoolMegabytes * BYTES_PER_MEGABYTE;
  }

  async #ship(): Promise<void> {
    const { clock, disk, installation, shipCalls } = this.#app;
    if (this.#isSpoolFull())
      return this.#giveUp('more changes wait for the store than standby.spoolMegabytes allows');
    disk.requireReserve();
    // Only what is collected from here on begins after these bases were made, and after the scan.
    const based = this.#generations.filter(({ base }) => base !== undefined);
    const hasScan = this.#resync === 'scanned';
    const collected = await collectChanges(this.#app);
    if (collected === 'lost') return this.#giveUp('more has changed than could be collected');
    const { databases, takenAt } = collected;
    const files = [...collected.files, ...(await this.#takeSmallFiles(hasScan))];
    const isEmpty = databases.length === 0 && files.length === 0 && based.length === 0 && !hasScan;
    if (isEmpty && clock.elapsed() - this.#shippedAt < HEARTBEAT_MS) return;
    this.#shippedAt = clock.elapsed();
    const cuts = this.#generations.map((generation) => {
      const sequence = ++generation.sequence;
      generation.unstored.set(sequence, takenAt);
      return { format: 1 as const, installation, generation: generation.name, sequence, takenAt };
    });
    await shipCalls.addSegment({ cuts, databases, files, hasScan }, databases.flatMap(memoryOf));
    if (hasScan) this.#noteScanned();
    for (const generation of based) await this.#addBase(generation, takenAt);
  }

  /** Notes that a segment has what was found by the scan. */
  #noteScanned(): void {
    this.#resync = 'none';
    if (!this.#generations[0]?.isComplete) return;
    this.#resyncs++;
    this.#failedResyncs = 0;
  }

  /** Adds a base, which was made before the newest cut was collected. */
  async #addBase(generation: Generation, takenAt: number): Promise<void> {
    const { name, sequence, base: path } = generation;
    generation.base = undefined;
    if (path === undefined) return;
    const firstCut = { sequence, takenAt };
    await this.#app.shipCalls.addBase({ generation: name, path, firstCut });
    generation.isComplete = true;
    this.#failedResyncs = 0;
  }

  async #takeSmallFiles(isDue: boolean): Promise<string[]> {
    const now = this.#app.clock.elapsed();
    if (!isDue && now - this.#smallFilesAt < SMALL_FILES_MS) return [];
    this.#smallFilesAt = now;
    return this.#smallFiles.takeChanged();
  }

  /**
   * Ends what is under way: what changes from now on is not known. The newest generation with a base goes on later. When that has failed several
   * times, a new base follows.
   */
  async #giveUp(reason: string): Promise<void> {
    const { clock, log, shipCalls } = this.#app;
    const ended = this.#generations;
    const hasFailed = this.#resync !== 'none' && ended[0]?.isComplete;
    if (hasFailed) this.#failedResyncs++;
    this.#resync = 'none';
    this.#generations = [];
    // When no generation that ends now has a base, the one that had a gap earlier is still the one that can go on.
    this.#interrupted = ended.findLast(({ isComplete }) => isComplete) ?? this.#interrupted;
    this.#retryAt = clock.elapsed() + (this.#interrupted && !hasFailed ? RESYNC_MS : BASE_RETRY_MS);
    if (ended.length === 0) return;
    this.#gap = reason;
    this.#gaps++;
    log.error({ reason }, 'shipping has a gap; what differs follows, or a new base');
    await followChanges(this.#app, false);
    // Those with a base stay in the spool until another one goes on or begins, maybe only after a restart.
    for (const { name, isComplete } of ended)
      if (!isComplete) await shipCalls.end({ generation: name }).catch(() => {});
  }
}

/** Returns the memory of changed pages, which moves to the thread. */
function memoryOf({ pages: { numbers, contents } }: ShippedSegment['databases'][number]): ArrayBuffer[] {
  return [numbers.buffer as ArrayBuffer, contents.buffer as ArrayBuffer];
}
