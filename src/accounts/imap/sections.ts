/** Finds the octets of sections in a stored message. The prefix of its recipient stands in front of the content. */
import { crc32 } from 'node:zlib';
import { DamagedBlobError } from '../../blobs/damaged.ts';
import type { FetchItem } from '../../mail/imap/fetch-item.ts';
import type { OctetRange } from '../../mail/message/header-block.ts';
import {
  FieldChooser,
  findBinary,
  findSection,
  type PartialRange,
  partialRange,
  type StoredPart,
} from '../../mail/message/section.ts';
import { createTransferDecoder } from '../../mail/message/transfer-encoding.ts';
import type { OpenAccount } from '../account.ts';
import { readRange } from '../content.ts';
import type { Stored } from '../stored-message-store.ts';

type SectionItem = FetchItem & { kind: 'SECTION' };
/** A message with the columns that its octets are read from. */
type StoredOctets = Stored<(typeof OCTET_COLUMNS)[number]>;
export const OCTET_COLUMNS = [
  'sizeBytes',
  'prefix',
  'root',
  'crc32',
  'header',
  'headerBytes',
  'octets',
] as const;

type BinaryItem = FetchItem & { kind: 'BINARY' | 'BINARY.SIZE' };

/** Size of the pieces in which octets of a file are read, and up to which they are read at once. */
const PIECE_BYTES = 256 * 1024;

/** Stands for the offset of the header of the whole message, which has the prefix of the recipient. */
const OF_MESSAGE = -1;

/** Octets of a file. They are read while the client takes them, because clients can be slow, and many can ask for large messages. */
export type LargeOctets = { sizeBytes: number; pieces: AsyncIterable<Buffer> };

/** Decoded octets of a part. */
type DecodedOctets = LargeOctets & { hasNul: boolean };

/** Octets of a message that are in memory, in one piece or several. */
export type InlineOctets = { sizeBytes: number; pieces: readonly Buffer[] };

/** Octets of one message, of which only what is asked for is read. */
export class MessageOctets {
  readonly #account: OpenAccount;
  readonly #message: StoredOctets;
  readonly #fields = new FieldChooser();
  #header: Buffer | undefined;
  #parts: StoredPart | undefined;

  constructor(account: OpenAccount, message: StoredOctets) {
    this.#account = account;
    this.#message = message;
    requireUndamaged(account, message);
  }

  /** Returns the octets of a section; undefined when the message has no such section. */
  async section(item: SectionItem, isHeader: boolean): Promise<InlineOctets | LargeOctets | undefined> {
    const found = this.sectionInMemory(item, isHeader);
    return found === 'in a file' ? await this.#sectionInFile(item) : found;
  }

