/**
 * The form of the pages of a database in a segment: `PRPG`, then 32-bit numbers in big-endian order: the form (1), the size of a page,
 * the number of pages that the database has, and the number of pages that follow; then each page: its number, and its bytes.
 */
import type { PagesToApply } from '../../db/apply-pages.ts';
import { type ChangedPages, eachPage, type NumberedPage } from '../../db/changed-pages.ts';
import { StandbyError } from '../standby-error.ts';

const MAGIC = Buffer.from('PRPG');
const FORM = 1;
const NUMBER_BYTES = 4;
const HEADER_BYTES = MAGIC.length + 4 * NUMBER_BYTES;
/** Size from which collected pages are written, in bytes. */
const BATCH_BYTES = 64 * 1024;
/** Sizes of pages that SQLite has, in bytes. */
const MIN_PAGE_BYTES = 512;
const MAX_PAGE_BYTES = 65_536;

/** Returns the size of the entry. */
export function pagesEntryBytes({ pageBytes, numbers }: ChangedPages): number {
  return HEADER_BYTES + numbers.length * (NUMBER_BYTES + pageBytes);
}

/** Yields the bytes of the entry. */
export function* encodePages(pages: ChangedPages): Generator<Buffer> {
  const { pageBytes, databasePages, numbers } = pages;
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  for (const [index, value] of [FORM, pageBytes, databasePages, numbers.length].entries())
    header.writeUInt32BE(value, MAGIC.length + index * NUMBER_BYTES);
  let batch: Buffer[] = [header];
  let batchBytes = 0;
  for (const { number, bytes } of eachPage(pages)) {
    const numberBytes = Buffer.alloc(NUMBER_BYTES);
    numberBytes.writeUInt32BE(number);
    batch.push(numberBytes, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    batchBytes += pageBytes;
    if (batchBytes < BATCH_BYTES) continue;
    yield Buffer.concat(batch);
    batch = [];
    batchBytes = 0;
  }
  yield Buffer.concat(batch);
}

/**
 * Reads the header of an entry of this size, and returns the pages as they arrive.
 * @throws StandbyError when the entry has another form
 */
export async function decodePages(
  input: AsyncIterable<Uint8Array>,
  entryBytes: number,
): Promise<PagesToApply> {
  const source = new ByteSource(input);
  const header = await source.take(HEADER_BYTES);
  const [form, pageBytes = 0, databasePages = 0, count = 0] = [0, 1, 2, 3].map((index) =>
    header.readUInt32BE(MAGIC.length + index * NUMBER_BYTES),
  );
  const isPageSize =
    pageBytes >= MIN_PAGE_BYTES && pageBytes <= MAX_PAGE_BYTES && (pageBytes & (pageBytes - 1)) === 0;
  const isSound =
    MAGIC.equals(header.subarray(0, MAGIC.length)) &&
    form === FORM &&
    isPageSize &&
    databasePages > 0 &&
    count <= databasePages &&
    entryBytes === HEADER_BYTES + count * (NUMBER_BYTES + pageBytes);
  if (!isSound) throw new StandbyError('an entry with pages has a form that is not known');
  return { pageBytes, databasePages, pages: pagesOf(source, { pageBytes, databasePages, count }) };
}

async function* pagesOf(
  source: ByteSource,
  { pageBytes, databasePages, count }: { pageBytes: number; databasePages: number; count: number },
): AsyncGenerator<NumberedPage> {
  for (let index = 0; index < count; index++) {
    const entry = await source.take(NUMBER_BYTES + pageBytes);
    const number = entry.readUInt32BE(0);
    if (number < 1 || number > databasePages)
      throw new StandbyError(`page ${number} is none of a database of ${databasePages} pages`);
    yield { number, bytes: entry.subarray(NUMBER_BYTES) };
  }
  await source.end();
}

/** Takes pieces of given sizes from a stream of bytes. */
class ByteSource {
  readonly #source: AsyncIterator<Uint8Array>;
  #held: Buffer = Buffer.alloc(0);

  constructor(input: AsyncIterable<Uint8Array>) {
    this.#source = input[Symbol.asyncIterator]();
  }

  /** @throws StandbyError when the stream has fewer bytes */
  async take(bytes: number): Promise<Buffer> {
    while (this.#held.length < bytes) {
      const next = await this.#source.next();
      if (next.done) throw new StandbyError('an entry with pages was cut off');
      const { value } = next;
      const piece = Buffer.from(value.buffer, value.byteOffset, value.length);
      this.#held = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    }
    const taken = this.#held.subarray(0, bytes);
    this.#held = this.#held.subarray(bytes);
    return taken;
  }

  /** Reads the end of the stream, which the sizes have said. */
  async end(): Promise<void> {
    const next = await this.#source.next();
    if (!next.done || this.#held.length > 0) throw new StandbyError('an entry with pages is too long');
  }
}
