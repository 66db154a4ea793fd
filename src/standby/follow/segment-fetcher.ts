/** Fetches segments into files. Several are fetched at a time while the copy is behind, because each takes a round trip to the store. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { MAX_OBJECT_BYTES } from '../../objects/object-store.ts';
import { numbered, segmentObject } from '../names.ts';
import { StandbyError } from '../standby-error.ts';
import type { FetchedSegment } from './copy.ts';
import type { Remote } from './remote.ts';

/** Maximum number of segments that are fetched at a time, each of up to 33 MiB on disk. */
const MAX_FETCHED = 8;

export class SegmentFetcher {
  readonly #remote: Remote;
  readonly #generation: string;
  readonly #folder: string;
  readonly #fetching = new Map<number, Promise<FetchedSegment | undefined>>();
  #window = 1;

  constructor(remote: Remote, { generation, folder }: { generation: string; folder: string }) {
    this.#remote = remote;
    this.#generation = generation;
    this.#folder = folder;
  }

  /**
   * Returns a segment in a file that the caller removes; undefined when the store does not have it.
   * @throws StoreError; StandbyError when it is too large
   */
  async take(sequence: number): Promise<FetchedSegment | undefined> {
    for (let next = sequence; next < sequence + this.#window; next++) this.#begin(next);
    try {
      const found = await this.#fetching.get(sequence);
      if (found) {
        this.#fetching.delete(sequence);
        this.#window = MAX_FETCHED;
      } else await this.clear();
      return found;
    } catch (error) {
      await this.clear();
      throw error;
    }
  }

  /** Removes what was fetched and not taken. */
  async clear(): Promise<void> {
    const all = [...this.#fetching.values()];
    this.#fetching.clear();
    this.#window = 1;
    for (const result of await Promise.allSettled(all))
      if (result.status === 'fulfilled' && result.value) await rm(result.value.file, { force: true });
  }

  #begin(sequence: number): void {
    if (this.#fetching.has(sequence)) return;
    const fetching = this.#download(sequence);
    // Whoever takes the segment gets its error.
    fetching.catch(() => {});
    this.#fetching.set(sequence, fetching);
  }

  async #download(sequence: number): Promise<FetchedSegment | undefined> {
    const name = segmentObject(this.#remote.installation, this.#generation, sequence);
    const bytes = await this.#remote.store.get(name);
    if (!bytes) return undefined;
    const file = join(this.#folder, `fetched-${numbered(sequence)}`);
    const hash = createHash('sha256');
    let size = 0;
    const bounded = async function* () {
      for await (const piece of bytes) {
        size += piece.length;
        if (size > MAX_OBJECT_BYTES) throw new StandbyError(`the object ${name} is too large`);
        hash.update(piece);
        yield piece;
      }
    };
    await pipeline(bounded(), createWriteStream(file, { mode: 0o600, flush: true }));
    return { file, sha256: hash.digest('hex') };
  }
}