  /** Returns the octets of a section as `section` does, unless they have to be read first. Nothing is copied. */
  sectionInMemory(
    { section, partial }: SectionItem,
    isHeader: boolean,
  ): InlineOctets | 'in a file' | undefined {
    if (isHeader) {
      this.#header ??= headerOf(this.#message);
      return inline(cut(this.#fields.choose(this.#header, OF_MESSAGE, section), partial));
    }
    const { octets, prefix, headerBytes } = this.#message;
    if (!octets) return 'in a file';
    if (section.part.length === 0) {
      if (section.text === 'TEXT') return inline(cut(octets.subarray(headerBytes), partial));
      if (prefix === null || prefix.length === 0) return inline(cut(octets, partial));
      const [range, before] = this.#whole(partial);
      return inline(before, octets.subarray(range.start, range.end));
    }
    const range = findSection(this.#root, section);
    if (!range) return undefined;
    const found = octets.subarray(range.start, range.end);
    return inline(cut(this.#fields.choose(found, range.start, section), partial));
  }

  async #sectionInFile({ section, partial }: SectionItem): Promise<InlineOctets | LargeOctets | undefined> {
    const { part, text } = section;
    if (part.length === 0 && text === undefined) return await this.#readOrStream(...this.#whole(partial));
    if (part.length === 0) {
      const range = { start: this.#message.headerBytes, end: this.#size };
      return await this.#readOrStream(partialRange(range, partial));
    }
    const range = findSection(this.#root, section);
    if (!range) return undefined;
    if (!text?.startsWith('HEADER.')) return await this.#readOrStream(partialRange(range, partial));
    return inline(cut(this.#fields.choose(await this.#read(range), range.start, section), partial));
  }

  /**
   * Returns the decoded octets of a part; `unknown` for a transfer encoding that is unknown, and undefined for no such part. A part in a
   * file is decoded twice: its size comes before its octets.
   */
  async binary(item: BinaryItem): Promise<DecodedOctets | 'unknown' | undefined> {
    const partial = item.kind === 'BINARY' ? item.partial : undefined;
    const isWhole = item.part.length === 0;
    const found = isWhole ? undefined : findBinary(this.#root, item.part);
    if (!isWhole && !found) return undefined;
    const [range, before] = found ? [found.range, NOTHING] : this.#whole(undefined);
    const encoding = found?.encoding ?? 'binary';
    if (!createTransferDecoder(encoding)) return 'unknown';
    const decode = (): AsyncGenerator<Buffer> => cutPieces(this.#decoded(range, before, encoding), partial);
    let sizeBytes = 0;
    let hasNul = false;
    for await (const piece of decode()) {
      sizeBytes += piece.length;
      hasNul ||= piece.includes(0);
    }
    return { sizeBytes, hasNul, pieces: decode() };
  }

  async *#decoded(range: OctetRange, before: Buffer, encoding: string): AsyncGenerator<Buffer> {
    const decoder = createTransferDecoder(encoding);
    const isHeld = this.#message.octets !== null;
    for await (const piece of isHeld ? [await this.#read(range, before)] : this.#pieces(range, before))
      if (decoder) yield decoder.next(piece);
    if (decoder) yield decoder.end();
  }

  get #size(): number {
    return this.#message.sizeBytes - (this.#message.prefix?.length ?? 0);
  }

  get #root(): StoredPart {
    this.#parts ??= JSON.parse(this.#message.root) as StoredPart;
    return this.#parts;
  }

  /** Returns the range of the content that is asked for, and the octets of the prefix in front of it. */
  #whole(partial: PartialRange | undefined): [OctetRange, Buffer] {
    const { sizeBytes } = this.#message;
    const prefix = Buffer.from(this.#message.prefix ?? NOTHING);
    const { start, end } = partialRange({ start: 0, end: sizeBytes }, partial);
    const [from, to] = [start - prefix.length, end - prefix.length];
    return [{ start: Math.max(from, 0), end: Math.max(to, 0) }, prefix.subarray(start, end)];
  }

  async #readOrStream(range: OctetRange, before: Buffer = NOTHING): Promise<InlineOctets | LargeOctets> {
    const sizeBytes = before.length + range.end - range.start;
    if (sizeBytes <= PIECE_BYTES) return inline(await this.#read(range, before));
    return { sizeBytes, pieces: this.#pieces(range, before) };
  }

  async #read(range: OctetRange, before: Buffer = NOTHING): Promise<Buffer> {
    const held = this.#message.octets?.subarray(range.start, range.end);
    if (held) return before.length === 0 ? held : Buffer.concat([before, held]);
    const pieces: Buffer[] = [];
    for await (const piece of this.#pieces(range, before)) pieces.push(piece);
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  /** Yields octets of a file. Its checksum is compared when all of it is read, before the last piece. */
  async *#pieces({ start, end }: OctetRange, before: Buffer): AsyncGenerator<Buffer> {
    const { contentId, crc32: expected } = this.#message;
    if (before.length > 0) yield before;
    let checksum = 0;
    for (let from = start; from < end; from += PIECE_BYTES) {
      const to = Math.min(from + PIECE_BYTES, end);
      const piece = await readRange(this.#account, contentId, { start: from, end: to });
      checksum = crc32(piece, checksum);
      if (to === end && end - start === this.#size && checksum !== expected)
        throw damaged(this.#account, contentId);
      yield piece;
    }
  }
}

const NOTHING = Buffer.alloc(0);

/** Returns the header with the prefix of the recipient. */
export function headerOf({ prefix, header }: Pick<StoredOctets, 'prefix' | 'header'>): Buffer {
  return prefix === null || prefix.length === 0 ? header : Buffer.concat([prefix, header]);
}

/** Checks a content whose octets are in the database. @throws DamagedBlobError when it is not what was stored */
function requireUndamaged(account: OpenAccount, { octets, crc32: expected, contentId }: StoredOctets): void {
  if (octets && crc32(octets) !== expected) throw damaged(account, contentId);
}

function damaged({ db }: OpenAccount, contentId: number): DamagedBlobError {
  return new DamagedBlobError(db.file, `content ${contentId} has other bytes than were stored`);
}

/** Yields the octets that are asked for. */
async function* cutPieces(
  pieces: AsyncIterable<Buffer>,
  partial: PartialRange | undefined,
): AsyncGenerator<Buffer> {
  const { start, end } = partialRange({ start: 0, end: Number.MAX_SAFE_INTEGER }, partial);
  let at = 0;
  for await (const piece of pieces) {
    const wanted = piece.subarray(Math.max(start - at, 0), Math.max(end - at, 0));
    if (wanted.length > 0) yield wanted;
    at += piece.length;
    if (at >= end) return;
  }
}

function inline(...pieces: readonly Buffer[]): InlineOctets {
  return { sizeBytes: pieces.reduce((sum, { length }) => sum + length, 0), pieces };
}

function cut(octets: Buffer, partial: PartialRange | undefined): Buffer {
  if (!partial) return octets;
  const { start, end } = partialRange({ start: 0, end: octets.length }, partial);
  return octets.subarray(start, end);
}
