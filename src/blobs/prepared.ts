/**
 * Remembers large blobs that were prepared within about the last hour and whose rows may not be committed yet. Each is
 * known by the id of its row, so that a request that discards its own blob never takes the file of another request for
 * its own. Times are on the monotonic clock, because the wall clock may jump.
 */
import type { BlobRow } from '../db/tables.ts';

type Prepared = Pick<BlobRow, 'id' | 'sha256'>;

export class PreparedBlobs {
  /** Time of each preparation, by hash and then by the id of the blob. */
  readonly #times = new Map<string, Map<Prepared['id'], number>>();

  add({ id, sha256 }: Prepared, elapsedMs: number): void {
    const times = this.#times.get(sha256) ?? new Map();
    this.#times.set(sha256, times.set(id, elapsedMs));
  }

  has(sha256: string): boolean {
    return this.#times.has(sha256);
  }

  delete({ id, sha256 }: Prepared): void {
    const times = this.#times.get(sha256);
    times?.delete(id);
    if (times?.size === 0) this.#times.delete(sha256);
  }

  deleteBefore(elapsedMs: number): void {
    for (const [sha256, times] of this.#times)
      for (const [id, at] of times) if (at < elapsedMs) this.delete({ id, sha256 });
  }
}
