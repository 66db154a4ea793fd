/**
 * The copy of one generation, to which segments are applied in order. A segment is verified as a whole and flushed beside the copy first,
 * so that a crash while it is applied is followed by applying it again. Applying a segment twice changes nothing.
 */
import { createReadStream, createWriteStream, existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { contentHashOf } from '../../backups/format.ts';
import { hashFile } from '../../backups/sums.ts';
import { applyPages } from '../../db/apply-pages.ts';
import { flushDirectory } from '../../db/flush-files.ts';
import type { CrashPoint } from '../../system/crash-point.ts';
import type { Cut } from '../cut.ts';
import { readSegment, type SegmentHandlers, VERIFYING } from '../segment/read.ts';
import { StandbyError } from '../standby-error.ts';
import { copyFolder } from './base.ts';
import { type Position, readPosition, writePosition } from './position.ts';

/** Name of the segment that is being applied. */
const APPLYING = 'applying';

type CopyOptions = { identities: readonly string[]; crashPoint: CrashPoint };

export type FetchedSegment = { file: string; sha256: string };

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
   * Applies the next segment, and returns its cut. A cut that is later than `until`, in Unix milliseconds, is not applied, and returned
   * as undefined. The file of the segment is removed.
   * @throws StandbyError when it is not the next segment, or is damaged; errors of the file system
   */
  async add({ file, sha256 }: FetchedSegment, until: number): Promise<Cut | undefined> {
    this.requireOpen();
    try {
      const cut = await this.#read(file, VERIFYING);
      if (cut.takenAt > until) return undefined;
      await rename(file, this.#applying);
      await flushDirectory(this.folder);
      await this.#apply(sha256);
      return cut;
    } finally {
      rmSync(file, { force: true });
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

  get #applying(): string {
    return join(this.folder, APPLYING);
  }

  async #resume(): Promise<void> {
    for (const name of readdirSync(this.folder).filter((one) => one.startsWith('fetched-')))
      rmSync(join(this.folder, name));
    if (!existsSync(this.#applying)) return;
    const sha256 = await hashFile(this.#applying);
    // The position has moved already when the process ended right after that.
    if (sha256 !== this.#position.sha256) await this.#apply(sha256);
    else rmSync(this.#applying);
  }

  async #apply(sha256: string): Promise<void> {
    const { crashPoint } = this.#options;
    crashPoint('standby-segment-stored');
    const touched = new Set<string>();
    const { sequence, takenAt } = await this.#read(
      this.#applying,
      applyingTo(this.dataDir, touched, crashPoint),
    );
    for (const directory of withParents(touched, this.dataDir)) await flushDirectory(directory);
    crashPoint('standby-segment-applied');
    this.#move({ ...this.#position, sequence, sha256, takenAt });
    crashPoint('standby-position-written');
    rmSync(this.#applying);
  }

  #move(position: Position): void {
    writePosition(this.folder, position);
    this.#position = position;
  }

  #read(file: string, handlers: SegmentHandlers): Promise<Cut> {
    const { installation, generation, sequence, sha256 } = this.#position;
    const expected = { installation, generation, sequence: sequence + 1, previous: sha256 };
    const { identities } = this.#options;
    return readSegment(createReadStream(file), { identities, expected }, handlers);
  }
}

/** Returns handlers that write into a copy. `touched` gets the directories in which something is new. */
function applyingTo(dataDir: string, touched: Set<string>, crashPoint: CrashPoint): SegmentHandlers {
  const prepare = async (path: string) => {
    const target = join(dataDir, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    touched.add(dirname(target));
    return target;
  };
  return {
    async pages(path, pages) {
      await applyPages(await prepare(path), pages);
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
