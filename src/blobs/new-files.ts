/** The files of an owner that are new, for whoever copies them elsewhere. While nobody follows them, nothing is kept. */

/** Maximum number of names that wait, in 10 MB of memory. */
export const MAX_NEW_FILES = 100_000;

/** Hashes of files; `lost` when there were too many to keep. */
export type CollectedFiles = string[] | 'lost';

export class NewFiles {
  readonly #maxFiles: number;
  #names: Set<string> | undefined;
  #isLost = false;

  constructor(maxFiles = MAX_NEW_FILES) {
    this.#maxFiles = maxFiles;
  }

  /** Begins to note new files, without those that were noted before, or ends that. */
  follow(isFollowed: boolean): void {
    this.#names = isFollowed ? new Set() : undefined;
    this.#isLost = !isFollowed;
  }

  /** Notes a file that is durable under its name, before a row names it. */
  add(sha256: string): void {
    if (!this.#names) return;
    this.#names.add(sha256);
    if (this.#names.size <= this.#maxFiles) return;
    this.#isLost = true;
    this.#names = undefined;
  }

  /**
   * Returns the files that are new since the last call. Some may have been removed again. After `lost`, the answer is that until they are
   * followed anew.
   */
  take(): CollectedFiles {
    if (!this.#names || this.#isLost) return 'lost';
    const names = [...this.#names];
    this.#names.clear();
    return names;
  }
}
