/** Fetches segments into files. Several are fetched at a time while the copy is behind, because each takes a round trip to the store. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { numbered, PIECE_BYTES, pieceSuffix, segmentObject } from '../names.ts';
import { MAX_ARCHIVE_BYTES } from '../segment/format.ts';
import { StandbyError } from '../standby-error.ts';
import type { FetchedSegment } from './copy.ts';
import type { Remote } from './remote.ts';

/** Maximum number of segments that are fetched at a time, and applied together. Most are much smaller than a piece. */
const MAX_FETCHED = 16;
/** Maximum number of pieces of a segment: as many bytes as its archive may have, and some more for what cannot be compressed. */
const MAX_PIECES = Math.ceil(MAX_ARCHIVE_BYTES / PIECE_BYTES) + 64;

export class SegmentFetcher {
  readonly #remote: Remote;
  readonly #generation: string;
  readonly #folder: string;
  readonly #pieceBytes: number;
  readonly #fetching = new Map<number, Promise<FetchedSegment | undefined>>();
  #window = 1;

  constructor(
    remote: Remote,
    { generation, folder, pieceBytes }: { generation: string; folder: string; pieceBytes: number },
  ) {
    this.#remote = remote;
    this.#generation = generation;
    this.#folder = folder;
    this.#pieceBytes = pieceBytes;
  }

  /**
   * Returns the next segments in files that the caller removes: one while the copy is not behind, and otherwise several that follow each other. None
   * when the store does not have the first one.
   * @throws StoreError; StandbyError when the first one is too large
   */
  async take(sequence: number): Promise<FetchedSegment[]> {
    const end = sequence + this.#window;
    for (let next = sequence; next < end; next++) this.#begin(next);
    const taken: FetchedSegment[] = [];
    try {
      for (let next = sequence; next < end; next++) {
        const found = await this.#fetching.get(next);
        if (!found) break;
        this.#fetching.delete(next);
        taken.push(found);
      }
    } catch (error) {
      await this.clear();
      if (taken.length === 0) throw error;
    }
    if (taken.length === 0) await this.clear();
    else this.#window = MAX_FETCHED;
    return taken;
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
    const first = await this.#remote.store.get(name);
    if (!first) return undefined;
    const file = join(this.#folder, `fetched-${numbered(sequence)}`);
    const hash = createHash('sha256');
    const hashed = async function* (pieces: AsyncIterable<Uint8Array>) {
      for await (const bytes of pieces) {
        hash.update(bytes);
        yield bytes;
      }
    };
    await pipeline(
      this.#piecesOf(name, first),
      hashed,
      createWriteStream(file, { mode: 0o600, flush: true }),
    );
    return { file, sha256: hash.digest('hex') };
  }

  /** Yields the bytes of a segment. After a piece of the full size there may be another one. */
  async *#piecesOf(name: string, first: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let pieces = 0;
    for (let piece: AsyncIterable<Uint8Array> | undefined = first; piece; pieces++) {
      if (pieces === MAX_PIECES) throw new StandbyError(`the segment ${name} is too large`);
      let size = 0;
      for await (const bytes of piece) {
        size += bytes.length;
        if (size > this.#pieceBytes) throw new StandbyError(`the object ${name} is too large`);
        yield bytes;
      }
      if (size < this.#pieceBytes) return;
      piece = await this.#remote.store.get(name + pieceSuffix(pieces + 1));
    }
  }
}
