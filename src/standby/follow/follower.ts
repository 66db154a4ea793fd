/**
 * Follows a store: keeps a copy of the newest generation whose base is complete, a second or two behind the primary. Each generation has a
 * folder of its own, so that the copy of the one before stays whole until the next one is there.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, sleep } from '../../system/clock.ts';
import type { CrashPoint } from '../../system/crash-point.ts';
import { errorMessage } from '../../system/errors.ts';
import { isGeneration, PIECE_BYTES } from '../names.ts';
import { StandbyError } from '../standby-error.ts';
import { fetchBase } from './base.ts';
import { StandbyCopy } from './copy.ts';
import type { Position } from './position.ts';
import type { Base, Remote } from './remote.ts';
import { SegmentFetcher } from './segment-fetcher.ts';

/** Time between two questions for the next segment, in milliseconds. */
const POLL_MS = 1_000;
/** Time between two questions for a newer generation, in milliseconds, while there is no next segment. */
const CHECK_MS = 10_000;
/** Time after a failure until the next attempt, in milliseconds. */
const RETRY_MS = 5_000;

export type FollowOptions = {
  remote: Remote;
  /** Folder of the copies. */
  folder: string;
  identities: readonly string[];
  clock: Clock;
  crashPoint: CrashPoint;
  signal: AbortSignal;
  /** Size of the pieces of segments; `PIECE_BYTES` unless it is given. */
  pieceBytes?: number;
};

/** The state of a host that follows, for an operator. */
export type FollowState = {
  /** The generation of the copy, and the segment that was applied last; null before the first base is there. */
  generation: string | null;
  sequence: number | null;
  /** Time of the state that the copy has, in Unix milliseconds. */
  takenAt: number | null;
  /** Time at which the store had nothing newer, in Unix milliseconds; null while the copy is behind. */
  currentAt: number | null;
  /** The generation whose base is fetched now. */
  fetching: string | null;
  /** The reason why it does not go on; null when it does. */
  problem: string | null;
};

type Making = {
  generation: string;
  made: StandbyCopy | undefined;
  failure: unknown;
  /** Resolves when it is made or has failed. */
  ended: Promise<void>;
};

export class Follower {
  readonly #options: FollowOptions;
  #copy: StandbyCopy | undefined;
  #segments: SegmentFetcher | undefined;
  /** A newer copy that is being made, while the segments of this generation go on. */
  #making: Making | undefined;
  #checkAt = 0;
  #currentAt: number | null = null;
  #problem: string | null = null;

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  get copy(): StandbyCopy | undefined {
    return this.#copy;
  }

