/**
 * Ships what changes: begins generations, collects a cut in each period, and ends a generation when its continuity is lost. The base of a
 * generation is a backup, which is made while changes are collected already: they apply to it, whatever it has of them.
 */
import type { App } from '../../app.ts';
import type { MadeBackup } from '../../backups/create.ts';
import { DAY_MS } from '../../system/clock.ts';
import { errorMessage } from '../../system/errors.ts';
import { type CollectingApp, collectChanges, followChanges } from './collect.ts';
import type { ShipCalls, ShippedSegment, ShipState } from './part.ts';
import { SmallFiles } from './small-files.ts';

/** Time after which a cut is shipped although nothing has changed: it says that this host lives. In milliseconds. */
const HEARTBEAT_MS = 60_000;
/** Period in which small files are compared, in milliseconds. */
const SMALL_FILES_MS = 30_000;
/** Time until a base is tried again that could not be made, in milliseconds. */
const BASE_RETRY_MS = 60_000;
const BYTES_PER_MEGABYTE = 1024 * 1024;

export type ShippingApp = CollectingApp &
  Pick<App, 'disk' | 'egress' | 'log'> & {
    /** Makes the base of a generation in a folder. @throws as `Backups.create` */
    makeBase(folder: string): Promise<MadeBackup>;
    shipCalls: ShipCalls;
    installation: string;
  };

type Generation = {
  name: string;
  startedAt: number;
  /** Number of segments that were added. */
  sequence: number;
  /** Path of the base when it is made, until the first cut after it. */
  base: string | undefined;
  /** Time of the state of each segment that the store does not have, by its sequence. */
  unstored: Map<number, number>;
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
  /** Reason for which a generation was ended before its time; null when none was. */
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
    return {
      startedAt: this.#startedAt,
      isHeld: this.#app.egress.isHeld,
      generation: current?.name ?? null,
      storedCutAt: this.#storedCutAt,
      oldestUnstoredAt: current?.unstored.values().next().value ?? null,
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
      if (this.#generations.length > 0) await this.#ship();
    } catch (error) {
      log.error({ err: error }, 'shipping to the standby store failed');
      await this.#giveUp(errorMessage(error));
    }
  }

  /** Remembers which cuts the store has, and ends the generation that a new one has replaced. */
  async #noteStored({ stored }: ShipState): Promise<void> {
    const at = this.#generations.findIndex(({ name }) => name === stored?.generation);
    const generation = this.#generations[at];
    if (!stored || !generation) return;
    for (const [sequence, takenAt] of generation.unstored) {
      if (sequence > stored.sequence) break;
      this.#storedCutAt = takenAt;
      generation.unstored.delete(sequence);
    }
    for (const { name } of this.#generations.splice(0, at))
      await this.#app.shipCalls.end({ generation: name });
  }

  /** Begins the first generation, or one that is to replace an old one. Without an answer of the store it would only fill the disk. */
  async #beginIfDue(): Promise<void> {
    const { clock, config, disk, shipCalls } = this.#app;
    const newest = this.#generations.at(-1);
    const isOld = newest && clock.elapsed() - newest.startedAt > config.standby.keepDays * DAY_MS;
    if ((newest && !isOld) || this.#state.failure !== undefined || clock.elapsed() < this.#retryAt) return;
    disk.requireReserve();
    const { generation: name, folder } = await shipCalls.begin({ now: clock.now() });
    if (!newest) {
      await followChanges(this.#app, true);
      // The base has the small files as they are now.
      await this.#smallFiles.takeChanged();
    }
    this.#generations.push({
      name,
      startedAt: clock.elapsed(),
      sequence: 0,
      base: undefined,
      unstored: new Map(),
    });
    this.#shippedAt = clock.elapsed();
    void this.#makeBase(name, folder);
  }

  /** Makes the base of a generation, while its changes are collected. */
  async #makeBase(name: string, folder: string): Promise<void> {
    const { clock, log, makeBase, shipCalls } = this.#app;
    try {
      const { path } = await makeBase(folder);
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

  async #ship(): Promise<void> {
    const { clock, config, disk, installation, shipCalls } = this.#app;
    if (this.#state.waitingBytes > config.standby.spoolMegabytes * BYTES_PER_MEGABYTE)
      return this.#giveUp('more changes wait for the store than standby.spoolMegabytes allows');
    disk.requireReserve();
    // Only what is collected from here on begins after these bases were made.
    const based = this.#generations.filter(({ base }) => base !== undefined);
    const collected = await collectChanges(this.#app);
    if (collected === 'lost') return this.#giveUp('more has changed than could be collected');
    const { databases, takenAt } = collected;
    const files = [...collected.files, ...(await this.#takeSmallFiles())];
    const isEmpty = databases.length === 0 && files.length === 0;
    if (isEmpty && based.length === 0 && clock.elapsed() - this.#shippedAt < HEARTBEAT_MS) return;
    this.#shippedAt = clock.elapsed();
    const cuts = this.#generations.map((generation) => {
      const sequence = ++generation.sequence;
      generation.unstored.set(sequence, takenAt);
      return { format: 1 as const, installation, generation: generation.name, sequence, takenAt };
    });
    await shipCalls.addSegment({ cuts, databases, files }, databases.flatMap(memoryOf));
    for (const generation of based) await this.#addBase(generation, takenAt);
  }

  /** Adds a base, which was made before the newest cut was collected. */
  async #addBase(generation: Generation, takenAt: number): Promise<void> {
    const { name, sequence, base: path } = generation;
    generation.base = undefined;
    if (path === undefined) return;
    const firstCut = { sequence, takenAt };
    await this.#app.shipCalls.addBase({ generation: name, path, firstCut });
  }

  async #takeSmallFiles(): Promise<string[]> {
    const now = this.#app.clock.elapsed();
    if (now - this.#smallFilesAt < SMALL_FILES_MS) return [];
    this.#smallFilesAt = now;
    return this.#smallFiles.takeChanged();
  }

  /** Ends all generations: what changes from now on is not known. The next one begins with a new base. */
  async #giveUp(reason: string): Promise<void> {
    const { log, shipCalls } = this.#app;
    const ended = this.#generations;
    this.#generations = [];
    this.#retryAt = this.#app.clock.elapsed() + BASE_RETRY_MS;
    if (ended.length === 0) return;
    this.#gap = reason;
    this.#gaps++;
    log.error({ reason }, 'shipping has a gap; a new base follows');
    await followChanges(this.#app, false);
    for (const { name } of ended) await shipCalls.end({ generation: name }).catch(() => {});
  }
}

/** Returns the memory of changed pages, which moves to the thread. */
function memoryOf({ pages: { numbers, contents } }: ShippedSegment['databases'][number]): ArrayBuffer[] {
  return [numbers.buffer as ArrayBuffer, contents.buffer as ArrayBuffer];
}
