/** Counts who needs that no file of a folder is removed for a while, such as a backup that links the files one by one. */
export class FileHolds {
  #count = 0;

  /** True while files that nothing names stay where they are. The sweep finds them later. */
  get isHeld(): boolean {
    return this.#count > 0;
  }

  /** Runs work during which no file is removed. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#count++;
    try {
      return await work();
    } finally {
      this.#count--;
    }
  }
}
