/**
 * The copy of one generation, to which segments are applied in order. A segment is verified as a whole and flushed beside the copy first,
 * so that a crash while it is applied is followed by applying it again. Applying a segment twice changes nothing. Several segments are applied
 * together while the copy is behind, because what they change is then flushed once.
 */
import { createReadStream, createWriteStream, existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { contentHashOf } from '../../backups/format.ts';
import { hashFile } from '../../backups/sums.ts';
import { applyPages } from '../../db/apply-pages.ts';
import { flushDirectory, flushPath } from '../../db/flush-files.ts';
import type { CrashPoint } from '../../system/crash-point.ts';
import type { Cut } from '../cut.ts';
import { numbered } from '../names.ts';
import { readSegment, type SegmentHandlers, VERIFYING } from '../segment/read.ts';
import { StandbyError } from '../standby-error.ts';
import { copyFolder } from './base.ts';
import { type Position, readPosition, writePosition } from './position.ts';

/** Begins the names of the segments that are being applied, before the number of each. */
const APPLYING = 'applying-';

type CopyOptions = { identities: readonly string[]; crashPoint: CrashPoint };

export type FetchedSegment = { file: string; sha256: string };

/** A segment that is flushed beside the copy, in a file of its own. */
type ReadySegment = { file: string; sha256: string };

/** Which segment was applied last. */
type Last = Pick<Position, 'sequence' | 'sha256' | 'takenAt'>;

/** Paths of the files and directories in which something is new and not flushed. */
type Unflushed = { files: Set<string>; directories: Set<string> };

export class StandbyCopy {
  readonly folder: string;
  readonly #options: CopyOptions;
  #position: Position;

  private constructor(folder: string, position: Position, options: CopyOptions) {
    this.folder = folder;
    this.#position = position;
    this.#options = options;
  }

  /**
   * Opens the copy in the folder of its generation, and completes what a crash has interrupted. Returns undefined when its base is not
   * complete.
   */
  static async open(folder: string, options: CopyOptions): Promise<StandbyCopy | undefined> {
    const position = readPosition(folder);
    if (!position) return undefined;
    const copy = new StandbyCopy(folder, position, options);
    if (position.staging === undefined) await copy.#resume();
    return copy;
  }

  get position(): Readonly<Position> {
    return this.#position;
  }

  /** The folder that has the form of a data directory. */
  get dataDir(): string {
    return copyFolder(this.folder);
  }

  /**
   * Applies the next segments, up to the first one whose cut is later than `until`, in Unix milliseconds. Returns the number of those that were
   * applied. A segment that cannot be applied is an error only if it is the first one. The files of all are removed.
   * @throws StandbyError when it is not the next segment, or is damaged; errors of the file system
   */
  async add(fetched: readonly FetchedSegment[], until: number): Promise<number> {
    this.requireOpen();
    const ready: ReadySegment[] = [];
    try {
      await this.#verify(fetched, until, ready);
    } catch (error) {
      if (ready.length === 0) throw error;
    } finally {
      for (const { file } of fetched) rmSync(file, { force: true });
    }
    if (ready.length > 0) {
      await flushDirectory(this.folder);
      await this.#apply(ready);
    }
    return ready.length;
  }

  /** Verifies segments in their order, and adds those that can be applied to `ready`. */
  async #verify(fetched: readonly FetchedSegment[], until: number, ready: ReadySegment[]): Promise<void> {
    let { sequence, sha256 } = this.#position;
    for (const next of fetched) {
      const cut = await this.#read(next.file, { sequence, sha256 }, VERIFYING);
      if (cut.takenAt > until) return;
      const file = join(this.folder, APPLYING + numbered(cut.sequence));
      await rename(next.file, file);
      ready.push({ file, sha256: next.sha256 });
      ({ sequence, sha256 } = { sequence: cut.sequence, sha256: next.sha256 });
    }
  }

  /**
   * Records that the copy is opened in this folder, after which no segment can be applied.
   * @throws StandbyError when the copy is no state: some segments before the first cut were applied, and not all
   */
  close(staging: string): void {
    const { sequence, firstCut } = this.#position;
    if (sequence > 0 && sequence < firstCut.sequence)
      throw new StandbyError(
        `the copy is between its base and its first cut, and the store does not have the segments up to ${firstCut.sequence}`,
      );
    this.#move({ ...this.#position, staging });
  }

  /** @throws StandbyError when the copy was opened by a promotion */
  requireOpen(): void {
    if (this.#position.staging === undefined) return;
    throw new StandbyError(
      `the promotion of ${this.folder} has begun: run "postrider standby promote" again, or remove that folder to follow anew`,
    );
  }

  async #resume(): Promise<void> {
    const names = readdirSync(this.folder).sort();
    for (const name of names.filter((one) => one.startsWith('fetched-'))) rmSync(join(this.folder, name));
    const ready: ReadySegment[] = [];
    for (const name of names.filter((one) => one.startsWith(APPLYING))) {
      const file = join(this.folder, name);
      // The position has moved already when the process ended right after that.
      if (Number(name.slice(APPLYING.length)) <= this.#position.sequence) rmSync(file);
      else ready.push({ file, sha256: await hashFile(file) });
    }
    if (ready.length > 0) await this.#apply(ready);
  }

  async #apply(ready: readonly ReadySegment[]): Promise<void> {
    const { crashPoint } = this.#options;
    crashPoint('standby-segment-stored');
    const unflushed: Unflushed = { files: new Set(), directories: new Set() };
    const handlers = applyingTo(this.dataDir, unflushed, crashPoint);
    let last: Last = this.#position;
    for (const { file, sha256 } of ready) {
      const { sequence, takenAt } = await this.#read(file, last, handlers);
      last = { sequence, sha256, takenAt };
    }
    // Nobody has these databases open, so that no lock is dropped.
    for (const file of unflushed.files) flushPath(file);
    for (const directory of withParents(unflushed.directories, this.dataDir)) await flushDirectory(directory);
    crashPoint('standby-segment-applied');
    const { sequence, sha256, takenAt } = last;
    this.#move({ ...this.#position, sequence, sha256, takenAt });
    crashPoint('standby-position-written');
    for (const { file } of ready) rmSync(file);
  }

  #move(position: Position): void {
    writePosition(this.folder, position);
    this.#position = position;
  }

  #read(
    file: string,
    { sequence, sha256 }: Pick<Last, 'sequence' | 'sha256'>,
    handlers: SegmentHandlers,
  ): Promise<Cut> {
    const { installation, generation } = this.#position;
    const expected = { installation, generation, sequence: sequence + 1, previous: sha256 };
    const { identities } = this.#options;
    return readSegment(createReadStream(file), { identities, expected }, handlers);
  }
}

/** Returns handlers that write into a copy, and note what is to be flushed. */
function applyingTo(dataDir: string, unflushed: Unflushed, crashPoint: CrashPoint): SegmentHandlers {
  const prepare = async (path: string) => {
    const target = join(dataDir, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    unflushed.directories.add(dirname(target));
    return target;
  };
  return {
    async pages(path, pages) {
      const target = await prepare(path);
      unflushed.files.add(target);
      await applyPages(target, pages);
      crashPoint('standby-pages-applied');
    },
    async file(path, bytes) {
      const target = await prepare(path);
      if (contentHashOf(path) !== undefined && existsSync(target)) {
        await VERIFYING.file(path, bytes);
        return;
      }
      await pipeline(bytes, createWriteStream(`${target}.new`, { mode: 0o600, flush: true }));
      await rename(`${target}.new`, target);
    },
  };
}

/** Returns directories with all those above them up to a root, each once. */
function withParents(directories: ReadonlySet<string>, root: string): Set<string> {
  const all = new Set<string>([root]);
  for (const directory of directories)
    for (let at = directory; relative(root, at) !== ''; at = dirname(at)) all.add(at);
  return all;
}