  get state(): FollowState {
    const { generation = null, sequence = null, takenAt = null } = this.#copy?.position ?? {};
    const fetching = this.#making?.generation ?? null;
    return { generation, sequence, takenAt, currentAt: this.#currentAt, fetching, problem: this.#problem };
  }

  /** Opens the newest copy that the folder has, and removes others. */
  async open(): Promise<void> {
    const { remote, folder, identities, crashPoint } = this.#options;
    for (const generation of readdirSync(folder).filter(isGeneration).sort().reverse()) {
      const path = join(folder, generation);
      const copy = this.#copy ? undefined : await StandbyCopy.open(path, { identities, crashPoint });
      if (copy && copy.position.installation !== remote.installation)
        throw new StandbyError(`${path} is a copy of another installation (${copy.position.installation})`);
      if (copy) this.#use(copy);
      else rmSync(path, { recursive: true, force: true });
    }
  }

  /** Follows until the signal of the options is aborted. `onChange` is called after each step. */
  async run(onChange: (state: FollowState) => void): Promise<void> {
    const { clock, signal } = this.#options;
    this.#copy?.requireOpen();
    while (!signal.aborted) {
      let waitMs = POLL_MS;
      try {
        if (await this.step()) waitMs = 0;
        this.#problem = null;
      } catch (error) {
        if (signal.aborted) break;
        this.#problem = errorMessage(error);
        waitMs = RETRY_MS;
      }
      onChange(this.state);
      if (waitMs > 0) await sleep(clock, waitMs, signal);
    }
    await this.#segments?.clear();
    await this.#making?.ended;
  }

  /**
   * Applies the next segments, or goes over to a newer generation. Returns false when there was nothing to do.
   * @throws StandbyError; StoreError; errors of the file system
   */
  async step(): Promise<boolean> {
    if (!this.#copy) return this.#fetchFirst();
    let failure: StandbyError | undefined;
    try {
      if (await this.advance(Number.POSITIVE_INFINITY)) return true;
    } catch (error) {
      if (!(error instanceof StandbyError)) throw error;
      failure = error;
    }
    // A newer generation goes on where a segment of this one is damaged.
    if (await this.#goOver(failure !== undefined)) return true;
    if (failure) throw failure;
    this.#currentAt = this.#options.clock.now();
    return false;
  }

  /** Applies the next segments that are not later than a time in Unix milliseconds. Returns false when there is none. */
  async advance(until: number): Promise<boolean> {
    if (!this.#copy || !this.#segments) return false;
    const { sequence } = this.#copy.position;
    if (!(await this.#mayBegin(this.#copy.position, until))) return false;
    const fetched = await this.#segments.take(sequence + 1);
    if (fetched.length === 0) return false;
    const applied = await this.#copy.add(fetched, until);
    if (applied < fetched.length) await this.#segments.clear();
    if (applied > 0) this.#currentAt = null;
    return applied > 0;
  }

  /** Returns false while the copy is a base, and the first cut after it is later than a time, or not in the store with all before it. */
  async #mayBegin({ generation, sequence, firstCut }: Position, until: number): Promise<boolean> {
    if (sequence > 0) return true;
    return firstCut.takenAt <= until && this.#options.remote.hasSegment(generation, firstCut.sequence);
  }

  /** Applies all that the store has, also of newer generations. Returns why it stopped before the end; null when it did not. */
  async catchUp(): Promise<string | null> {
    for (;;) {
      const problem = await this.applyRest();
      const newer = await this.#options.remote.findNewest(this.#copy?.position.generation);
      if (!newer) return problem;
      await this.use(newer);
    }
  }

  /** Applies what the store has of this generation. Returns why it stopped before the end; null when it did not. */
  async applyRest(): Promise<string | null> {
    try {
      while (await this.advance(Number.POSITIVE_INFINITY));
      return null;
    } catch (error) {
      if (error instanceof StandbyError) return error.message;
      throw error;
    }
  }

  /** Fetches the base of a generation, whose copy takes the place of the one before. */
  async use(base: Base): Promise<void> {
    await this.#replace(await this.#make(base));
  }

  async #fetchFirst(): Promise<boolean> {
    const newest = await this.#options.remote.findNewest();
    if (!newest) throw new StandbyError('the store has no complete base yet');
    await this.use(newest);
    return true;
  }

  /** Goes over to a newer copy that is ready. Begins to make one when the store has a newer generation. */
  async #goOver(isDamaged: boolean): Promise<boolean> {
    const making = this.#making;
    if (making?.failure !== undefined) {
      this.#making = undefined;
      throw making.failure;
    }
    if (making?.made) {
      this.#making = undefined;
      await this.#replace(making.made);
      return true;
    }
    if (!making) await this.#check(isDamaged);
    return false;
  }

  /** Looks for a newer generation, and for segments after a missing one, from time to time. A segment that is damaged is not missing. */
  async #check(isDamaged: boolean): Promise<void> {
    const { clock, remote } = this.#options;
    const position = this.#copy?.position;
    if (!position || clock.elapsed() < this.#checkAt) return;
    this.#checkAt = clock.elapsed() + CHECK_MS;
    const newer = await remote.findNewest(position.generation);
    if (newer) this.#begin(newer);
    else if (!isDamaged && (await this.#mayBegin(position, Number.POSITIVE_INFINITY)))
      await this.#requireNext(position);
  }

  /** Makes a newer copy, while the segments of this one go on. */
  #begin(base: Base): void {
    const making: Making = {
      generation: base.generation,
      made: undefined,
      failure: undefined,
      ended: Promise.resolve(),
    };
    this.#making = making;
    making.ended = this.#make(base).then(
      (copy) => {
        making.made = copy;
      },
      (error: unknown) => {
        making.failure = error;
      },
    );
  }

  /** @throws StandbyError when the store has segments after the next one, which it does not have */
  async #requireNext({ generation, sequence }: Position): Promise<void> {
    if (await this.#options.remote.hasSegmentAfter(generation, sequence + 1))
      throw new StandbyError(
        `segment ${sequence + 1} of ${generation} is missing in the store, which has later ones`,
      );
  }

  async #make(base: Base): Promise<StandbyCopy> {
    const { folder, identities, crashPoint } = this.#options;
    const path = join(folder, base.generation);
    await fetchBase(this.#options, base, path);
    const copy = await StandbyCopy.open(path, { identities, crashPoint });
    if (!copy) throw new Error(`${path} has no position`);
    return copy;
  }

  async #replace(copy: StandbyCopy): Promise<void> {
    const previous = this.#copy?.folder;
    // A segment that is still fetched would be written into the folder while it is removed.
    await this.#segments?.clear();
    this.#use(copy);
    this.#options.crashPoint('standby-generation-ready');
    if (previous !== undefined && previous !== copy.folder)
      rmSync(previous, { recursive: true, force: true });
  }

  #use(copy: StandbyCopy): void {
    const { generation } = copy.position;
    this.#copy = copy;
    const { remote, pieceBytes = PIECE_BYTES } = this.#options;
    this.#segments = new SegmentFetcher(remote, { generation, folder: copy.folder, pieceBytes });
  }
}
