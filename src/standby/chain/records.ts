/** Encodes and decodes the content of the frames of a chain: its head, a record for each cut, and a snapshot of the pages and files of a follower. */

import { encodeFrame, type Frame } from './frames.ts';
import { PRINT_BYTES, type PrintedPages, Shipped, type ShippedChanges } from './shipped.ts';

/** Identifies a chain. One of another installation, or for other recipients, does not go on. */
export type ChainIdentity = { installation: string; recipients: readonly string[] };

/** The first frame of each file of a chain. `id` is random: a snapshot belongs to the log with the same one. */
export type ChainHead = ChainIdentity & { format: 1; id: string };

/** The cut as a generation has it. While a new base is sent, a cut belongs to two. */
export type ChainCut = { generation: string; sequence: number; sha256: string };

/** A cut. Records are numbered from 1 on; the time is in Unix milliseconds. */
export type ChainRecord = ShippedChanges & { number: number; takenAt: number; cuts: readonly ChainCut[] };

type RecordValue = Pick<ChainRecord, 'number' | 'takenAt' | 'cuts' | 'files' | 'gone'> & {
  databases: { path: string; pageBytes: number; databasePages: number; count: number }[];
};

/** `after` is the number of the last record that the snapshot has. */
type SnapshotValue = {
  after: number;
  databases: { path: string; pageBytes: number; pages: number; note: string }[];
  files: [folder: string, count: number][];
};

const NUMBER_BYTES = Uint32Array.BYTES_PER_ELEMENT;

export function encodeRecord({ databases, ...record }: ChainRecord): Buffer {
  const value: RecordValue = {
    ...record,
    databases: databases.map(({ path, pageBytes, databasePages, numbers }) => {
      return { path, pageBytes, databasePages, count: numbers.length };
    }),
  };
  const parts = databases.flatMap(({ numbers, prints }) => [
    new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength),
    prints,
  ]);
  return encodeFrame(value, parts);
}

export function decodeRecord({ value, bytes }: Frame): ChainRecord {
  const { databases, ...record } = value as RecordValue;
  const reader = new PartReader(bytes);
  const printed = databases.map(({ count, ...database }): PrintedPages => {
    // The numbers begin anywhere in the file, and an array of them only at a multiple of four.
    const numbers = new Uint32Array(Uint8Array.from(reader.take(count * NUMBER_BYTES)).buffer);
    return { ...database, numbers, prints: reader.take(count * PRINT_BYTES) };
  });
  return { ...record, databases: printed };
}

export function encodeSnapshot({ databases, files }: Shipped, after: number): Buffer {
  const value: SnapshotValue = {
    after,
    databases: [...databases].map(([path, { pageBytes, note, prints }]) => {
      return { path, pageBytes, note, pages: prints.length / PRINT_BYTES };
    }),
    files: [...files].map(([folder, keys]) => [folder, keys.length / PRINT_BYTES]),
  };
  const prints = [...databases.values()].map((database) => database.prints);
  const keys = [...files.values()].map((joined) => Buffer.from(joined, 'latin1'));
  return encodeFrame(value, [...prints, ...keys]);
}

export function decodeSnapshot({ value, bytes }: Frame): { shipped: Shipped; after: number } {
  const { after, databases, files } = value as SnapshotValue;
  const reader = new PartReader(bytes);
  const shipped = new Shipped();
  for (const { path, pageBytes, note, pages } of databases)
    shipped.databases.set(path, { pageBytes, note, prints: reader.take(pages * PRINT_BYTES) });
  for (const [folder, count] of files)
    shipped.files.set(folder, reader.take(count * PRINT_BYTES).toString('latin1'));
  return { shipped, after };
}

/** Takes the parts of the bytes of a frame, one after the other. */
class PartReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  take(bytes: number): Buffer {
    if (this.#at + bytes > this.#bytes.length) throw new Error('a frame of the chain is too short');
    this.#at += bytes;
    return this.#bytes.subarray(this.#at - bytes, this.#at);
  }
}
